import { describe, expect, test } from "vitest";
import type { FaultInput, LocalService } from "../../../local/service/index.ts";
import { RulesClient } from "../../../sdk/client/index.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { valueAt } from "../../../sdk/json/index.ts";
import { allOf } from "../../sdk/client/scripted-server.ts";
import { call, fieldOfEach, type Received, serve } from "./under-test.ts";

type List = NonNullable<NonNullable<ContractInput["operations"]>["list"]>;
/** Those whose requests a client builds by itself. */
type PaginationInput = Extract<NonNullable<List["pagination"]>, { type: "none" | "cursor" | "page" | "offset" }>;

const cursor: PaginationInput = { type: "cursor", limit: "limit", cursor: "cursor", next: "/next", more: "/more" };
const page: PaginationInput = { type: "page", limit: "limit", page: "page", more: "/more" };
const offset: PaginationInput = { type: "offset", limit: "limit", offset: "offset", more: "/more" };
const paginations: [string, PaginationInput][] = [
  ["cursors", cursor],
  ["pages", page],
  ["offsets", offset],
];

/** A service with rules of these names, and the fault. */
async function withFault(
  pagination: PaginationInput,
  names: string,
  fault: FaultInput,
  now = Date.now,
): Promise<LocalService> {
  const list: List = { path: "/rules", items: "/rules", pagination };
  const service = await serve({
    contract: defineContract({ version: 1, operations: { list }, auth: { present: null } }),
    now,
  });
  for (const name of names) service.put(name, { name });
  service.faults.set(fault);
  return service;
}

/** The page number `n`, from 0, of pages of two; by the cursor that the page before gave. */
function read(service: LocalService, { type }: PaginationInput, n: number, next?: string): Promise<Received> {
  const at = { cursor: next === undefined ? "" : `cursor=${next}`, page: `page=${n + 1}`, offset: `offset=${2 * n}` };
  return call(service, "GET", `/rules?limit=2${type === "none" ? "" : `&${at[type]}`}`);
}

/** Reads page by page, as a client does that trusts the service; at most 9 pages. Gives the names on each. */
async function pagesOf(service: LocalService, pagination: PaginationInput): Promise<string[]> {
  const pages: string[] = [];
  let more = true;
  let next: string | undefined;
  while (more && pages.length < 9) {
    const received = await read(service, pagination, pages.length, next);
    pages.push(namesIn(received));
    more = received.at("/more") === true;
    next = String(received.at("/next"));
  }
  return pages;
}

function namesIn(received: Received): string {
  return fieldOfEach(received, "/rules", "name").join("");
}

function stored(service: LocalService): string {
  return service
    .rules()
    .map(({ rule }) => valueAt(rule, "/name"))
    .join("");
}

describe("a stale list", () => {
  test.each(paginations)("does not show what was written since the fault was set (%s)", async (_name, pagination) => {
    const service = await withFault(pagination, "abcde", { kind: "stale-list" });
    service.put("f", { name: "f" });
    service.put("a", { name: "A" });
    service.remove("c");
    expect(await pagesOf(service, pagination)).toEqual(["ab", "cd", "e"]);
    expect(stored(service)).toBe("Abdef");
    service.faults.clear();
    expect(await pagesOf(service, pagination)).toEqual(["Ab", "de", "f"]);
  });

  test("is so many writes behind, by request or by hand, and never earlier than the fault", async () => {
    const service = await withFault({ type: "none" }, "a", { kind: "stale-list", writesBehind: 2 });
    const listed = async () => namesIn(await call(service, "GET", "/rules"));
    const seen = [await listed()];
    const path = "/api/v1/merchants/rules";
    await call(service, "POST", path, { body: { name: "b" } });
    seen.push(await listed());
    service.put("c", { name: "c" });
    seen.push(await listed());
    service.remove("a");
    seen.push(await listed());
    // Neither is a write: what is refused, and what was not there.
    await call(service, "POST", path, { body: { createdAt: "" } });
    service.remove("none");
    seen.push(await listed());
    service.put("d", { name: "d" });
    seen.push(await listed());
    expect(seen).toEqual(["a", "a", "a", "ab", "ab", "abc"]);
    expect(stored(service)).toBe("bcd");
  });

  test.each(paginations)(
    "is so many milliseconds behind, and never earlier than the fault (%s)",
    async (_name, pagination) => {
      let now = Date.UTC(2026, 0, 1);
      const service = await withFault(pagination, "ab", { kind: "stale-list", lagMs: 1000 }, () => now);
      const seen = [await pagesOf(service, pagination)];
      service.put("c", { name: "c" });
      now += 600;
      service.remove("a");
      service.put("b", { name: "B" });
      seen.push(await pagesOf(service, pagination));
      now += 399;
      seen.push(await pagesOf(service, pagination));
      now += 1;
      seen.push(await pagesOf(service, pagination));
      now += 600;
      seen.push(await pagesOf(service, pagination));
      expect(seen).toEqual([["ab"], ["ab"], ["ab"], ["ab", "c"], ["Bc"]]);
    },
  );

  test("follows many writes within the time that it lags", async () => {
    let now = Date.UTC(2026, 0, 1);
    const service = await withFault({ type: "none" }, "", { kind: "stale-list", lagMs: 500 }, () => now);
    for (let n = 0; n < 2000; n++) {
      now += 1;
      service.put(`r${n}`, { name: "x" });
    }
    expect(namesIn(await call(service, "GET", "/rules"))).toHaveLength(1500);
  });

  test("is hit, and fresh again, by number", async () => {
    const service = await withFault({ type: "none" }, "a", { kind: "stale-list", request: 2, times: 1 });
    service.put("b", { name: "b" });
    const seen: string[] = [];
    for (let n = 0; n < 3; n++) seen.push(namesIn(await call(service, "GET", "/rules")));
    expect(seen).toEqual(["ab", "a", "ab"]);
  });
});

describe("a list that repeats its cursor", () => {
  test.each(paginations)("gives the first page for ever (%s)", async (_name, pagination) => {
    const service = await withFault(pagination, "abc", { kind: "repeat-cursor" });
    expect(await pagesOf(service, pagination)).toEqual(Array.from({ length: 9 }, () => "ab"));
    expect(service.faults.injected).toHaveLength(9);
  });

  test("gives the same cursor, which is the one that was asked for", async () => {
    const service = await withFault(cursor, "abc", { kind: "repeat-cursor" });
    const next = String((await read(service, cursor, 0)).at("/next"));
    expect((await read(service, cursor, 1, next)).at("/next")).toBe(next);
  });

  test("says that a page follows even where one holds all", async () => {
    const service = await withFault(cursor, "", { kind: "repeat-cursor" });
    const empty = await read(service, cursor, 0);
    expect([namesIn(empty), empty.at("/more"), typeof empty.at("/next")]).toEqual(["", true, "string"]);
  });

  test.each([
    { type: "link", limit: "limit" },
    { type: "header", limit: "limit", header: "Next-Page" },
    { type: "url", limit: "limit", url: "/links/next" },
  ] as const)(
    "names the URL of one page for ever, and a client sees that it leads back ($type)",
    async (pagination) => {
      const list: List = { path: "/rules", items: "/rules", pagination };
      const contract = defineContract({
        version: 1,
        operations: { list },
        auth: { present: null },
        limits: { pageSize: 2 },
      });
      const service = await serve({ contract });
      for (const name of "abc") service.put(name, { name });
      service.faults.set({ kind: "repeat-cursor" });
      const { url: baseUrl } = service;
      const client = new RulesClient({
        name: "default",
        baseUrl,
        contract,
        parameters: {},
        credentials: { kind: "none" },
      });
      await expect(allOf(client.list())).rejects.toThrow("leads back to a page before it");
      service.faults.clear();
      expect((await allOf(client.list())).map(({ ruleId }) => ruleId)).toEqual(["a", "b", "c"]);
      await client.close();
    },
  );

  test("is not one without pages", async () => {
    const service = await withFault({ type: "none" }, "ab", { kind: "repeat-cursor" });
    await call(service, "GET", "/rules");
    expect(service.faults.current).toMatchObject([{ matched: 0 }]);
  });
});

describe("a list that gives a rule twice", () => {
  test.each(paginations)("on one page (%s)", async (_name, pagination) => {
    const service = await withFault(pagination, "abcd", { kind: "double-rule", times: "always" });
    expect(await pagesOf(service, pagination)).toEqual(["aba", "cdc"]);
  });

  test.each(paginations)("on two pages (%s)", async (_name, pagination) => {
    const service = await withFault(pagination, "abcde", { kind: "double-rule", on: "two-pages" });
    expect(await pagesOf(service, pagination)).toEqual(["ab", "bcd", "e"]);
    expect(service.faults.injected).toMatchObject([{ request: 1 }]);
  });

  test("finds nothing to give twice in an empty one", async () => {
    const service = await withFault({ type: "none" }, "", { kind: "double-rule" });
    await call(service, "GET", "/rules");
    expect(service.faults.current).toMatchObject([{ matched: 1, injected: 0 }]);
  });
});

describe("a list that changes while it is read", () => {
  test.each([["pages", page] as const, ["offsets", offset] as const])(
    "shows a rule again when one came before it, and misses one when one went (%s)",
    async (_name, pagination) => {
      const service = await withFault(pagination, "abcdef", { kind: "shifting-list", change: "insert" });
      expect((await pagesOf(service, pagination)).slice(0, 3)).toEqual(["ab", "bc", "de"]);
      service.faults.set({ kind: "shifting-list", change: "remove" });
      expect(await pagesOf(service, pagination)).toEqual(["ab", "de", "f"]);
      expect(stored(service)).toBe("abcdef");
    },
  );

  test("does so with cursors that count positions", async () => {
    const service = await withFault(cursor, "abcd", { kind: "shifting-list", change: "insert", times: 1 });
    expect(await pagesOf(service, cursor)).toEqual(["ab", "bc", "d"]);
    service.faults.set({ kind: "shifting-list", change: "remove" });
    expect(await pagesOf(service, cursor)).toEqual(["ab", "d"]);
  });

  test("is one of several pages", async () => {
    const service = await withFault(offset, "ab", { kind: "shifting-list" });
    expect(await pagesOf(service, offset)).toEqual(["ab"]);
    expect(service.faults.current).toMatchObject([{ matched: 0, injected: 0 }]);
  });
});
