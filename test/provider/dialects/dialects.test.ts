import { describe, expect, test } from "vitest";
import { localCredentials } from "../../../local/service/index.ts";
import { ownerOf } from "../../../provider/merchant/mark.ts";
import { ownerField } from "../../../provider/state/names.ts";
import { contractFields } from "../../../scripts/reference/contract-fields.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { asWritten, isEqual, isJsonArray, isJsonObject, type Json, type JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { EngineModel } from "../../support/stack/engine-model.ts";
import { startHost } from "../../support/stack/hooks.ts";
import { contractFileOf, startService } from "../../support/stack/service.ts";
import { type Dialect, dialects } from "./dialects.ts";

/** As the class of a resource adds it. */
const owned = { [ownerField]: { [ownerOf("shop", "test", "all")]: null } };

/** A service that speaks a dialect, and a stack whose every run is a provider host of its own. */
async function open({ contract, settings = {}, token = localCredentials.token }: Dialect) {
  const parameters = { account: "shop 7", apiVersion: "2026-01-15" };
  const service = await startService({
    contract: defineContract(contract("http://127.0.0.1")),
    merchants: [{ name: "acme", token }],
    parameters,
  });
  const environment: Record<string, string> = {
    MERCHANT_RULES_BASE_URL: service.url,
    MERCHANT_RULES_CONTRACT: contractFileOf(contract(service.url)),
    ...(Object.hasOwn(settings, "MERCHANT_RULES_CLIENT_ID") ? {} : { MERCHANT_RULES_TOKEN: token }),
    ...settings,
  };
  const engine = new EngineModel();
  const hooks = () => startHost(environment, "merchantRuleSet");
  return {
    service,
    up: async (rules?: JsonObject) => engine.up(await hooks(), rules === undefined ? {} : { all: { rules, ...owned } }),
    refresh: async () => engine.refresh(await hooks()),
  };
}

describe.each(dialects)("a service of $name", (dialect) => {
  test("has a set of rules made, left alone, changed, healed and destroyed", async () => {
    const { service, up, refresh } = await open(dialect);
    const wanted = (priority: number) => ({ a: rule(1, { priority }), b: rule(2), c: rule(3), d: rule(4), e: rule(5) });
    const priorities = () =>
      Object.fromEntries(service.rules().map((live) => [String(live.rule.name), live.rule.priority]));
    const expected = (priority: number) => ({ "rule-1": priority, "rule-2": 2, "rule-3": 3, "rule-4": 4, "rule-5": 5 });
    expect(await up(wanted(1))).toEqual([]);
    expect(priorities()).toEqual(expected(1));
    expect(service.rules()).toHaveLength(5);
    service.resetRequests();
    expect(await up(wanted(1))).toEqual([]);
    expect(service.requests).toEqual([]);
    expect(await up(wanted(7))).toEqual([]);
    expect(priorities()).toEqual(expected(7));
    expect(service.rules()).toHaveLength(5);
    const live = service.rules().find((each) => each.rule.name === "rule-1");
    service.put(live?.ruleId, { ...live?.rule, priority: 99 });
    expect(await refresh()).toEqual([]);
    expect(await up(wanted(7))).toEqual([]);
    expect(priorities()).toEqual(expected(7));
    expect(await up()).toEqual([]);
    expect(service.rules()).toEqual([]);
    // What was asked for was understood: nothing was refused as malformed.
    expect(service.requests.filter(({ status }) => status === 400 || status === 405 || status === 422)).toEqual([]);
  });
});

test("each field of the contract, with another value than its default, is in a whole run", () => {
  const used = dialects.map(({ contract }) => asJson(contract("http://127.0.0.1")));
  const notUsed = contractFields().filter(
    (field) => !used.some((contract) => valuesAt(contract, field.path).some((value) => isTried(value, field))),
  );
  expect(notUsed.map(({ path, type }) => `${path} (${type})`)).toEqual([]);
});

type Field = ReturnType<typeof contractFields>[number];

/** True of a value of this form of the field that is no default, where the field can have another. */
function isTried(value: Json, { schema, default: fallback }: Field): boolean {
  if (schema.const !== undefined) return value === schema.const;
  const hasOthers = schema.enum === undefined || schema.enum.length > 1;
  return fallback === undefined || !hasOthers || !isEqual(value, fallback, asWritten);
}

/** The values at a path such as `rule.gone[].at` or `parameters.<name>.default`. */
function valuesAt(value: Json, path: string): Json[] {
  return path
    .replaceAll("[]", ".[]")
    .split(".")
    .reduce<Json[]>((found, name) => found.flatMap((each) => below(each, name)), [value]);
}

function below(value: Json, name: string): Json[] {
  if (name === "[]") return isJsonArray(value) ? [...value] : [];
  if (!isJsonObject(value)) return [];
  if (name === "<name>") return Object.values(value);
  const inner = value[name];
  return inner === undefined ? [] : [inner];
}

function asJson(contract: ContractInput): Json {
  return JSON.parse(JSON.stringify(contract));
}
