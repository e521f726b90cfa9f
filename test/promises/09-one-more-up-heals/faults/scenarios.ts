import { ownerOf } from "../../../../provider/merchant/mark.ts";
import { ownerField } from "../../../../provider/state/names.ts";
import { type ContractInput, loadPreset } from "../../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../../sdk/json/index.ts";
import { rule } from "../../../support/rules.ts";

export type Resource = "MerchantRule" | "MerchantRuleSet";

const { schema: _, ...illustrativeRule } = loadPreset("illustrative").rule;
/**
 * For a run that a timeout ends, and for no other: there a slow machine must not look like a fault. Long enough that a
 * busy machine does not time out at the requests beside it: many services answer in this process at once.
 */
export const hurried = { attemptTimeoutMs: 3000, totalTimeoutMs: 7000 };
/** Of an answer that a hurried run doesn't wait for. */
export const tooLateMs = hurried.attemptTimeoutMs + 300;
const limits = { concurrency: 4, pageSize: 2, maxAttempts: 3, maxRetryAfterMs: 1500 };
const full = {
  ...loadPreset("illustrative"),
  rule: { ...illustrativeRule, immutable: ["/conditions"] },
  limits,
} satisfies ContractInput;
const seed = { ...loadPreset("seed"), limits } satisfies ContractInput;
const path = "/api/v1/merchants/rules/{ruleId}";
const owner = { at: "/metadata/managedBy" } as const;
const identity = { path: "/api/v1/me", at: "/account/id" } as const;
const changing: readonly OperationName[] = ["create", "update", "replace", "delete"];
const mergedUpdate = { path: "/api/v1/merchants/rules/{ruleId}", body: "merged" } as const;
const deletes = {
  method: "DELETE",
  path: "/api/v1/merchants/rules",
  identifyBy: { in: "query", name: "ruleId" },
} as const;

const chosen = {
  ...full,
  idempotency: null,
  operations: { ...full.operations, list: null },
} satisfies ContractInput;

export interface MatrixContract {
  readonly name: string;
  readonly contract: ContractInput;
  /** A rule whose create was not answered can be found again, by list and natural key. */
  readonly canLookUp: boolean;
  /** Rules carry the mark of their owner, or an id that only their stack derives. */
  readonly isMarked?: boolean;
  /** The service accepts two rules with one natural key, so that a double can be seen. */
  readonly allowsDuplicates?: boolean;
  /** The operations that a program may cause; the others are refused before the first request. */
  readonly operations: readonly OperationName[];
  /** An update gives a rule another id. */
  readonly hasNewIds?: boolean;
  /** Nothing can be changed, so that a drift is seen and stays. */
  readonly isFixed?: boolean;
  /** Who runs between the run with the fault and the next one. */
  readonly meanwhile?: Intruder;
  /** What is otherwise than before when the run with the fault begins. */
  readonly change?: Change;
  /** Default: both. */
  readonly resources?: readonly Resource[];
}

/**
 * `namesake`: another stack of the same names, whose program declares the same rules, and which is destroyed after its
 * `up`. `other merchant`: the stack itself with the token of another merchant, who has the same rules under the same ids;
 * `one equal`: of that one's rules only the first is equal. `copy`: the same program under other names, over a copied state.
 */
export type Intruder = "namesake" | "other merchant" | "one equal" | "copy";

/**
 * The rules go by another connection or an explicit provider, with the same settings; the credentials are others of the same
 * merchant; the contract learns marks; the first resource has another name by an alias, and its old name is another rule's.
 */
export type Change = "connection" | "provider" | "credentials" | "contract" | "name";

export type OperationName = "create" | "update" | "replace" | "delete" | "refresh";
const all: readonly OperationName[] = ["create", "update", "replace", "delete", "refresh"];

/** Those that begin with rules. */
const knowing: readonly OperationName[] = ["update", "replace", "delete", "refresh"];
const marked = { contract: { ...full, rule: { ...full.rule, owner } }, canLookUp: true, isMarked: true } as const;

export const contracts: readonly MatrixContract[] = [
  { name: "full", contract: full, canLookUp: true, operations: all },
  { name: "no idempotency", contract: { ...full, idempotency: null }, canLookUp: true, operations: all },
  {
    name: "no list",
    contract: { ...full, operations: { ...full.operations, list: null } },
    canLookUp: false,
    operations: all,
  },
  {
    name: "no update",
    contract: { ...full, operations: { ...full.operations, update: null } },
    canLookUp: true,
    // Without an update each change replaces.
    operations: all.filter((name) => name !== "update"),
  },
  {
    // What is sent is made from the live rule, which is read before.
    name: "merged updates",
    contract: { ...full, operations: { ...full.operations, update: mergedUpdate } },
    canLookUp: true,
    operations: ["update"],
  },
  {
    name: "changes by PATCH",
    contract: {
      ...full,
      idempotency: null,
      operations: { ...full.operations, update: { path, method: "PATCH", body: "changes" } },
    },
    canLookUp: true,
    operations: ["update", "refresh"],
  },
  {
    name: "updates by POST",
    contract: { ...full, operations: { ...full.operations, update: { path, method: "POST" } } },
    canLookUp: true,
    operations: ["update"],
  },
  {
    name: "forms, pages by the last id",
    contract: {
      ...full,
      idempotency: null,
      operations: {
        ...full.operations,
        create: { encoding: "form", fields: { account: "main" }, bodyAt: "/rule" },
        update: { path, method: "POST", encoding: "form", fields: { token: "{ruleId}" }, bodyAt: "/rule" },
        list: {
          path: deletes.path,
          items: "/rules",
          lagMs: 0,
          pagination: { type: "lastId", limit: "limit", more: "/hasMore" },
        },
      },
    },
    canLookUp: true,
    operations: ["create", "update"],
  },
  { ...marked, name: "owner marks", operations: all },
  {
    name: "soft delete",
    contract: { ...full, rule: { ...full.rule, gone: [{ at: "/status", is: ["deleted", "archived"] }] } },
    canLookUp: true,
    operations: all,
  },
  {
    name: "duplicates accepted",
    contract: { ...full, idempotency: null },
    canLookUp: true,
    operations: all,
    allowsDuplicates: true,
  },
  {
    name: "another merchant, identity told",
    contract: { ...full, auth: { ...full.auth, identity }, rule: { ...full.rule, owner } },
    canLookUp: true,
    operations: all,
    isMarked: true,
    meanwhile: "other merchant",
  },
  { ...marked, name: "another merchant, by marks", operations: changing, meanwhile: "other merchant" },
  { ...marked, name: "a namesake, by marks", operations: changing, meanwhile: "namesake" },
  {
    name: "a namesake, no marks",
    contract: full,
    canLookUp: true,
    operations: changing,
    meanwhile: "namesake",
  },
  {
    // Nothing else finds a lost rule: there is no list and no idempotency key.
    name: "chosen ids",
    contract: { ...chosen, operations: { ...chosen.operations, create: { identifyBy: { in: "body", name: "id" } } } },
    canLookUp: true,
    operations: ["create", "replace", "delete"],
    isMarked: true,
  },
  {
    name: "chosen ids, by PUT",
    contract: {
      ...chosen,
      operations: {
        ...chosen.operations,
        create: {
          method: "PUT",
          path,
          headers: { "If-None-Match": "*" },
          identifyBy: { in: "path" },
          idFormat: "rule-{hex}",
        },
      },
    },
    canLookUp: true,
    operations: ["create", "replace"],
    isMarked: true,
  },
  {
    // A PATCH is sent again by its version alone.
    name: "updates of one version",
    contract: {
      ...full,
      idempotency: null,
      operations: { ...full.operations, update: { path, method: "PATCH", body: "changes", version: { etag: true } } },
    },
    canLookUp: true,
    operations: ["update", "refresh"],
  },
  {
    // The row of before stays, dead.
    name: "ids that change with an update",
    contract: {
      ...full,
      idempotency: null,
      operations: { ...full.operations, update: { path: `${path}/replace`, method: "POST", id: "new" } },
      rule: { ...full.rule, owner, gone: [{ at: "/status", is: ["deleted"] }] },
    },
    canLookUp: true,
    operations: ["update", "replace", "delete", "refresh"],
    isMarked: true,
    hasNewIds: true,
  },
  {
    name: "ids that change, no marks",
    contract: { ...full, operations: { ...full.operations, update: { path, id: "new" } } },
    canLookUp: true,
    operations: ["update", "refresh"],
    hasNewIds: true,
  },
  {
    name: "transitions",
    contract: {
      ...full,
      idempotency: null,
      rule: {
        ...full.rule,
        owner,
        transitions: [
          { at: "/isActive", to: true, path: `${path}/activate` },
          { at: "/isActive", to: false, path: `${path}/deactivate`, beforeDelete: true },
        ],
      },
    },
    canLookUp: true,
    operations: all,
    isMarked: true,
  },
  {
    name: "transitions, no marks",
    contract: {
      ...full,
      operations: { ...full.operations, update: null },
      rule: {
        ...full.rule,
        transitions: [
          { at: "/isActive", to: true, from: [false], path: `${path}/state`, method: "PUT", fields: { active: true } },
        ],
      },
    },
    canLookUp: true,
    operations: ["create", "replace", "refresh"],
  },
  { name: "connection renamed", contract: full, canLookUp: true, operations: all, change: "connection" },
  { ...marked, name: "provider changed", operations: knowing, change: "provider" },
  { ...marked, name: "credentials changed", operations: knowing, change: "credentials" },
  { ...marked, name: "contract learns marks", operations: knowing, change: "contract" },
  {
    ...marked,
    name: "names used again, by marks",
    contract: { ...full, rule: { ...full.rule, naturalKey: null, owner } },
    operations: ["update"],
    change: "name",
    resources: ["MerchantRule"],
  },
  {
    name: "names used again, chosen ids",
    contract: { ...chosen, operations: { ...chosen.operations, create: { identifyBy: { in: "body", name: "id" } } } },
    canLookUp: true,
    operations: ["update", "replace", "refresh"],
    isMarked: true,
    change: "name",
    resources: ["MerchantRule"],
  },
  { name: "copied state", contract: full, canLookUp: true, operations: changing, meanwhile: "copy" },
  {
    name: "one equal rule of several",
    contract: full,
    canLookUp: true,
    operations: ["update", "replace", "delete"],
    meanwhile: "one equal",
  },
  { name: "bare seed", contract: seed, canLookUp: false, operations: ["create", "refresh"], isFixed: true },
  {
    name: "seed with delete",
    contract: { ...seed, operations: { ...seed.operations, delete: deletes } },
    canLookUp: false,
    operations: ["create", "replace", "delete", "refresh"],
  },
];

export type Definitions = Readonly<Record<string, JsonObject>>;

/** One operation of a program: what is declared before and after, by key. */
export interface Scenario {
  readonly before: Definitions;
  readonly after: Definitions;
  /** A change by hand at the service, before a refresh. */
  readonly edit?: { readonly key: string; readonly rule: JsonObject };
}

const keys = ["a", "b", "c"];

export const scenarios: Readonly<Record<OperationName, Scenario>> = {
  create: { before: {}, after: definitions((k) => rule(k)) },
  update: { before: definitions((k) => rule(k)), after: definitions((k) => rule(k, { priority: k + 100 })) },
  // Conditions are immutable by the contract.
  replace: { before: definitions((k) => rule(k)), after: definitions((k) => rule(k, { conditions: [] })) },
  delete: { before: definitions((k) => rule(k)), after: { c: rule(2) } },
  refresh: {
    before: definitions((k) => rule(k)),
    after: definitions((k) => rule(k)),
    edit: { key: "b", rule: rule(1, { priority: 77 }) },
  },
};

function definitions(of: (k: number) => JsonObject): Definitions {
  return Object.fromEntries(keys.map((key, k) => [key, of(k)]));
}

/** The resources that declare rules: one each, or one set. @param options inputs of each beside them */
export function declaredAs(
  resource: Resource,
  rules: Definitions,
  options: JsonObject = {},
): Record<string, JsonObject> {
  if (resource === "MerchantRuleSet") return { all: { rules, allowEmpty: true, ...options, ...owned("all") } };
  return Object.fromEntries(
    Object.entries(rules).map(([key, definition]) => [key, { definition, ...options, ...owned(key) }]),
  );
}

/** Rules after the first resource got another name by an alias, and its old name became another rule's. */
export function renamed({ a, ...others }: Definitions): Definitions {
  return a === undefined ? others : { d: a, ...others, a: rule(50) };
}

function owned(name: string): JsonObject {
  return { [ownerField]: { [ownerOf("shop", "test", name)]: null } };
}
