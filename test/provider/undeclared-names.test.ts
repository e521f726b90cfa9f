import { afterEach, describe, expect, test } from "vitest";
import { unknownValue } from "../../provider/state/wire.ts";
import { type Contract, type ContractInput, loadPreset } from "../../sdk/contract/index.ts";
import type { Json, JsonObject } from "../../sdk/rules/index.ts";
import { rule, serve } from "../support/connections.ts";
import { type Host, startHost } from "../support/hosts.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function open(contract: ContractInput): Promise<Host> {
  const served = await serve(contract);
  opened.push(served);
  const host = await startHost({}, served.environment, "merchantRuleSet");
  opened.push(host);
  return host;
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
