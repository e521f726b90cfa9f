import type { ContractInput } from "../../../sdk/contract/index.ts";

/** A contract that a test runs whole: made, unchanged, changed, drifted, healed and destroyed. */
export interface Dialect {
  readonly name: string;
  /** @param url the service's own address */
  readonly contract: (url: string) => ContractInput;
  /** The settings beside address and contract; default: the token of the service. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The token that the service knows. */
  readonly token?: string;
}

const account = { account: "{account}" };
const version = { "Api-Version": "{apiVersion}" };
const path = "/v2/{account}/rules";
const client = { MERCHANT_RULES_CLIENT_ID: "local-client", MERCHANT_RULES_CLIENT_SECRET: "local-secret" };

/** A JSON Web Token of these claims; nobody verifies it. */
function jsonWebToken(claims: object): string {
  return [{ alg: "none" }, claims, "signature"]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
}

const described = {
  $schema: "./contract.schema.json",
  version: 1,
  description: "A service that differs from the seed wherever a contract can",
  semantics: "illustrative",
} as const;

export const dialects: readonly Dialect[] = [
  {
    name: "other places, methods, headers and queries for everything",
    settings: { ...client, MERCHANT_RULES_PARAM_ACCOUNT: "shop 7" },
    contract: (url) => ({
      ...described,
      parameters: { account: { description: "The account" }, apiVersion: { default: "2026-01-15" } },
      operations: {
        create: {
          method: "PUT",
          path,
          headers: { ...version, Accept: "application/vnd.rules+json", "Content-Type": "application/vnd.rules+json" },
          query: account,
          fields: { by: "{account}", rule: { kind: "limit" } },
          bodyAt: "/rule",
          success: [202, 201],
        },
        get: { method: "GET", path: `${path}/{ruleId}`, headers: version, query: account, lagMs: 5, success: [203] },
        delete: {
          method: "POST",
          path: `${path}/deletions`,
          headers: version,
          query: account,
          identifyBy: { in: "header", name: "Rule-Id" },
          fields: { id: "{ruleId}", reason: { code: 7 } },
          readAfter: true,
          success: [204],
        },
        update: {
          method: "PATCH",
          path: `${path}/changes`,
          headers: version,
          query: account,
          identifyBy: { in: "query", name: "key" },
          body: "changes",
          fields: { key: "{ruleId}" },
          omit: ["/createdAt", "/updatedAt"],
          removal: null,
          bodyAt: "/rule",
          success: [202],
        },
        list: {
          method: "GET",
          path,
          headers: version,
          query: account,
          items: "/data/all",
          envelope: "/rule",
          summaries: true,
          pagination: { type: "cursor", limit: "limit", cursor: "after", next: "/data/next", more: "/data/more" },
          lagMs: 10,
          success: [203],
        },
      },
      rule: {
        id: ["/meta/key"],
        envelope: "/rule",
        schema: { type: "object", required: ["name"] },
        naturalKey: "/name",
        idScope: "service",
        owner: { at: "/note/by" },
        gone: [{ at: "/state", is: ["deleted"] }],
        foreign: [{ at: "/origin", is: ["system"] }],
        readOnly: ["/createdAt", "/updatedAt", "/state"],
        immutable: ["/currency"],
        unordered: ["/conditions"],
        secret: ["/actions/*/reason"],
        writeOnly: ["/actions/*/reason"],
        undeclared: "ignore",
        changedBy: "/last/by",
        changedAt: "/last/at",
      },
      auth: {
        present: { in: "header", name: "X-Access", format: "Token {token}" },
        token: {
          method: "POST",
          path: "/oauth/token",
          baseUrl: url,
          headers: version,
          query: account,
          encoding: "form",
          fields: { client: "{clientId}", password: "{clientSecret}" },
          accessToken: "/data/token",
          expiresIn: "/data/expires",
          success: [203],
        },
        identity: { method: "GET", path: "/me", headers: version, query: account, success: [203], at: "/account/id" },
      },
      errors: {
        code: "/problem/type",
        message: ["/title", "/problem/detail"],
        details: "/problem/parts",
        failure: [{ at: "/outcome", is: ["failed"] }],
        notFound: [{ status: 200, code: "gone" }],
        exists: [{ status: 200, code: "taken" }],
        inUse: [{ status: 423, code: "used" }],
        requestId: { header: "Trace-Id" },
      },
      idempotency: { header: "Once" },
      limits: {
        concurrency: 2,
        requestsPerSecond: 500,
        pageSize: 2,
        maxPages: 20,
        maxBodyBytes: 100_000,
        attemptTimeoutMs: 20_000,
        totalTimeoutMs: 60_000,
        maxAttempts: 3,
        maxRetryAfterMs: 10_000,
      },
    }),
  },
  ...([{ etag: true }, { at: "/version" }] as const).map((version) => ({
    name: `updates of one version, by ${Object.keys(version)}`,
    contract: () => ({
      ...described,
      operations: {
        delete: { identifyBy: { in: "query" } as const },
        update: { path: "/api/v1/merchants/rules/{ruleId}", version },
      },
      rule: { readOnly: ["/createdAt", "/updatedAt", "/version"] },
    }),
  })),
  ...(["declared", "changes", "merged"] as const).map((body) => ({
    name: `values that are stored in another form than they are sent in, updated by what is ${body}`,
    contract: () => ({
      ...described,
      operations: {
        delete: { identifyBy: { in: "query" } as const },
        update: {
          path: "/api/v1/merchants/rules/{ruleId}",
          body,
          omit: body === "merged" ? ["/createdAt", "/updatedAt"] : [],
        },
        list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 },
      },
      rule: {
        naturalKey: "/name",
        unordered: ["/conditions"],
        forms: [
          { at: "/name", is: "upper" as const },
          { at: "/priority", is: "decimal" as const },
          { at: "/isActive", default: true },
          { at: "/conditions/*/value", is: "decimal" as const },
          { at: "/actions", is: "distinct" as const },
          { at: "/countries", is: "empty" as const },
        ],
      },
    }),
  })),
  {
    name: "fields that requests of their own change",
    settings: { MERCHANT_RULES_PARAM_ACCOUNT: "shop 7" },
    contract: () => ({
      ...described,
      parameters: { account: {}, apiVersion: { default: "2026-01-15" } },
      operations: {
        delete: { identifyBy: { in: "query" } },
        update: { path: "/api/v1/merchants/rules/{ruleId}", body: "merged" },
        list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 },
      },
      rule: {
        naturalKey: "/name",
        transitions: [
          {
            at: "/isActive",
            to: true,
            from: [false],
            method: "PATCH",
            path: "/api/v1/merchants/rules/states",
            headers: version,
            query: account,
            encoding: "form",
            fields: { rule: "{ruleId}", state: "on" },
            waitMs: 10,
            success: [202],
          },
          { at: "/isActive", to: false, path: "/api/v1/merchants/rules/{ruleId}/deactivate", beforeDelete: true },
        ],
      },
    }),
  },
  ...([null, "absent", "noContent"] as const).map((empty) => ({
    name: `lists without rules, told by ${empty}, and ids in a header`,
    contract: () => ({
      ...described,
      operations: {
        delete: { identifyBy: { in: "query" } as const },
        list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0, empty: [empty] },
      },
      rule: {
        id: [{ header: "Location", segment: empty === "absent" ? null : ("last" as const) }, "/id"],
        naturalKey: "/name",
      },
      limits: { maxListBytes: 100_000 },
    }),
  })),
  {
    name: "fields that are sent under other names than those that are read",
    contract: () => ({
      ...described,
      operations: {
        create: { sentAs: { conditions: "rules", actions: "outcome" } },
        delete: { identifyBy: { in: "query" } },
        update: {
          method: "POST",
          path: "/api/v1/merchants/rules/update",
          identifyBy: { in: "body", name: "rule_id" },
          sentAs: { conditions: "new_rules" },
        },
        list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 },
      },
      rule: { naturalKey: "/name" },
    }),
  },
  {
    name: "ids that change with an update",
    contract: () => ({
      ...described,
      operations: {
        delete: { identifyBy: { in: "query" } },
        update: { path: "/api/v1/merchants/rules/{ruleId}", id: "new" },
        list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 },
      },
      rule: { naturalKey: "/name" },
    }),
  },
  {
    name: "ids that the client chooses, in a body",
    contract: () => ({
      ...described,
      operations: {
        create: { identifyBy: { in: "body", name: "id" }, idFormat: "rule-{hex}" },
        delete: { identifyBy: { in: "query" } },
        update: { path: "/api/v1/merchants/rules/{ruleId}" },
      },
      rule: { id: ["/id"] },
    }),
  },
  {
    // As many stores do it, one request makes and replaces; of it alone it cannot be told which.
    name: "ids that the client chooses, by PUT",
    contract: () => ({
      ...described,
      operations: {
        create: { method: "PUT", path: "/api/v1/merchants/rules/{ruleId}", identifyBy: { in: "path" } },
        delete: { identifyBy: { in: "query" } },
        update: { path: "/api/v1/merchants/rules/{ruleId}", success: [201] },
        list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 },
      },
      rule: { naturalKey: "/name", owner: { at: "/metadata/managedBy" } },
    }),
  },
  {
    name: "a token that says who it is for",
    token: jsonWebToken({ merchant: { id: "acme" } }),
    contract: () => ({
      ...described,
      operations: {
        delete: { identifyBy: { in: "query", name: "id" } },
        list: { path: "/api/v1/merchants/rules", items: "/rules", pagination: { type: "link", limit: "limit" } },
      },
      auth: { identity: { claim: "/merchant/id" } },
    }),
  },
  {
    name: "a client id that stands for the merchant",
    settings: client,
    contract: () => ({
      ...described,
      operations: { delete: { identifyBy: { in: "body", name: "id" } } },
      auth: {
        token: { path: "/token", fields: { id: "{clientId}", secret: "{clientSecret}" } },
        identity: { clientId: true },
      },
    }),
  },
  {
    name: "forms, and client id and secret in every request",
    settings: client,
    contract: () => ({
      ...described,
      operations: {
        create: { encoding: "form", fields: { account: { id: "main" } }, bodyAt: "/data/rule" },
        update: { path: "/api/v1/merchants/rules/{ruleId}", method: "POST", encoding: "form" },
        delete: { path: "/api/v1/merchants/deletions", method: "POST", encoding: "form", identifyBy: { in: "body" } },
        list: {
          path: "/api/v1/merchants/rules/search",
          method: "POST",
          encoding: "form",
          fields: { account: "main" },
          items: "/rules",
          pagination: { type: "lastId", limit: "limit", cursor: "after", more: "/more" },
        },
      },
      auth: { present: { format: "Basic {basic}" }, identity: { clientId: true } },
      limits: { pageSize: 2 },
    }),
  },
  {
    name: "rules that are read in the list alone, and a token for client id and secret by HTTP Basic",
    settings: client,
    contract: () => ({
      ...described,
      operations: {
        get: null,
        update: { path: "/api/v1/merchants/rules/{ruleId}", fields: { token: "{ruleId}" }, body: "merged" },
        delete: { identifyBy: { in: "body", name: "id" } },
        list: {
          path: "/api/v1/merchants/rules",
          items: "/rules",
          lagMs: 0,
          pagination: { type: "page", limit: "limit", shortPage: true },
        },
      },
      rule: { naturalKey: "/name", readOnly: ["/createdAt", "/updatedAt", "/token"] },
      auth: {
        token: {
          path: "/token",
          encoding: "form",
          headers: { Authorization: "Basic {basic}" },
          fields: { grant_type: "client_credentials" },
        },
      },
      limits: { pageSize: 2 },
    }),
  },
  ...(
    [
      { type: "none", complete: true },
      { type: "page", limit: "limit", page: "number", first: 0, more: "/more" },
      { type: "page", limit: "limit", total: "/total" },
      { type: "offset", limit: "limit", offset: "skip", more: "/more" },
      { type: "offset", limit: "limit", total: "/meta/total" },
      { type: "offset", limit: "limit", shortPage: true },
      { type: "lastId", limit: "limit", total: "/meta/total" },
      { type: "lastId", limit: "limit", shortPage: true },
      { type: "header", limit: "limit", header: "Next-Page" },
      { type: "url", limit: "limit", url: "/links/next" },
    ] as const
  ).map((pagination) => ({
    name: `pages by ${JSON.stringify(pagination)}`,
    contract: () => ({
      ...described,
      operations: {
        delete: { identifyBy: { in: "query" } as const },
        list: { path: "/api/v1/merchants/rules", items: "/rules", pagination },
      },
      rule: { naturalKey: "/name" },
      limits: { pageSize: 2 },
    }),
  })),
];
