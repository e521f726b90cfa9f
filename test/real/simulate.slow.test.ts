import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { presetFile } from "../../sdk/contract/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { atWireMock, paged } from "./place.ts";

/** The preset's semantics; and each payment has an amount by which it is found again in sums. */
const semantics = readFileSync(presetFile("wiremock").replace(".contract.", ".semantics."), "utf8").replace(
  "payment:\n  fields:\n",
  `payment:
  amount: { field: serial, currency: series, unit: major }
  fields:
    serial: { at: /serial, type: decimal }
    series: { at: /series, type: text }
`,
);

const is = (path: string, equalTo: string): JsonObject => ({ matchesJsonPath: { expression: path, equalTo } });
const has = (path: string, contains: string): JsonObject => ({ matchesJsonPath: { expression: path, contains } });
const lacks = (path: string): JsonObject => ({ matchesJsonPath: { expression: path, absent: true } });
const exists = (path: string): JsonObject => ({ matchesJsonPath: path });

function stub(name: string, priority: number, decision: string, bodyPatterns: readonly JsonObject[]): JsonObject {
  return {
    name,
    priority,
    request: {
      method: "POST",
      urlPath: "/payments",
      ...(bodyPatterns.length === 0 ? {} : { bodyPatterns: [...bodyPatterns] }),
    },
    response: { status: 200, jsonBody: { decision } },
  };
}

const before = {
  nameless: stub("nameless", 1, "review", [lacks("$.currency")]),
  german: stub("german", 2, "allow", [is("$.card.country", "DE"), is("$.currency", "EUR")]),
  dollars: stub("dollars", 3, "review", [has("$.currency", "US")]),
  abroad: stub("abroad", 4, "decline", [exists("$.card.country")]),
};
/** One has other conditions, one another place and outcome, one is gone, and one is new. */
const after = {
  nameless: before.nameless,
  german: stub("german", 2, "allow", [is("$.card.country", "DE")]),
  dollars: stub("dollars", 6, "decline", [has("$.currency", "US")]),
  french: stub("french", 3, "review", [has("$.card.country", "F")]),
};
const byHand = stub("by-hand", 5, "decline", [is("$.currency", "JPY")]);

const currencies = ["EUR", "USD", "US", "usd", "JPY", "", null, undefined];
const countries = ["DE", "FR", "de", "F", 49, null, undefined];
/** The amount of payment k is the power k of 2, so that a sum tells which payments are in it. */
const payments = currencies
  .flatMap((currency) => countries.map((country) => ({ currency, card: { country } })))
  .map((each, k): JsonObject => JSON.parse(JSON.stringify({ ...each, serial: String(2n ** BigInt(k)), series: "NO" })));

const reported = z.object({
  simulation: z.object({
    payments: z.number(),
    matrix: z.array(z.object({ before: z.string(), after: z.string(), sums: z.record(z.string(), z.string()) })),
  }),
});

/** The outcome of each payment before and after, by the report of the command. */
function decidedIn(report: string): { readonly before: string[]; readonly after: string[] } {
  const { matrix, payments: count } = reported.parse(JSON.parse(report)).simulation;
  expect(count).toBe(payments.length);
  const cells = payments.map((_, k) => {
    const [cell, ...others] = matrix.filter(({ sums }) => ((BigInt(sums.NO ?? 0) >> BigInt(k)) & 1n) === 1n);
    expect(others).toEqual([]);
    return cell;
  });
  return {
    before: cells.map((cell) => cell?.before ?? "nothing"),
    after: cells.map((cell) => cell?.after ?? "nothing"),
  };
}

const words: Readonly<Record<string, string>> = { allow: "accept", decline: "decline", review: "review" };

/** What WireMock answers to a payment, in the words of the report; undefined where no stub matches. */
async function answerTo(url: string, payment: JsonObject): Promise<string | undefined> {
  const response = await fetch(`${url}/payments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(payment),
  });
  if (response.status === 404) return undefined;
  const { decision }: { decision: Json } = JSON.parse(await response.text());
  return words[String(decision)];
}

atWireMock((engine, open) => {
  test("simulate says of each payment what WireMock decides by its stubs, before and after a change; else that it is unknown", async () => {
    const folder = newFolder();
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const { service, ...place } = await open({ ...paged, semantics: file("semantics.yaml", semantics) });
    const { project } = await place.stack(engine);
    const succeeds = async (run: ReturnType<typeof project.run>): Promise<string> => {
      const { code, stdout, output } = await run;
      expect(code, output).toBe(0);
      return stdout;
    };
    const declare = (rules: Record<string, JsonObject>): void => project.declare({ stubs: { rules } });
    const answers = (): Promise<(string | undefined)[]> =>
      Promise.all(payments.map((payment) => answerTo(service.url, payment)));

    declare(before);
    await succeeds(project.run(engine, "up"));
    await service.put(byHand);
    const lines = payments.map((payment) => JSON.stringify(payment)).join("\n");
    declare(after);
    const words = ["--payments", file("payments.ndjson", lines), "--json", "--stack", project.stack];
    const reportBy = (name: string): Promise<string> =>
      succeeds(project.merchantRules(name, ...words, "--engine", engine));
    const report = await reportBy("simulate");
    const said = decidedIn(report);
    // A plan with the same payments says the same of them.
    expect(decidedIn(await reportBy("plan"))).toEqual(said);
    const seen = { before: await answers(), after: [] as (string | undefined)[] };
    await succeeds(project.run(engine, "up"));
    seen.after = await answers();

    for (const side of ["before", "after"] as const) {
      const known = payments.flatMap((payment, k) =>
        said[side][k] === "unknown" ? [] : [{ payment, said: said[side][k], seen: seen[side][k] }],
      );
      expect(known.map(({ payment, said }) => ({ payment, is: said }))).toEqual(
        known.map(({ payment, seen }) => ({ payment, is: seen })),
      );
      // Unknown are those that no stub is for, a number where a text should be, and comparisons with what is missing.
      expect(known.length).toBeGreaterThan(payments.length / 2);
      expect(new Set(known.map(({ said }) => said))).toEqual(new Set(["accept", "decline", "review"]));
    }
    expect(said.after).not.toEqual(said.before);
  });
});
