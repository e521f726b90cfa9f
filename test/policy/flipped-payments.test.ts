import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { flippedPayments, flippedPaymentsAt } from "../../policy/flipped-payments.ts";
import { newFolder } from "../support/folder.ts";
import { type Declared, evaluate, ruleSet, unknown } from "./evaluate.ts";
import { file, limit, semanticsFile } from "./payments.ts";
import { stackExport } from "./stack-export.ts";

const set = (rules: Record<string, unknown>): Declared => ruleSet("all", rules);
const night = limit(500);
/** 100 payments, of 10, 20, … 1000. */
const amounts = Array.from({ length: 100 }, (_, index) => 10 * (index + 1));
const ndjson = amounts.map((amount) => `${JSON.stringify({ amount, c: "DE" })}\n`).join("");

async function judged(after: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const config = {
    baseline: stackExport([set({ night })]),
    semantics: semanticsFile(),
    file: file("sample.jsonl", ndjson),
    ...more,
  };
  return await evaluate(flippedPayments, [set(after)], config);
}

describe("flipped-payments", () => {
  test("counts the payments with another outcome, whichever that is, and refuses more than the share", async () => {
    const { violations } = await judged({ night: limit(550) });
    expect(violations).toEqual([
      expect.stringMatching(
        /^stack: the stack: found 5 of 100 payments of .*sample\.jsonl with another outcome, allowed at most 1 %, or the rules that change in allowed$/,
      ),
    ]);
    expect((await judged({ night: limit(550) }, { maximumShare: 0.05 })).violations).toEqual([]);
    expect((await judged({ night: limit(440) }, { maximumShare: 0.05 })).violations).toHaveLength(1);
    expect((await judged({ night: { ...night, note: "x" } }, { maximumShare: 0 })).violations).toEqual([]);
    expect((await judged({ night: limit(505) }, { maximumShare: 0 })).violations).toEqual([]);
  });

  test("reads CSV, packed or not, by the fields' names", async () => {
    const csv = `amount,country\n${amounts.map((amount) => `${amount},DE\n`).join("")}`;
    const packed = join(newFolder(), "sample.csv.gz");
    writeFileSync(packed, gzipSync(csv));
    expect((await judged({ night: limit(550) }, { file: packed })).violations).toEqual([
      expect.stringContaining("found 5 of 100 payments"),
    ]);
  });

  test("takes an outcome that is not known on one side alone for another one, and says how many", async () => {
    const odd = { ...night, speed: 3 };
    expect((await judged({ odd })).violations).toEqual([
      expect.stringMatching(
        /found 0 of 100 payments of \S+ with another outcome, and of 100 more it is not known, allowed at most 1 %/,
      ),
    ]);
    const baseline = stackExport([set({ odd, day: limit(5000) })]);
    expect((await judged({ odd, day: limit(6000) }, { baseline })).violations).toEqual([]);
  });

  test("sees a value list that changes or goes while the rule that names it stays", async () => {
    const eu = (...values: string[]) => ({ listName: "eu", values });
    const byList = { do: "block", priority: 10, if: [{ f: "country", is: "in", list: "eu" }] };
    const config = {
      baseline: stackExport([set({ byList, eu: eu("DE", "FR") })]),
      semantics: semanticsFile({ valueLists: [{ name: "/listName", values: "/values" }] }),
    };
    expect((await judged({ byList, eu: eu("FR") }, config)).violations).toEqual([
      expect.stringContaining("found 100 of 100 payments"),
    ]);
    expect((await judged({ byList }, config)).violations).toEqual([
      expect.stringContaining("and of 100 more it is not known"),
    ]);
    expect((await judged({ byList, eu: eu("DE", "FR") }, config)).violations).toEqual([]);
  });

  test("compares the share exactly", async () => {
    const over = (amount: number) => judged({ night: limit(amount) }, { maximumShare: 0.29 });
    expect((await over(790)).violations).toEqual([]);
    expect((await over(800)).violations).toHaveLength(1);
  });

  test("takes a resource whose connection is not known yet to stay where it is deployed", async () => {
    const at = (over: number) =>
      evaluate(flippedPayments, [ruleSet("all", { night: limit(over) }, { props: { connection: unknown } })], {
        baseline: stackExport([ruleSet("all", { night }, { props: { connection: "shop" } })]),
        semantics: semanticsFile(),
        file: file("sample.jsonl", ndjson),
      });
    expect((await at(500)).violations).toEqual([]);
    expect((await at(550)).violations).toEqual([expect.stringContaining("over connection shop")]);
  });

  test("lets allowed rules change until the end of a day", async () => {
    const config = {
      baseline: stackExport([set({ night })]),
      semantics: semanticsFile(),
      file: file("s.jsonl", ndjson),
    };
    const allowed = [{ rules: ["night"], until: "2026-03-31" }];
    const on = async (day: string) =>
      (
        await evaluate(
          flippedPaymentsAt(() => new Date(day)),
          [set({ night: limit(900) })],
          { ...config, allowed },
        )
      ).violations;
    expect(await on("2026-03-31T12:00:00Z")).toEqual([]);
    expect(await on("2026-04-01T00:00:00Z")).toHaveLength(1);
  });

  test("a file that is missing, or holds no payment, ends the run with what to do; no payment is in a message", async () => {
    await expect(judged({}, { file: "/nowhere/sample.jsonl" })).rejects.toThrow(
      /read payments \/nowhere\/sample\.jsonl failed: .*What to do: name a file that can be read/,
    );
    await expect(judged({}, { file: file("empty.jsonl", "\n") })).rejects.toThrow("it holds no payment");
    const none = file("none.jsonl", '[1]\n"hush"\n');
    await expect(judged({}, { file: none })).rejects.toThrow(/payments/);
  });

  test("says what is missing where there is nothing to compare", async () => {
    const reasons = async (more: Record<string, unknown>) => (await judged({ night }, more)).notApplicable;
    expect(await reasons({ file: null })).toEqual(["no sample of payments is configured"]);
    expect(await reasons({ semantics: null })).toEqual([expect.stringContaining("no semantics are configured")]);
    expect(await reasons({ baseline: null })).toEqual([expect.stringContaining("no baseline is configured")]);
    expect(await reasons({ allowed: true })).toEqual(["all changes are allowed"]);
  });
});
