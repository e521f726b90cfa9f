import { draftContract } from "../../../contract-tools/draft.ts";
import { contractFacts } from "../../../contract-tools/probe/contract-facts.ts";
import type { Told } from "../../../contract-tools/probe/known.ts";
import { type Probed, probe } from "../../../contract-tools/probe/probe.ts";
import { type LocalService, type LocalServiceOptions, localCredentials } from "../../../local/service/index.ts";
import { type Connection, RulesClient } from "../../../sdk/client/index.ts";
import {
  type Contract,
  type ContractInput,
  defineContract,
  loadPreset,
  presentsClient,
} from "../../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../../sdk/errors.ts";
import { isJsonObject, type Json, type JsonObject, type Pointer, valueAt } from "../../../sdk/json/index.ts";
import { dialects } from "../../provider/dialects/dialects.ts";
import { described } from "../../provider/presets/presets.ts";
import { rule } from "../../support/rules.ts";
import { startService } from "../../support/stack/service.ts";

/** A service whose contract is to be found. */
export interface Sought {
  readonly name: string;
  readonly contract: (url: string) => ContractInput;
  readonly parameters: Readonly<Record<string, string>>;
  readonly service?: Omit<LocalServiceOptions, "contract">;
  readonly rule: (k: number, value: number) => JsonObject;
  readonly nameAt?: Pointer;
}

const plainRule = (k: number, value: number) => rule(k, { priority: value });
const account = { account: "shop 7", apiVersion: "2026-01-15" };

/** Names of presets' rules. */
const names: Readonly<Record<string, Pointer>> = {
  "adyen-transaction-rules": "/reference",
  "alertmanager-silences": "/comment",
  "stripe-value-list-items": "/value",
};

export const sought: readonly Sought[] = [
  ...dialects.map(({ name, contract, token }) => ({
    name,
    contract,
    parameters: account,
    rule: plainRule,
    ...(token === undefined ? {} : { service: { merchants: [{ name: "acme", token }] } }),
  })),
  ...described.map(({ preset, parameters = {}, service = {}, rule: ruleOf }) => ({
    name: `preset ${preset}`,
    contract: () => plain(loadPreset(preset)),
    parameters,
    service,
    rule: ruleOf,
    ...(names[preset] === undefined ? {} : { nameAt: names[preset] }),
  })),
  { name: "preset illustrative", contract: () => plain(loadPreset("illustrative")), parameters: {}, rule: plainRule },
  {
    name: "rows of deleted rules that stay",
    contract: () => ({
      version: 1,
      operations: {
        delete: { path: "/api/v1/merchants/rules/{ruleId}", identifyBy: { in: "path" } },
        update: { path: "/api/v1/merchants/rules/{ruleId}" },
        list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 },
      },
      rule: { gone: [{ at: "/status", is: ["deleted"] }] },
    }),
    parameters: {},
    rule: plainRule,
  },
  {
    name: "ids in numbers, and names that may be given twice",
    contract: () => ({
      version: 1,
      operations: {
        delete: { identifyBy: { in: "body", name: "id" } },
        list: { path: "/api/v1/merchants/rules", items: "", lagMs: 0 },
      },
    }),
    parameters: {},
    service: { ruleIds: "sequential" as const, allowDuplicates: true },
    rule: plainRule,
  },
];

function plain(contract: Contract): ContractInput {
  return JSON.parse(JSON.stringify(contract));
}

/** What a specification states: methods, paths, fixed parts, credentials. All that only the service can tell is left out. */
export function stated(contract: Contract): Contract {
  const { operations, limits, auth, parameters } = contract;
  const { create, get, delete: remove, update, list } = operations;
  const needsPlace =
    remove.path.includes("{ruleId}") ||
    remove.encoding === "form" ||
    remove.identifyBy?.in === "header" ||
    Object.keys(remove.fields).length > 0;
  return defineContract({
    version: 1,
    parameters,
    operations: plainOf({
      create: { ...create, success: [201] },
      get: get && { ...get, success: [200] },
      delete: { ...remove, success: [200], readAfter: false, identifyBy: needsPlace ? remove.identifyBy : null },
      update: update && {
        ...update,
        body: "declared",
        omit: [],
        removal: "omit",
        id: "kept",
        version: null,
        success: [200],
      },
      list: list && {
        ...list,
        items: "/items",
        envelope: "",
        pagination: { type: "none" },
        summaries: false,
        success: [200],
        lagMs: get === null ? list.lagMs : null,
      },
    }),
    rule: { transitions: plainOf(contract.rule.transitions.map((each) => ({ ...each, beforeDelete: false }))) },
    auth: plainOf(auth),
    errors: {},
    idempotency: null,
    limits: plainOf(limits),
  });
}

function plainOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}

/** Starts the service, probes it, and gives the contract that was found beside the true one. */
export async function found({ contract: contractOf, parameters, service: own = {}, rule: ruleOf, nameAt }: Sought) {
  const service = await startService({
    ...own,
    contract: defineContract(contractOf("http://127.0.0.1")),
    parameters,
  });
  const truth = defineContract(contractOf(service.url));
  const connection = (contract: Contract): Connection => ({
    name: "default",
    baseUrl: service.url,
    contract,
    parameters: Object.fromEntries(
      Object.entries(parameters).filter(([name]) => Object.hasOwn(contract.parameters, name)),
    ),
    credentials: credentialsFor(truth, own),
  });
  const told: Told = {
    connection: connection(stated(truth)),
    mayEmpty: truth.operations.list === null,
    definition: ruleOf(1, 1),
    ...(nameAt === undefined ? {} : { nameAt }),
  };
  const probed = await probe(told, { waitMs: 150 });
  const draft = draftContract(contractFacts(told, probed), []);
  return { service, probed, text: draft.text, truth: connection(truth), found: connection(draft.contract) };
}

function credentialsFor(
  { auth }: Contract,
  { merchants }: Omit<LocalServiceOptions, "contract">,
): Connection["credentials"] {
  const { clientId, clientSecret, token } = localCredentials;
  if (auth.token !== null || presentsClient(auth)) return { kind: "client", clientId, clientSecret };
  return { kind: "token", token: merchants?.[0]?.token ?? token };
}

/** What a client sees that makes two rules, reads, lists and changes one, makes its twin, and deletes both. Ids are left out. */
export async function acted(
  run: number,
  connection: Connection,
  service: LocalService,
  { rule: ruleOf }: Sought,
): Promise<Json[]> {
  const client = new RulesClient(connection);
  const isGone = (live: JsonObject): boolean =>
    connection.contract.rule.gone.some(({ at, is }) => is.some((value) => value === valueAt(live, at)));
  const seen: Json[] = [];
  const note = async (what: string, act: () => Promise<Json>): Promise<void> => {
    seen.push([what, await act().catch(codeOf)]);
  };
  const { operations } = connection.contract;
  const ids: string[] = [];
  const chosen = (k: number) =>
    operations.create.identifyBy === null
      ? {}
      : { ruleId: operations.create.idFormat.replace(/\{.*\}/, (form) => idOf(form, 2 * run + k)) };
  for (const k of [1, 2])
    await note(`create ${k}`, async () => {
      const { ruleId } = await client.create(ruleOf(k, k), chosen(k));
      ids.push(ruleId);
      return service.rules().length;
    });
  const [first = "", second = ""] = ids;
  await note("get", async () => declared((await client.get(first)).rule, ruleOf(1, 1)));
  if (operations.update !== null)
    await note("update", async () => {
      ids[0] = (await client.update(first, ruleOf(1, 9)))?.ruleId ?? first;
      return declared((await client.get(ids[0])).rule, ruleOf(1, 9));
    });
  if (operations.list !== null)
    await note("list", async () => {
      const rules: Json[] = [];
      for await (const live of client.list()) if (!isGone(live.rule)) rules.push(declared(live.rule, ruleOf(1, 9)));
      return rules.map((each) => JSON.stringify(each)).sort();
    });
  for (const ruleId of [ids[0] ?? "", second]) {
    await note("delete", async () => await client.delete(ruleId));
    await note("get after it", async () => {
      const { rule: live } = await client.get(ruleId);
      const isGone = connection.contract.rule.gone.some(({ at, is }) =>
        is.some((value) => value === valueAt(live, at)),
      );
      return isGone ? "gone" : "there";
    });
  }
  await note("delete again", async () => await client.delete(second));
  seen.push(["left", service.rules().length]);
  await client.close();
  return seen;
}

function idOf(form: string, k: number): string {
  const digits = `${k}`.repeat(32);
  return form === "{hex}" ? digits : digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Of a rule what the definition has. */
function declared(live: JsonObject, definition: JsonObject): Json {
  return Object.fromEntries(
    Object.keys(definition)
      .sort()
      .map((name) => [name, live[name] ?? null]),
  );
}

function codeOf(error: unknown): Json {
  if (!isMerchantRulesError(error)) throw error;
  return error.code === "RULE_NOT_FOUND" ? "not found" : error.code;
}

/** The findings of a probe in one line, for the table. */
export function lineOf(name: string, { facts, gaps, requests }: Probed): string {
  const of = (at: string): string => {
    const value = facts.find((fact) => fact.at === at)?.value;
    return value === undefined
      ? "–"
      : isJsonObject(value)
        ? Object.values(value).map(String).join(" ")
        : JSON.stringify(value);
  };
  const fields = [
    "/rule/id",
    "/rule/envelope",
    "/operations/delete/identifyBy",
    "/operations/update/body",
    "/operations/list/items",
    "/operations/list/pagination",
  ];
  return `| ${[name, ...fields.map(of), String(gaps.length), String(requests)].join(" | ")} |`;
}
