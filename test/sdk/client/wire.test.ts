import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { allOf, clientOf, failureOf, serve } from "./scripted-server.ts";

type Operations = NonNullable<ContractInput["operations"]>;
type List = NonNullable<Operations["list"]>;

const path = "/api/v1/merchants/rules";
const made = { status: 201, json: { id: "r1" } };
const client = { kind: "client", clientId: "shop", clientSecret: "hush: ä+%" } as const;

describe("a body", () => {
  test("is a form with brackets where the contract says form, with the fixed fields around the definition", async () => {
    const server = await serve([made]);
    const create = {
      encoding: "form",
      fields: { account: "{shop}", rule: { kind: "limit", n: 1 } },
      bodyAt: "/rule",
    } as const;
    const contract = { parameters: { shop: { default: "a&b" } }, operations: { create } };
    await clientOf(server, contract).create({ n: 2, when: [{ field: "amount", is: true }, "x=y"] });
    const [request] = server.requests;
    expect(request?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect([...new URLSearchParams(request?.body)]).toEqual([
      ["account", "a&b"],
      ["rule[kind]", "limit"],
      ["rule[n]", "2"],
      ["rule[when][0][field]", "amount"],
      ["rule[when][0][is]", "true"],
      ["rule[when][1]", "x=y"],
    ]);
  });

  test.each([
    [{ when: { x: null } }, "when.x is null"],
    [{ when: [] }, "when is an empty list"],
    [{ when: [{}] }, "when[0] is an empty object"],
    [{ "a[b]": 1 }, "has a bracket in its name"],
  ])("with %j is no form, and nothing is sent", async (definition, why) => {
    const server = await serve([made]);
    const create = { encoding: "form" } as const;
    const error = await failureOf(
      clientOf(server, { operations: { create } }).create(definition, { label: "limit-1" }),
    );
    expect(error).toMatchObject({ code: "RULE_INVALID", outcomeUnknown: false });
    expect(error.message).toContain('create rule "limit-1" failed: ');
    expect(error.message).toContain(`${why}, which a form cannot carry`);
    expect(server.requests).toEqual([]);
  });

  test("has the id in path and body both, and the types that the contract says", async () => {
    const server = await serve([{ json: {} }]);
    const headers = { "Content-Type": "application/merge-patch+json", Accept: "application/vnd.rules+json" };
    const fields = { data: { id: "{ruleId}" } };
    const update = { path: `${path}/{ruleId}`, headers, fields, bodyAt: "/data/rule", body: "declared" } as const;
    await clientOf(server, { operations: { update } }).update("r 1", { n: 1 });
    const [request] = server.requests;
    expect(request).toMatchObject({ target: `${path}/r%201`, body: '{"data":{"id":"r 1","rule":{"n":1}}}' });
    expect(request?.headers).toMatchObject({
      "content-type": "application/merge-patch+json",
      accept: "application/vnd.rules+json",
    });
  });
});

describe("client id and secret by HTTP Basic", () => {
  test("are in every request, and no answer shows them", async () => {
    const basic = Buffer.from("shop:hush: ä+%").toString("base64");
    const server = await serve([{ status: 403, json: { error: { message: `no ${basic} hush: ä+%` } } }]);
    const contract = { auth: { present: { format: "Basic {basic}" } } };
    const error = await failureOf(clientOf(server, contract, { credentials: client }).get("r1"));
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${basic}`);
    expect(error.message).toContain("no [redacted] [redacted]");
  });

  test("are form-encoded first at the token operation", async () => {
    const server = await serve([{ json: { access_token: "t1" } }, { json: { n: 1 } }]);
    const headers = { Authorization: "Basic {basic}" };
    const token = { path: "/token", encoding: "form", headers, fields: { grant_type: "client_credentials" } } as const;
    await clientOf(server, { auth: { token } }, { credentials: client }).get("r1");
    const encoded = Buffer.from("shop:hush%3A+%C3%A4%2B%25").toString("base64");
    expect(server.requests[0]).toMatchObject({ body: "grant_type=client_credentials" });
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${encoded}`);
    expect(server.requests[1]?.headers.authorization).toBe("Bearer t1");
  });

  test("are asked for by name where a token is given", async () => {
    const server = await serve([{}]);
    const error = await failureOf(
      (async () => clientOf(server, { auth: { present: { format: "Basic {basic}" } } }).get("r1"))(),
    );
    expect(error.message).toContain("What to do: give the client id and the client secret");
    expect(server.requests).toEqual([]);
  });
});

const total = 5;

/** Pages of two; whoever asks past the end gets a 500 with a page. */
async function pagesOf(list: Partial<List>, said: (rules: object[]) => object) {
  const server = await serve(({ target, body }) => {
    const query = new URL(target, "http://x").searchParams;
    const asked: Record<string, unknown> = body === "" ? Object.fromEntries(query) : JSON.parse(body);
    const { offset, after } = asked;
    const from = after === undefined ? Number(offset ?? 0) : Number(String(after).slice(1));
    if (from >= total) return { status: 500, body: "<html>" };
    const ids = Array.from({ length: total }, (_, k) => ({ id: `r${k + 1}` })).slice(from, from + 2);
    return { json: said(ids) };
  });
  const contract = {
    operations: { list: { path, items: "/rules", ...list } },
    limits: { pageSize: 2, maxAttempts: 1 },
  };
  return { server, ids: async () => (await allOf(clientOf(server, contract).list())).map(({ ruleId }) => ruleId) };
}

describe("a list", () => {
  const ends: [string, Partial<List>, (rules: object[]) => object][] = [
    [
      "a total",
      { pagination: { type: "offset", limit: "limit", total: "/meta/n" } },
      (rules) => ({ rules, meta: { n: total } }),
    ],
    ["a short page", { pagination: { type: "offset", limit: "limit", shortPage: true } }, (rules) => ({ rules })],
    [
      "a total, after the last id",
      { pagination: { type: "lastId", cursor: "after", total: "/n" } },
      (rules) => ({ rules, n: total }),
    ],
    [
      "a short page, asked for by POST",
      {
        method: "POST",
        fields: { of: "shop" },
        pagination: { type: "lastId", limit: "limit", cursor: "after", shortPage: true },
      },
      (rules) => ({ rules }),
    ],
  ];
  test.each(ends)("ends by %s, and nothing is asked past it", async (_, list, said) => {
    const { server, ids } = await pagesOf(list, said);
    expect(await ids()).toEqual(["r1", "r2", "r3", "r4", "r5"]);
    expect(server.requests).toHaveLength(3);
  });

  test("by POST has what asks for a page in its body, and no query", async () => {
    const pagination = { type: "lastId", limit: "limit", cursor: "after", shortPage: true } as const;
    const { server, ids } = await pagesOf({ method: "POST", fields: { of: "shop" }, pagination }, (rules) => ({
      rules,
    }));
    await ids();
    expect(server.requests.map(({ method, target, body }) => [method, target, body])).toEqual([
      ["POST", path, '{"of":"shop","limit":2}'],
      ["POST", path, '{"of":"shop","limit":2,"after":"r2"}'],
      ["POST", path, '{"of":"shop","limit":2,"after":"r4"}'],
    ]);
  });

  test.each([
    ["total", { total: 3 }, {}],
    ["a count of pages", { meta: { count: 3 } }, {}],
    ["a header", {}, { "x-total-count": "3" }],
  ])(
    "that counts more rules than it has, by %s, is not taken for the whole, unless the contract says that it is",
    async (_, said, headers) => {
      const answer = { json: { rules: [{ id: "r1" }, { id: "r2" }], ...said }, headers };
      const read = async (pagination?: Partial<List>["pagination"]) => {
        const server = await serve([answer]);
        const list = { path, items: "/rules", ...(pagination === undefined ? {} : { pagination }) };
        return allOf(clientOf(server, { operations: { list } }).list());
      };
      await expect(read()).rejects.toThrow(
        /that the list goes on.*set operations.list.pagination.*if all rules are in this answer, set it to \{ type: none, complete: true \}/s,
      );
      expect(await read({ type: "none", complete: true })).toHaveLength(2);
    },
  );

  test.each([
    ["as many", { total: 2, meta: { count: 2 } }],
    ["of something else", { count: 9, limits: { count: 9, totalPages: 4 }, rulesets: [{ total: 9 }] }],
  ])("that counts %s is the whole", async (_, said) => {
    const server = await serve([{ json: { rules: [{ id: "r1" }, { id: "r2" }], ...said } }]);
    expect(await allOf(clientOf(server, { operations: { list: { path, items: "/rules" } } }).list())).toHaveLength(2);
  });

  test("that has fewer rules than it says is not the whole list", async () => {
    const server = await serve([{ json: { rules: [{ id: "r1" }], n: 2 } }, { json: { rules: [], n: 2 } }]);
    const pagination = { type: "offset", total: "/n" } as const;
    const error = await failureOf(
      allOf(clientOf(server, { operations: { list: { path, items: "/rules", pagination } } }).list()),
    );
    expect(error.message).toContain("the list says that it has 2 rules, but the page after 1 of them is empty");
  });

  test("with a rule twice on a page is read to its end all the same", async () => {
    const [one, two, three] = [{ id: "r1" }, { id: "r2" }, { id: "r3" }];
    const server = await serve([{ json: { rules: [one, two, one], n: 3 } }, { json: { rules: [three], n: 3 } }]);
    const pagination = { type: "offset", total: "/n" } as const;
    const client = clientOf(server, { operations: { list: { path, items: "/rules", pagination } } });
    expect((await allOf(client.list())).map(({ ruleId }) => ruleId)).toEqual(["r1", "r2", "r3"]);
  });

  test.each([{}, { n: -1 }, { n: "2" }])("with %j for a total is refused, by the name of the field", async (said) => {
    const server = await serve([{ json: { rules: [{ id: "r1" }], ...said } }]);
    const pagination = { type: "offset", total: "/n" } as const;
    const error = await failureOf(
      allOf(clientOf(server, { operations: { list: { path, items: "/rules", pagination } } }).list()),
    );
    expect(error.message).toContain("there is no whole number at /n (operations.list.pagination.total)");
  });
});

describe("a rule that only the list shows", () => {
  const contract = {
    operations: { get: null, list: { path, items: "/rules", lagMs: 0 } },
  } satisfies Partial<ContractInput>;

  test("is found there, and one that a whole list lacks is not there", async () => {
    const server = await serve([{ json: { rules: [{ id: "r1", n: 1 }] } }]);
    const rules = clientOf(server, contract);
    expect(await rules.get("r1")).toEqual({ ruleId: "r1", rule: { id: "r1", n: 1 } });
    expect(await failureOf(rules.get("r2"))).toMatchObject({ code: "RULE_NOT_FOUND" });
  });

  test("is read with others at once in two readings, none of which began before it was asked for", async () => {
    const server = await serve([{ json: { rules: [{ id: "r1" }, { id: "r2" }, { id: "r3" }] } }]);
    const rules = clientOf(server, contract);
    await Promise.all(["r1", "r2", "r3", "r1", "r2"].map((ruleId) => rules.get(ruleId)));
    expect(server.requests.length).toBeLessThanOrEqual(2);
    await rules.get("r1");
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });

  test("is not gone where the list cannot be read", async () => {
    const server = await serve([{ status: 404, json: {} }]);
    expect(await failureOf(clientOf(server, contract).get("r1"))).toMatchObject({ code: "REJECTED" });
  });
});
