import { describe, expect, test } from "vitest";
import { unknownValue } from "../../provider/host/wire.ts";
import { type Contract, type ContractInput, loadPreset } from "../../sdk/contract/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { rule } from "../support/rules.ts";
import { openWorld } from "../support/stack/hooks.ts";
import type { Host } from "../support/stack/hosts.ts";

async function open(contract: ContractInput): Promise<Host> {
  return (await openWorld({ contract })).host("merchantRuleSet");
}

const illustrative = loadPreset("illustrative");

/** The illustrative contract without its schema, which asks for a name as well, and with another word on rules. */
function contractOf(changes: Partial<Contract["rule"]> = {}): ContractInput {
  return { ...illustrative, rule: { ...illustrative.rule, schema: null, ...changes } };
}

const { name: _, ...nameless } = rule(2);
const asText = (definition: Json): Json => JSON.stringify(definition);

describe("a definition without the contract's natural key", () => {
  const said = /no value at \/name, the natural key.*rule\.naturalKey/;

  test.each<[string, JsonObject]>([
    ["is misspelt", { ...nameless, nmae: "rule-2" }],
    ["is null", rule(2, { name: null })],
    ["is empty", rule(2, { name: "" })],
  ])("is refused where it %s, in a set by its key and in a rule, as an object and as a text", async (_, definition) => {
    const host = await open(contractOf());
    const reason = expect.stringMatching(said);
    expect((await host.check({ rules: { a: rule(1), b: definition } })).failures).toEqual([
      { property: "rules.b", reason },
    ]);
    expect((await host.check({ rules: { a: rule(1), b: asText(definition) } })).failures).toEqual([
      { property: "rules.b", reason },
    ]);
    const alone = host.as("merchantRule");
    expect((await alone.check({ definition })).failures).toEqual([{ property: "definition", reason }]);
    expect((await alone.check({ definition: asText(definition) })).failures).toEqual([{ property: "", reason }]);
  });

  test("is not judged where a preview does not know it", async () => {
    const host = await open(contractOf({ naturalKey: "/screening/code" }));
    const unknown = [unknownValue, { ...nameless, screening: unknownValue }, { screening: { code: unknownValue } }];
    for (const definition of unknown) expect((await host.check({ rules: { a: definition } })).failures).toEqual([]);
    expect((await host.check({ rules: { a: { screening: {} } } })).failures).toHaveLength(1);
  });

  test("is taken where it is 0 or false, where the service sets it, and where the contract has none", async () => {
    const host = await open(contractOf());
    const odd = { a: rule(1, { name: 0 }), b: rule(2, { name: false }) };
    expect((await host.check({ rules: odd })).failures).toEqual([]);
    const set = await open(contractOf({ readOnly: ["/name"] }));
    expect((await set.check({ rules: { a: nameless } })).failures).toEqual([]);
    const without = await open(contractOf({ naturalKey: null }));
    expect((await without.check({ rules: { a: nameless } })).failures).toEqual([]);
  });
});

describe("a field that one slip makes of a known one", () => {
  const described = contractOf({ schema: { properties: { name: {}, isActive: {}, priority: {} } } });
  const { isActive, ...rest } = rule(1);
  const slip = { ...rest, isActvie: isActive ?? null };
  const hints = (host: Host): string[] => host.stderr.split("\n").filter((line) => line.includes("did you mean"));

  test("is told, and the rule is taken as it is: of a field that the contract describes", async () => {
    const host = await open(described);
    expect((await host.as("merchantRule").check({ definition: slip })).failures).toEqual([]);
    const sentence =
      "definition.isActvie: did you mean isActive, which rule.schema in the contract describes? It is sent as it is declared";
    expect(hints(host)).toEqual([sentence]);
  });

  test("is told once a run for each field: of a field that other rules of the set have, as objects and as texts", async () => {
    const host = await open(contractOf());
    const others = { c: rule(3), d: rule(4), e: asText(rule(5)), f: rule(6) };
    const { priority: _, ...unranked } = rule(2);
    const rules = { a: asText({ ...rule(1), conditons: 1 }), b: { ...unranked, priorty: 1 }, ...others };
    for (let run = 0; run < 2; run += 1) expect((await host.check({ rules })).failures).toEqual([]);
    expect(hints(host)).toEqual([
      "rules.b.priorty: did you mean priority, which other rules of the set have? It is sent as it is declared",
    ]);
  });

  test("is not told of a field that most rules have, nor of short names and numbered ones", async () => {
    const host = await open(described);
    const common = { a: { ...rule(1), isActives: 1 }, b: { ...rule(2), isActives: 1 }, c: rule(3) };
    await host.check({ rules: common });
    const named = [1, 2, 3].map((k) => [`k${k}`, { name: `n${k}`, max: 1, line1: 1 }]);
    await host.check({ rules: { ...Object.fromEntries(named), d: { name: "d", mix: 1, line2: 1 } } });
    expect(host.stderr).toBe("");
  });

  test("is no matter of rules whose fields are names of their own", async () => {
    const host = await open(contractOf());
    const fields = (from: string) => Object.fromEntries(Array.from({ length: 3000 }, (_, k) => [`${from}-${k}`, k]));
    await host.check({ rules: { a: { ...rule(1), ...fields("alpha") }, b: { ...rule(2), ...fields("alphb") } } });
    expect(host.stderr).toBe("");
  });
});
