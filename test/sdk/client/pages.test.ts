import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { allOf, clientOf, failureOf, type Received, serve } from "./scripted-server.ts";

type ListInput = NonNullable<NonNullable<ContractInput["operations"]>["list"]>;
type PaginationInput = NonNullable<ListInput["pagination"]>;

const listing = (
  pagination: PaginationInput,
  list: Partial<ListInput> = {},
  limits: ContractInput["limits"] = {},
): Partial<ContractInput> => ({
  operations: { list: { path: "/rules", items: "/rules", pagination, ...list } },
  limits: { pageSize: 2, maxAttempts: 2, ...limits },
});
const rules = (...ids: string[]) => ids.map((id) => ({ id, name: `rule ${id}` }));
const idsOf = async (list: AsyncIterable<{ ruleId: string }>): Promise<string[]> =>
  (await allOf(list)).map(({ ruleId }) => ruleId);
const numberIn = ({ target }: Received, name: string): number =>
  Number(new URL(target, "http://host").searchParams.get(name));

test("a list of one page, at the root of the answer or below it", async () => {
  const server = await serve([{ json: rules("a", "b") }, { json: { data: { items: rules("c") } } }]);
  expect(await allOf(clientOf(server, listing({ type: "none" }, { items: "" })).list())).toEqual([
    { ruleId: "a", rule: { id: "a", name: "rule a" } },
    { ruleId: "b", rule: { id: "b", name: "rule b" } },
  ]);
  expect(
    await idsOf(clientOf(server, listing({ type: "none" }, { items: "/data/items", query: { all: "yes" } })).list()),
  ).toEqual(["c"]);
  expect(server.requests.map(({ target }) => target)).toEqual(["/rules", "/rules?all=yes"]);
});

test("items may be enveloped, with the id inside or outside", async () => {
  const items = [{ data: { id: "a" } }, { id: "b", data: { name: "x" } }];
  const server = await serve([{ json: { rules: items } }]);
  expect(await allOf(clientOf(server, listing({ type: "none" }, { envelope: "/data" })).list())).toEqual([
    { ruleId: "a", rule: { id: "a" } },
    { ruleId: "b", rule: { name: "x" } },
  ]);
});

test("a cursor is followed, encoded, until it is null, empty or absent", async () => {
  for (const end of [null, "", undefined]) {
    const server = await serve([
      { json: { rules: rules("a", "b"), next: "c=&2" } },
      { json: { rules: rules("c"), next: 7 } },
      { json: { rules: [], next: end } },
    ]);
    const client = clientOf(server, listing({ type: "cursor", limit: "limit", cursor: "after", next: "/next" }));
    expect(await idsOf(client.list())).toEqual(["a", "b", "c"]);
    expect(server.requests.map(({ target }) => target)).toEqual([
      "/rules?limit=2",
      "/rules?limit=2&after=c%3D%262",
      "/rules?limit=2&after=7",
    ]);
  }
});

test("a page that is not there, behind others that were, is said to be so, and the advice ends the list", async () => {
  for (const status of [404, 410]) {
    const pages = [{ json: { rules: rules("a", "b"), more: true } }, { json: { rules: rules("c"), more: false } }];
    const server = await serve([...pages, { status, json: {} }, ...pages]);
    const failure = await failureOf(idsOf(clientOf(server, listing({ type: "page", page: "page" })).list()));
    expect(failure.message).toContain(
      `the service answered ${status} to page 3 of the list; the pages before it have 3 rules`,
    );
    expect(failure.message).not.toContain("nothing answers at this path");
    expect(failure.advice).toContain("operations.list.pagination.more");
    const told = listing({ type: "page", page: "page", more: "/more" });
    expect(await idsOf(clientOf(server, told).list())).toEqual(["a", "b", "c"]);
  }
  const wrong = await serve([{ status: 404, json: {} }]);
  const failure = await failureOf(idsOf(clientOf(wrong, listing({ type: "page", page: "page" })).list()));
  expect(failure.advice).toContain("nothing answers at this path");
});

test("a list ends where the answer says that there is no more, whatever the cursor", async () => {
  const server = await serve([
    { json: { rules: rules("a"), next: "2", more: true } },
    { json: { rules: rules("b"), next: "3", more: false } },
  ]);
  expect(await idsOf(clientOf(server, listing({ type: "cursor", next: "/next", more: "/more" })).list())).toEqual([
    "a",
    "b",
  ]);
  expect(server.requests).toHaveLength(2);
});

test.each([0, 1])("pages are counted from %i to the first empty one: a short page is not the end", async (first) => {
  const pages = [rules("a", "b"), rules("c"), rules("d", "e"), []];
  const server = await serve((received) => ({ json: { rules: pages[numberIn(received, "page") - first] } }));
  const client = clientOf(server, listing({ type: "page", limit: "size", first }));
  expect(await idsOf(client.list())).toEqual(["a", "b", "c", "d", "e"]);
  expect(server.requests.map(({ target }) => target)).toEqual(
    [0, 1, 2, 3].map((page) => `/rules?size=2&page=${page + first}`),
  );
});

test("an offset grows by what was given, not by what was asked for", async () => {
  const all = rules("a", "b", "c", "d", "e");
  const server = await serve((received) => {
    const offset = numberIn(received, "skip");
    return { json: { rules: all.slice(offset, offset + 3), more: offset + 3 < all.length } };
  });
  const client = clientOf(
    server,
    listing({ type: "offset", offset: "skip", limit: "take", more: "/more" }, {}, { pageSize: 50 }),
  );
  expect(await idsOf(client.list())).toEqual(["a", "b", "c", "d", "e"]);
  expect(server.requests.map(({ target }) => target)).toEqual(["/rules?take=50&skip=0", "/rules?take=50&skip=3"]);
});

test("a rule that stands on two pages is given once", async () => {
  const server = await serve([
    { json: { rules: rules("a", "b"), next: "2" } },
    { json: { rules: rules("b", "c", "c") } },
  ]);
  expect(await idsOf(clientOf(server, listing({ type: "cursor", next: "/next" })).list())).toEqual(["a", "b", "c"]);
});

const broken: [string, PaginationInput, unknown[], string][] = [
  [
    "a cursor that repeats",
    { type: "cursor", next: "/next" },
    [{ rules: rules("a"), next: "1" }],
    "leads back to a page before it",
  ],
  ["a cursor that is no text", { type: "cursor", next: "/next" }, [{ rules: rules("a"), next: {} }], "is not a text"],
  [
    "more, but no cursor",
    { type: "cursor", next: "/next", more: "/more" },
    [{ rules: rules("a"), more: true }],
    "gives no cursor",
  ],
  [
    "more that is neither true nor false",
    { type: "page", more: "/more" },
    [{ rules: rules("a"), more: "yes" }],
    "neither true nor false",
  ],
  [
    "an empty page with more to come",
    { type: "page", more: "/more" },
    [{ rules: [], more: true }],
    "the page is empty",
  ],
  ["the same page again and again", { type: "page" }, [{ rules: rules("a") }], "repeats the two pages before it"],
  ["the same offset again and again", { type: "offset" }, [{ rules: rules("a") }], "repeats the two pages before it"],
  ["items that are no array", { type: "none" }, [{ rules: { a: 1 } }], "no array of rules at /rules"],
  ["no items", { type: "none" }, [{ data: [] }], "no array of rules at /rules"],
  [
    "an item that is no rule",
    { type: "none" },
    [{ rules: [...rules("a"), "b"] }],
    "item 1 of the list has no rule object",
  ],
  [
    "an item without an id",
    { type: "none" },
    [{ rules: [...rules("a"), { name: "b" }] }],
    "item 1 of the list has no id at /ruleId or /id",
  ],
];

test.each(broken)("%s is an error, never the end of the list", async (_, pagination, answers, reason) => {
  const server = await serve((_received, number) => ({ json: answers[number - 1] ?? answers.at(-1) }));
  const error = await failureOf(allOf(clientOf(server, listing(pagination)).list()));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID", outcomeUnknown: false });
  expect(error.message).toContain("list rules failed: ");
  expect(error.message).toContain(reason);
  expect(server.requests.length).toBeLessThanOrEqual(3);
});

test.each<[string, PaginationInput, (url: string) => { json: object; headers?: Record<string, string> }]>([
  ["Link", { type: "link", limit: "limit" }, (url) => ({ json: {}, headers: { link: `<${url}>; rel="next"` } })],
  [
    "a header",
    { type: "header", limit: "limit", header: "Next-Page" },
    (url) => ({ json: {}, headers: { "next-page": url } }),
  ],
  ["the body", { type: "url", limit: "limit", url: "/links/next" }, (url) => ({ json: { links: { next: url } } })],
])(
  "the URL of the next page in %s is followed, absolute or relative, until there is none",
  async (_, pagination, naming) => {
    const server = await serve(({ target, headers }) => {
      if (target === "/v1/rules?account=7&limit=2") {
        const { json, ...rest } = naming(`http://${headers.host}/v1/rules?limit=2&token=b%3D`);
        return { json: { rules: rules("a", "b"), ...json }, ...rest };
      }
      if (target === "/v1/rules?limit=2&token=b%3D") {
        const { json, ...rest } = naming("?token=c#rest");
        return { json: { rules: [], ...json }, ...rest };
      }
      return { json: { rules: rules("c"), links: { next: null } } };
    });
    const client = clientOf({ baseUrl: `${server.baseUrl}/v1` }, listing(pagination, { query: { account: "7" } }));
    expect(await idsOf(client.list())).toEqual(["a", "b", "c"]);
    expect(server.requests.map(({ target }) => target)).toEqual([
      "/v1/rules?account=7&limit=2",
      "/v1/rules?limit=2&token=b%3D",
      "/v1/rules?token=c",
    ]);
    // The URL stands for path and query alone.
    for (const { headers } of server.requests) expect(headers.authorization).toBe("Bearer token-of-the-tests");
  },
);

test.each<[string, PaginationInput, unknown, Record<string, string>, string]>([
  [
    "another host",
    { type: "url", url: "/next" },
    { next: "https://rules.example/2" },
    {},
    "is at https://rules.example",
  ],
  [
    "another scheme",
    { type: "header", header: "Next-Page" },
    {},
    { "next-page": "https://127.0.0.1/2" },
    "is at https://127.0.0.1",
  ],
  [
    "a host without scheme",
    { type: "link" },
    {},
    { link: '<//rules.example/2>; rel="next"' },
    "is at http://rules.example",
  ],
])("a next page at %s gets no request, and no credentials", async (_, pagination, body, headers, reason) => {
  const server = await serve([{ json: { rules: rules("a"), ...Object(body) }, headers }]);
  const error = await failureOf(allOf(clientOf(server, listing(pagination)).list()));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID" });
  expect(error.message).toContain(reason);
  expect(error.message).toContain(`not at ${server.baseUrl} `);
  expect(error.message).toContain("What to do: set baseUrl to the address by which the service names its own pages");
  expect(server.requests).toHaveLength(1);
});

test.each<[string, PaginationInput, unknown, Record<string, string>, string]>([
  ["a URL that is a number", { type: "url", url: "/next" }, { next: 2 }, {}, "is no text"],
  ["a URL that is none", { type: "url", url: "/next" }, { next: "http://" }, {}, "is not a URL"],
  ["a Link that is none", { type: "link" }, {}, { link: "/rules?page=2" }, "the header Link is none"],
  [
    "a URL that leads back",
    { type: "url", url: "/next" },
    { next: "/rules?page=2" },
    {},
    "leads back to a page before it",
  ],
])("%s is an error, never the end of the list", async (_, pagination, body, headers, reason) => {
  const server = await serve([{ json: { rules: rules("a"), ...Object(body) }, headers }]);
  const error = await failureOf(allOf(clientOf(server, listing(pagination)).list()));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID" });
  expect(error.message).toContain(reason);
});

test.each([
  ['<http://a/b,c;d>; title="x, \\"<y>\\"; rel=prev"; rel=prev, </rules?2>; foo; rel="last NEXT"', ["a", "b"]],
  ['</rules?2>; rel="prev"; rel="next"', ["a"]],
  ['</rules?1>; rel="prev" , </rules?2>; rel="next"', ["a", "b"]],
  ["", ["a"]],
  [" , ,", ["a"]],
])("Link is read as RFC 8288 has it: %s", async (link, ids) => {
  const server = await serve([{ json: { rules: rules("a") }, headers: { link } }, { json: { rules: rules("b") } }]);
  expect(await idsOf(clientOf(server, listing({ type: "link" })).list())).toEqual(ids);
});

const cuts: [string, unknown, Record<string, string>, string, string][] = [
  ["Link", {}, { link: '</rules?page=2>; rel="next"' }, "its header Link (rel=next)", "{ type: link }"],
  [
    "a header with a URL",
    {},
    { "Next-Page": "http://127.0.0.1/rules?2" },
    "its header next-page",
    "{ type: header, header: next-page }",
  ],
  ["a header with a number", {}, { "X-Next-Page": "2" }, "its header x-next-page", "{ type: page }"],
  [
    "a header with a cursor",
    {},
    { "x-ms-continuation": "abc" },
    "its header x-ms-continuation",
    "{ type: cursor, next: … }",
  ],
  ["a URL", { next: "https://other.example/rules?2" }, {}, "/next", "{ type: url, url: /next }"],
  [
    "a URL in links",
    { _links: { next: { href: "/rules?2" } } },
    {},
    "/_links/next",
    "{ type: url, url: /_links/next/href }",
  ],
  ["a cursor", { meta: { next_cursor: "abc" } }, {}, "/meta/next_cursor", "{ type: cursor, next: /meta/next_cursor }"],
  ["a page's number", { paging: { nextPage: 2 } }, {}, "/paging/nextPage", "{ type: page }"],
  ["hasMore", { hasMore: true }, {}, "/hasMore", "{ type: cursor }"],
  [
    "a name with a slash",
    { "a/b": { "@odata.nextLink": "/x" } },
    {},
    "/a~1b/@odata.nextLink",
    "{ type: url, url: /a~1b/@odata.nextLink }",
  ],
];

test.each(cuts)(
  "a list that says by %s that it goes on is never taken for the whole",
  async (_, body, headers, where, toSet) => {
    const endings: [PaginationInput, object][] = [
      [{ type: "none" }, {}],
      [{ type: "page" }, { rules: [] }],
      [{ type: "cursor", next: "/own/cursor" }, {}],
    ];
    for (const [pagination, last] of endings) {
      const server = await serve([{ json: { rules: rules("a"), ...Object(body), ...last }, headers }]);
      const error = await failureOf(allOf(clientOf(server, listing(pagination)).list()));
      expect(error).toMatchObject({ code: "RESPONSE_INVALID" });
      expect(error.message).toContain(`says by ${where} that the list goes on`);
      expect(error.message).toContain("set operations.list.pagination, here likely to ");
      expect(error.message).toContain(toSet);
    }
  },
);

test.each<[string, unknown, Record<string, string>]>([
  ["Link to another page", {}, { link: '</rules?1>; rel="prev", </help>; rel=help' }],
  [
    "empty and null values",
    { next: null, nextPage: "", links: { next: "null" }, next_offset: 0, hasMore: false },
    { "x-next-page": "" },
  ],
  ["fields of the rules", { rules: [{ id: "a", next: "b", hasMore: true }] }, {}],
  ["other names", { nextReview: "2026-12-01", context: "x", totals: 9 }, { "next-gen": "yes" }],
])("%s says nothing of another page", async (_, body, headers) => {
  const server = await serve([{ json: { rules: rules("a"), ...Object(body) }, headers }]);
  expect(await idsOf(clientOf(server, listing({ type: "none" })).list())).toEqual(["a"]);
});

test("cursors that go round in a circle are found", async () => {
  const server = await serve((_, number) => ({
    json: { rules: rules(`r${number}`), next: ["x", "y", "z"][number % 3] },
  }));
  await failureOf(allOf(clientOf(server, listing({ type: "cursor", next: "/next" })).list()));
  expect(server.requests).toHaveLength(4);
});

test("more pages than limits.maxPages are an error", async () => {
  const server = await serve((_, number) => ({ json: { rules: rules(`r${number}`), next: `${number}` } }));
  const error = await failureOf(
    allOf(clientOf(server, listing({ type: "cursor", next: "/next" }, {}, { maxPages: 3 })).list()),
  );
  expect(error).toMatchObject({ code: "RESPONSE_INVALID" });
  expect(error.message).toContain("more than limits.maxPages (3) pages");
  expect(server.requests).toHaveLength(3);
});

test("as many pages as limits.maxPages are not", async () => {
  const server = await serve((_, number) => ({
    json: { rules: rules(`r${number}`), next: number < 3 ? `${number}` : null },
  }));
  expect(
    await idsOf(clientOf(server, listing({ type: "cursor", next: "/next" }, {}, { maxPages: 3 })).list()),
  ).toHaveLength(3);
});

test("pages are asked for as they are wanted", async () => {
  const server = await serve((_, number) => ({ json: { rules: rules(`r${number}`), next: `${number}` } }));
  for await (const { ruleId } of clientOf(server, listing({ type: "cursor", next: "/next" })).list())
    if (ruleId === "r2") break;
  expect(server.requests).toHaveLength(2);
});

test("a list answered 404 is about the path, not about rules that are gone", async () => {
  const server = await serve([{ status: 404 }]);
  expect(await failureOf(allOf(clientOf(server, listing({ type: "none" })).list()))).toMatchObject({
    code: "REJECTED",
  });
});

describe("a service without rules", () => {
  const body: Record<string, { json?: unknown; status?: number }> = {
    null: { json: { rules: null } },
    absent: { json: { total: 0 } },
    noContent: { status: 204 },
  };
  const empties = [null, "absent", "noContent"] as const;

  test.each(empties)("has an empty list where the contract says %s, and no list without that", async (empty) => {
    const server = await serve([body[String(empty)] ?? {}]);
    expect(await idsOf(clientOf(server, listing({ type: "none" }, { empty: [empty] })).list())).toEqual([]);
    for (const other of [[], empties.filter((each) => each !== empty)]) {
      const error = await failureOf(allOf(clientOf(server, listing({ type: "none" }, { empty: other })).list()));
      expect(error.code).toBe("RESPONSE_INVALID");
    }
  });

  test("is told by the error which value to name, where that is plain", async () => {
    for (const empty of [null, "absent"] as const) {
      const server = await serve([body[String(empty)] ?? {}]);
      const error = await failureOf(allOf(clientOf(server, listing({ type: "none" })).list()));
      const [, named] = /set operations\.list\.empty there to \[(\w+)\]/.exec(error.message) ?? [];
      const list = { empty: [named === "null" ? null : "absent"] } as const;
      expect(await idsOf(clientOf(server, listing({ type: "none" }, { empty: [...list.empty] })).list())).toEqual([]);
    }
  });

  test("is none where the answer is no object at all", async () => {
    const server = await serve([{ json: "sign in" }]);
    const error = await failureOf(allOf(clientOf(server, listing({ type: "none" }, { empty: ["absent"] })).list()));
    expect(error.message).toContain("there is no array of rules at /rules");
  });

  test("is contradicted by a page before it that said that more follow", async () => {
    for (const [told, pagination] of [
      [{ total: 3 }, { type: "page", limit: "limit", total: "/total" }],
      [{ more: true }, { type: "page", limit: "limit", more: "/more" }],
    ] as const) {
      const server = await serve([{ json: { rules: rules("a", "b"), ...told } }, { status: 204 }]);
      const error = await failureOf(allOf(clientOf(server, listing(pagination, { empty: ["noContent"] })).list()));
      expect(error.message).toContain("says that there is more, but the next page has no content");
    }
  });

  test("ends its pages there, after others that had rules", async () => {
    const pagination = { type: "page", limit: "limit" } as const;
    for (const empty of empties) {
      const server = await serve([{ json: { rules: rules("a", "b") } }, body[String(empty)] ?? {}]);
      expect(await idsOf(clientOf(server, listing(pagination, { empty: [empty] })).list())).toEqual(["a", "b"]);
    }
  });
});

test("a total that is smaller than a page of the list is refused, and what the error says to set reads all", async () => {
  const pages = (received: Received) => ({
    json: { rules: numberIn(received, "offset") === 0 ? rules("a", "b", "c") : [], total: 0 },
  });
  const error = await failureOf(
    allOf(clientOf(await serve(pages), listing({ type: "offset", limit: "limit", total: "/total" })).list()),
  );
  expect(error.message).toMatch(/says that it has 0 rules, and a page of it has 3 .*set .*pagination\.total to null/);
  const raced = await serve([
    { json: { rules: rules("a", "b", "c"), total: 2 } },
    { json: { rules: rules("a", "b", "c"), total: 3 } },
  ]);
  const once = clientOf(raced, listing({ type: "offset", limit: "limit", total: "/total" }));
  expect(await idsOf(once.list())).toEqual(["a", "b", "c"]);
  const untold = clientOf(await serve(pages), listing({ type: "offset", limit: "limit", total: null }));
  expect(await idsOf(untold.list())).toEqual(["a", "b", "c"]);
});

test("a page that has a rule twice is no short page: the list goes on", async () => {
  const pages = [{ rules: rules("a", "a") }, { rules: rules("b", "c") }, { rules: rules("d") }];
  const server = await serve(pages.map((json) => ({ json })));
  const client = clientOf(server, listing({ type: "page", limit: "limit", shortPage: true }));
  expect(await idsOf(client.list())).toEqual(["a", "b", "c", "d"]);
});

test("a list may be larger than what is read about one rule, up to a bound of its own", async () => {
  const server = await serve([{ json: { rules: [{ id: "a", name: "x".repeat(4000) }] } }]);
  const bounded = (limits: ContractInput["limits"]) => clientOf(server, listing({ type: "none" }, {}, limits));
  expect(await idsOf(bounded({ maxBodyBytes: 1024 }).list())).toEqual(["a"]);
  const error = await failureOf(allOf(bounded({ maxListBytes: 1024 }).list()));
  expect(error.message).toMatch(/larger than 1024 bytes.*raise limits\.maxListBytes/);
  const one = await failureOf(bounded({ maxBodyBytes: 1024 }).get("a"));
  expect(one.message).toMatch(/larger than 1024 bytes.*raise limits\.maxBodyBytes/);
});

describe("a list that may be cut", () => {
  const many = (count: number) => rules(...Array.from({ length: count }, (_, k) => `r${k}`));
  const told: [string, PaginationInput, object, number | undefined][] = [
    ["50 rules in one answer", { type: "none" }, { rules: many(50) }, 50],
    ["49 rules in one answer", { type: "none" }, { rules: many(49) }, undefined],
    [
      "100 rules in one answer that is said to be whole",
      { type: "none", complete: true },
      { rules: many(100) },
      undefined,
    ],
    ["as many rules as a page was asked for", { type: "none" }, { rules: many(7) }, 7],
    [
      "50 rules where a short page is the last",
      { type: "page", limit: "limit", shortPage: true },
      { rules: many(50) },
      50,
    ],
    [
      "50 rules and their number",
      { type: "page", limit: "limit", total: "/total" },
      { rules: many(50), total: 50 },
      undefined,
    ],
    [
      "50 rules and that there are no more",
      { type: "page", limit: "limit", more: "/more" },
      { rules: many(50), more: false },
      undefined,
    ],
    ["50 rules and no cursor", { type: "cursor", limit: "limit", next: "/next" }, { rules: many(50) }, undefined],
  ];

  test.each(told)("is told by %s", async (_, pagination, json, expected) => {
    const pageSize = expected === 7 ? 7 : 60;
    let cutAt: number | undefined;
    const onCut = (length: number): void => {
      cutAt = length;
    };
    await allOf(clientOf(await serve([{ json }]), listing(pagination, {}, { pageSize })).list({ onCut }));
    expect(cutAt).toBe(expected);
  });
});

test("a page that repeats the one before it ends no list; one that repeats the two before it does", async () => {
  const pagination = { type: "page", limit: "limit" } as const;
  const page = (...ids: string[]) => ({ json: { rules: rules(...ids) } });
  const pushed = await serve([page("a", "b"), page("a", "b"), page("c"), page()]);
  expect(await idsOf(clientOf(pushed, listing(pagination)).list())).toEqual(["a", "b", "c"]);
  const counted = await serve([{ json: { rules: rules("a", "b"), total: 5 } }]);
  for (const total of ["/total", null]) {
    const left = await failureOf(allOf(clientOf(counted, listing({ type: "page", limit: "limit", total })).list()));
    expect(left.message, String(total)).toContain("before it");
  }
  const pair = await serve([{ json: { rules: rules("a", "b"), total: 4 } }]);
  const two = await failureOf(allOf(clientOf(pair, listing({ type: "page", limit: "limit", total: "/total" })).list()));
  expect(two.message).toContain("page 2 of the list repeats the page before it");
  const deaf = await serve([page("a", "b")]);
  const error = await failureOf(allOf(clientOf(deaf, listing(pagination)).list()));
  expect(error.message).toMatch(
    /page 3 of the list repeats the two pages before it.*correct operations\.list\.pagination/,
  );
});
