import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ruleType, setType } from "../../provider/host/types.ts";
import { ProvenPlace } from "../../provider/run/proven-place.ts";
import { readPreview } from "../../report/plan/preview.ts";
import {
  folderSide,
  programSide,
  type RuleSide,
  readLiveSide,
  type SideRule,
  stateSide,
} from "../../report/sides/index.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import { blindMask, isMask, type JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { resource, sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";
import { applied, withSecretsAt } from "../support/stack/states.ts";

const contract: ContractInput = contractOf({
  rule: { naturalKey: "/name", owner: { at: "/metadata/managedBy" }, secret: ["/token"] },
});

const rules = { a: rule(1, { token: "s3cret-1" }), b: rule(2), c: rule(3) };
const declared: Record<string, JsonObject> = { all: { rules }, one: { definition: rule(4) } };

async function world(state = declared) {
  const served = await serve(contract);
  const session = () => sessionOf(served.environment);
  const resources = await applied(session(), state);
  return { ...served, resources, session };
}

function folderOf(files: Record<string, JsonObject>): string {
  const texts = Object.entries(files).map(([key, of]) => [`${key}.yaml`, `# a rule\n${JSON.stringify(of)}\n`]);
  return newFolder(Object.fromEntries(texts));
}

function previewOf(steps: readonly JsonObject[], sames = 0): string {
  return JSON.stringify({ steps, changeSummary: { same: sames } });
}

function stepOn(type: string, name: string, inputs: JsonObject, op = "create"): JsonObject {
  return { op, urn: `urn:pulumi:dev::shop::${type}::${name}`, newState: { type, inputs: resource(name, inputs) } };
}

const program = (steps: readonly JsonObject[]): RuleSide =>
  programSide(readPreview(previewOf(steps), "the preview"), () => defineContract(contract));

const ruleIn = ({ rules: all }: RuleSide, name: string): SideRule | undefined => all.find((each) => each.name === name);

test("each kind of side has the same rules, with masks that are equal exactly when the secrets are", async () => {
  const { resources, session, edit } = await world();
  const folder = folderOf(rules);
  const sides = [
    stateSide(resources, session(), "stack dev"),
    await readLiveSide(await ProvenPlace.of(session().place("default"), undefined), "production", "default"),
    folderSide(folder, { contract: defineContract(contract), resource: "MerchantRuleSet all" }),
    program([stepOn(setType, "all", { rules }), stepOn(ruleType, "one", { definition: rule(4) })]),
  ];
  const [state, live, files] = sides;
  for (const side of sides) {
    const names = side.rules.map(({ name }) => name).sort();
    expect(names.slice(0, 3), side.kind).toEqual(["rule-1", "rule-2", "rule-3"]);
    expect(isMask(ruleIn(side, "rule-1")?.definition.token), side.kind).toBe(true);
    for (const name of names.slice(0, 3))
      expect(ruleIn(side, name)?.definition, side.kind).toEqual(state && ruleIn(state, name)?.definition);
    expect(names.map((name) => ruleIn(side, name)?.identity).slice(0, 3), side.kind).toEqual(
      names.map((name) => state && ruleIn(state, name)?.identity).slice(0, 3),
    );
    expect(new Set(side.rules.map(({ identity }) => identity)).size).toBe(side.rules.length);
    expect(JSON.stringify(side.rules)).not.toContain("s3cret");
    expect(side.notes).toEqual(side.kind === "live" ? [expect.stringMatching(/^production at 127.*, read 20/)] : []);
    expect(side.contractOf("default")?.rule.naturalKey).toBe("/name");
  }
  expect(sides.map(({ kind, rules: all }) => [kind, all.length])).toEqual([
    ["state", 4],
    ["live", 4],
    ["folder", 3],
    ["program", 4],
  ]);
  const names = { resource: "MerchantRuleSet all", key: "a", connection: "default" };
  expect(state && ruleIn(state, "rule-1")).toMatchObject({ ...names, ruleId: expect.any(String) });
  expect(files && ruleIn(files, "rule-1")).toMatchObject({ ...names, file: join(folder, "a.yaml"), line: 2 });
  expect(live && ruleIn(live, "rule-1")?.place).toEqual(expect.any(String));
  edit("rule-1", { token: "rotated" });
  const rotated = await readLiveSide(
    await ProvenPlace.of(session().place("default"), undefined),
    "production",
    "default",
  );
  expect(ruleIn(rotated, "rule-1")?.definition.token).not.toEqual(live && ruleIn(live, "rule-1")?.definition.token);
});

test("what a program makes secret is masked on each side that knows so, wherever an element of an array has gone", async () => {
  const conditions = [
    { field: "a", value: "s3cret-2" },
    { field: "b", value: "shown" },
  ];
  const { resources, session, edit } = await world({ all: { rules: { a: rule(1, { conditions }) } } });
  const path = ["rules", "a", "conditions"];
  const secrets = resources.map(({ inputs, outputs, ...each }) => ({
    ...each,
    inputs: withSecretsAt(inputs, path),
    outputs: withSecretsAt(outputs, path),
  }));
  edit("rule-1", { conditions: [{ field: "b", value: "new" }, ...conditions.slice(0, 1)] });
  expect(JSON.stringify(stateSide(secrets, session(), "s").rules)).not.toMatch(/s3cret/);
  const masked = { ...rule(1), conditions: [{ field: "a", value: "[secret]" }] };
  const [first] = program([stepOn(setType, "all", { rules: { a: masked, b: "[secret]" } })]).rules;
  expect(first?.definition.conditions).toEqual([{ field: "a", value: blindMask }]);
});

describe("the side of a program", () => {
  test("says what the preview cannot say: rules that are secret as a whole, and resources that are not in it", () => {
    const steps = [stepOn(setType, "all", { rules: "[secret]" }), stepOn(ruleType, "one", { definition: "[secret]" })];
    const side = programSide(readPreview(previewOf(steps, 3), "the preview"), () => defineContract(contract));
    expect(side.rules.map(({ name, definition }) => [name, definition])).toEqual([["one", blindMask]]);
    expect(side.notes).toEqual([
      "the rules of MerchantRuleSet all cannot be named: a preview masks them, or does not know them yet",
      "3 resources without changes are not in the preview: give what --show-sames adds",
    ]);
  });

  test("leaves out what leaves the program", () => {
    const gone = stepOn(setType, "old", { rules }, "delete");
    const oldState = { type: setType, id: "x", inputs: resource("old", { rules }), outputs: { rules, ruleIds: {} } };
    expect(program([{ ...gone, newState: null, oldState }, stepOn(setType, "all", { rules })]).rules).toHaveLength(3);
  });
});
