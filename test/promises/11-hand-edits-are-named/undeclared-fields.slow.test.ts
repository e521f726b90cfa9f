import { expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { contractOf, update, withoutList } from "../../support/stack/contracts.ts";
import { variants } from "../../support/variants.ts";

type Undeclared = "report" | "fail" | "ignore";
const body = (how: "declared" | "merged", undeclared: Undeclared = "report"): ContractInput =>
  contractOf({
    operations: { update: { ...update, body: how, omit: how === "merged" ? ["/createdAt", "/updatedAt"] : [] } },
    rule: { undeclared, secret: ["/token"] },
  });
const shapes: Record<string, (priority?: number) => Record<string, JsonObject>> = {
  "a set": (priority = 1) => ({ all: { rules: { a: rule(1, { priority }), b: rule(2) } } }),
  "single rules": (priority = 1) => ({ a: { definition: rule(1, { priority }) }, b: { definition: rule(2) } }),
};
/** By hand: the decline holds in fewer countries. The counter is the service's own doing. */
const narrowed = { onlyCountries: ["AQ"], limits: { perDay: 3 }, note: null };

async function open(contract: ContractInput, program: Record<string, JsonObject>) {
  const stack = await openCommandStack("local", { contract });
  stack.project.declare(program);
  await stack.succeeds("up");
  const at = ["--cwd", stack.project.folder, "--stack", stack.project.stack, "--engine", "local", "--format", "json"];
  const told = async (...words: string[]) => {
    const { stdout, code } = await stack.project.merchantRules(...words, ...at);
    const { findings, notes: said, rules, unchanged } = JSON.parse(stdout);
    const notes = said.filter((note: string) => !note.startsWith("the live rules at "));
    return { code, findings, notes, rules, unchanged };
  };
  return {
    ...stack,
    told,
    live: (name: string) => stack.service.rules().find(({ rule: { name: is } }) => is === name)?.rule,
  };
}

test.each(variants(Object.keys(shapes)))(
  "a field that somebody adds to a rule of %s is named with its value by drift and plan --refresh, until a write leaves it there",
  async (shape) => {
    const program = shapes[shape] ?? (() => ({}));
    const { project, edit, told, succeeds, live } = await open(body("merged"), program());
    expect(await told("drift")).toMatchObject({ code: 0, findings: [], notes: [] });
    edit("rule-1", { ...narrowed, token: "s3cret" });
    const seen = {
      findings: [
        {
          change: "undeclared",
          name: "rule-1",
          paths: [
            { path: "limits.perDay", after: 3 },
            { path: "onlyCountries", after: ["AQ"] },
            { path: "token", after: "[secret]", secret: true },
          ],
        },
      ],
      rules: 2,
      unchanged: 1,
    };
    const sorted = ({ findings, ...rest }: Awaited<ReturnType<typeof told>>) => ({
      ...rest,
      findings: findings.map((each: { paths: { path: string }[] }) => ({
        ...each,
        paths: each.paths.toSorted((one, other) => one.path.localeCompare(other.path)),
      })),
    });
    expect(sorted(await told("drift"))).toMatchObject({ ...seen, code: 7 });
    // A refresh looks, and takes nothing for granted by it.
    await succeeds("refresh");
    expect(sorted(await told("plan", "--refresh"))).toMatchObject({ findings: seen.findings });
    expect(sorted(await told("drift"))).toMatchObject({ ...seen, code: 7 });
    project.declare(program(9));
    await succeeds("up");
    expect(live("rule-1")).toMatchObject({ priority: 9, onlyCountries: ["AQ"] });
    expect(await told("drift")).toMatchObject({ code: 0, findings: [], notes: [], unchanged: 2 });
  },
);

test.each([
  ["onDrift: fail", body("declared"), { onDrift: "fail" }],
  ["rule.undeclared: fail", body("merged", "fail"), {}],
])(
  "%s refuses to write a rule to which somebody added a field, and the ways on are so",
  async (_, contract, options) => {
    const program = (changes: JsonObject = {}): Record<string, JsonObject> => ({
      a: { definition: rule(1, changes), ...options },
      b: { definition: rule(2), ...options },
    });
    const { project, service, edit, fails, succeeds, live, idOf } = await open(contract, program());
    edit("rule-1", narrowed);
    project.declare(program({ priority: 9 }));
    await fails(
      "up",
      /onlyCountries/,
      /was changed at the service/,
      /declared, removed at the service, or named in rule\.readOnly/,
    );
    expect(live("rule-1")).toMatchObject({ priority: 1, onlyCountries: ["AQ"] });
    // Declared, it is the program's.
    project.declare(program({ priority: 9, onlyCountries: ["AQ"], limits: { perDay: 3 } }));
    await succeeds("refresh");
    project.declare(program({ onlyCountries: ["AQ"], limits: { perDay: 3 } }));
    // Removed at the service, nothing is in the way.
    service.put(idOf("rule-1"), rule(1));
    project.declare(program({ priority: 9 }));
    await succeeds("up");
    expect(live("rule-1")).toEqual(rule(1, { priority: 9 }));
  },
);

test("an update that replaces a rule says which field it takes away that somebody added", async () => {
  const { project, edit, succeeds, live } = await open(body("declared"), shapes["a set"]?.() ?? {});
  edit("rule-1", { onlyCountries: ["AQ"] });
  project.declare(shapes["a set"]?.(9) ?? {});
  const { output } = await succeeds("up", "--refresh");
  expect(output).toMatch(/writes over what was changed at the service since: rule a \(.*\): onlyCountries/);
  expect(live("rule-1")).toEqual(rule(1, { priority: 9 }));
});

test("where the contract says so, nothing is said, and nothing stands in the state", async () => {
  const { project, edit, told } = await open(body("merged", "ignore"), shapes["a set"]?.() ?? {});
  edit("rule-1", narrowed);
  expect(await told("drift")).toMatchObject({ code: 0, findings: [], notes: [] });
  expect(JSON.stringify(project.state())).not.toContain('"undeclared"');
});

test("a rule that was taken over has what was there before, which is no drift; what comes after it is", async () => {
  const contract = contractOf({ ...withoutList, operations: { ...withoutList.operations, update } });
  const stack = await openCommandStack("local", { contract });
  const ruleId = stack.service.put(undefined, rule(1, { onlyCountries: ["AQ"] }));
  stack.project.declare({ a: { definition: rule(1), adopt: ruleId } });
  await stack.succeeds("up");
  const words = ["drift", "--cwd", stack.project.folder, "--stack", stack.project.stack, "--engine", "local"];
  expect(await stack.project.merchantRules(...words)).toMatchObject({ code: 0 });
  stack.edit("rule-1", { exceptFor: "VIP" });
  const { code, stdout, stderr } = await stack.project.merchantRules(...words);
  expect(code).toBe(7);
  expect(stdout + stderr).toMatch(/\+ undeclared .* MerchantRule a\s+exceptFor: \(absent\) → "VIP"/);
  expect(stdout + stderr).not.toContain("onlyCountries");
});

test("a state that does not say what nobody declared is told to be so, and the next write looks", async () => {
  const { project, told, succeeds, edit } = await open(body("merged"), shapes["a set"]?.() ?? {});
  const without = (name: string, value: unknown): unknown => (name === "undeclared" ? undefined : value);
  project.restore(JSON.stringify(JSON.parse(project.state(), without)));
  edit("rule-1", narrowed);
  const unknown = { findings: [], notes: [expect.stringMatching(/of \d rules? the state does not say/)] };
  expect(await told("drift")).toMatchObject(unknown);
  await succeeds("refresh", "--expect-no-changes");
  expect(await told("drift")).toMatchObject(unknown);
  project.declare({ all: { rules: { a: rule(1, { priority: 8 }), b: rule(2, { priority: 9 }) } } });
  await succeeds("up");
  expect(await told("drift")).toMatchObject({ code: 0, findings: [], notes: [] });
});
