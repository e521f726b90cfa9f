import { expect, test } from "vitest";
import { loadSemantics } from "../../meaning/index.ts";
import { ruleType, setType } from "../../provider/host/types.ts";
import { unknownValue } from "../../provider/host/wire.ts";
import { ProvenPlace } from "../../provider/run/proven-place.ts";
import { decideBy, meaningOf } from "../../report/meaning/meaning.ts";
import { readPreview } from "../../report/plan/preview.ts";
import { afterRun, type RuleSide, readLiveSide } from "../../report/sides/index.ts";
import { type ContractInput, defineContract, presetFile } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { rule } from "../support/rules.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { resource, sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";
import { applied } from "../support/stack/states.ts";

const merged = { path: "/api/v1/merchants/rules/{ruleId}", body: "merged" } as const;

async function world(changes: Partial<ContractInput> = {}) {
  const contract = contractOf({
    rule: { naturalKey: "/name", owner: { at: "/metadata/managedBy" }, secret: ["/token"] },
    ...changes,
  });
  const served = await serve(contract);
  const session = () => sessionOf(served.environment);
  const declared = { all: { rules: { a: rule(1), b: rule(2), c: rule(3) } }, one: { definition: rule(4) } };
  const [all, one] = await applied(session(), declared);
  if (all === undefined || one === undefined) throw new Error("not made");
  const run = async (steps: readonly JsonObject[]): Promise<{ before: RuleSide; after: RuleSide }> => {
    const preview = readPreview(JSON.stringify({ steps, changeSummary: {} }), "the preview");
    const live = await readLiveSide(await ProvenPlace.of(session().place("default"), undefined), "live", "default");
    return afterRun(live, preview, () => defineContract(contract), "default");
  };
  const step = (of: typeof all, op: string, inputs: JsonObject | undefined): JsonObject => ({
    op,
    urn: of.urn,
    oldState: { type: of.type, id: of.id, inputs: of.inputs, outputs: of.outputs },
    newState:
      inputs === undefined ? null : { type: of.type, inputs: resource(of.urn.split("::").at(-1) ?? "", inputs) },
  });
  return { ...served, all, one, run, step };
}

function made(name: string, inputs: JsonObject): JsonObject {
  const type = "rules" in inputs ? setType : ruleType;
  return {
    op: "create",
    urn: `urn:pulumi:prod::shop::${type}::${name}`,
    newState: { type, inputs: resource(name, inputs) },
  };
}

const byName = ({ rules }: RuleSide) => Object.fromEntries(rules.map(({ name, ...rest }) => [name, rest]));

test("a run's steps on what is live: changed, removed, made and taken-over rules; all others stay as they are", async () => {
  const { all, one, edit, run, step, service } = await world();
  service.put(undefined, rule(50));
  service.put(undefined, rule(51, { note: "by hand" }));
  edit("rule-4", { priority: 44 });
  const { before, after } = await run([
    step(all, "update", { rules: { a: rule(1, { priority: 11 }), c: rule(3), d: rule(5) } }),
    step(one, "same", { definition: rule(4) }),
    made("adopted", { definition: rule(51, { priority: 1 }), adopt: true }),
  ]);
  const [was, is] = [byName(before), byName(after)];
  expect(Object.keys(was).sort()).toEqual(["rule-1", "rule-2", "rule-3", "rule-4", "rule-50", "rule-51"]);
  expect(was["rule-2"]).toMatchObject({ resource: "MerchantRuleSet all", key: "b", definition: rule(2) });
  expect(Object.keys(is).sort()).toEqual(["rule-1", "rule-3", "rule-4", "rule-5", "rule-50", "rule-51"]);
  expect(is["rule-1"]?.definition).toEqual(rule(1, { priority: 11 }));
  // The run compares with its state, and leaves an edit by hand alone.
  expect(is["rule-4"]?.definition).toEqual(rule(4, { priority: 44 }));
  expect(is["rule-5"]).toMatchObject({
    resource: "MerchantRuleSet all",
    key: "d",
    isUnlisted: true,
    definition: rule(5),
  });
  // An update sends the rest back.
  expect(is["rule-51"]?.definition).toEqual(rule(51, { priority: 1, note: "by hand" }));
  expect(is["rule-50"]).toEqual(was["rule-50"]);
  expect(after.name).toBe("live with the changes of stack prod");
});

test("an update that keeps undeclared fields keeps them on paper, too", async () => {
  const { all, edit, run, step } = await world({
    operations: {
      delete: { identifyBy: { in: "query", name: "ruleId" } },
      update: merged,
      list: contractOf().operations?.list ?? null,
    },
  });
  edit("rule-1", { region: "EU", limits: { day: 5 } });
  const { after } = await run([
    step(all, "update", { rules: { a: rule(1, { limits: { hour: 1 } }), b: rule(2), c: rule(3) } }),
  ]);
  expect(byName(after)["rule-1"]?.definition).toEqual(rule(1, { limits: { hour: 1, day: 5 }, region: "EU" }));
});

test("what a preview masks, or does not know yet, makes a rule unknown, and is read as no text", async () => {
  const { all, run, step, service } = await world();
  service.put(undefined, rule(50, { priority: 500, conditions: [{ field: "currency", operator: "eq", value: "XX" }] }));
  const on = (value: string) => [{ field: "currency", operator: "eq", value }];
  const plain = { actions: [{ type: "decline" }] };
  const { after } = await run([
    step(all, "update", {
      rules: {
        a: rule(1, { ...plain, conditions: on("[secret]") }),
        b: rule(2, { ...plain, conditions: on(unknownValue) }),
        c: rule(3, { ...plain, token: "[secret]", conditions: on("EUR") }),
      },
    }),
  ]);
  const semantics = loadSemantics(presetFile("illustrative").replace(".contract.", ".semantics."));
  const meaning = meaningOf(
    after,
    { semantics: { ...semantics, ignored: [...semantics.ignored, "/token", "/actions/*/reason"] }, valueLists: [] },
    "default",
  );
  const faults = meaning.rules.map(({ name, reading }) => [
    name,
    reading.kind === "unknown" ? reading.faults.map(({ at, why }) => `${at} ${why}`).join() : "",
  ]);
  expect(faults.sort()).toEqual([
    ["rule-1", '/conditions/0/value is "[secret]", which is no text'],
    ["rule-2", "/conditions/0/value is known only after up"],
    ["rule-3", ""],
    ["rule-4", ""],
    ["rule-50", ""],
  ]);
  for (const currency of ["[secret]", unknownValue, "EUR"]) {
    const { rules } = decideBy(meaning, { currency });
    const answers = Object.fromEntries(meaning.rules.map(({ name }, index) => [name, rules[index]?.applies]));
    expect([answers["rule-1"], answers["rule-2"]]).toEqual(["unknown", "unknown"]);
    expect(answers["rule-3"]).toBe(currency === "EUR" ? "true" : "false");
  }
});

test("a rule that is gone at the service stays gone, and is named", async () => {
  const { all, run, step, service } = await world();
  service.remove(service.rules().find((each) => each.rule.name === "rule-2")?.ruleId ?? "");
  const { after } = await run([step(all, "same", { rules: { a: rule(1), b: rule(2), c: rule(3) } })]);
  expect(Object.keys(byName(after)).sort()).toEqual(["rule-1", "rule-3", "rule-4"]);
  expect(after.notes).toEqual([
    expect.stringMatching(/^live at 127.*, read 20/),
    "rule-2 is in the state and not at the service: without --refresh a run leaves that so",
  ]);
});

test("what another connection's rules become is none of this one's", async () => {
  const { one, run, step } = await world();
  const { before, after } = await run([
    step(one, "replace", { definition: rule(4, { priority: 9 }), connection: "sandbox" }),
    made("there", { definition: rule(60), connection: "sandbox" }),
  ]);
  expect(Object.keys(byName(before)).sort()).toEqual(["rule-1", "rule-2", "rule-3", "rule-4"]);
  expect(Object.keys(byName(after)).sort()).toEqual(["rule-1", "rule-2", "rule-3"]);
});
