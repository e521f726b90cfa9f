import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { startWorld, type World } from "../../../local/testing/index.ts";
import { MerchantRuleSet } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { HookStack, openWorld as openService } from "../../support/stack/hooks.ts";
import { namesOf } from "../../support/stack/service.ts";
import { variants } from "../../support/variants.ts";
import { exported } from "./exported.ts";

type List = NonNullable<NonNullable<ContractInput["operations"]>["list"]>;
type Pagination = NonNullable<List["pagination"]>;

const path = "/api/v1/merchants/rules";
const contractOf = (pagination: Pagination, list: Partial<List> = {}): ContractInput => ({
  version: 1,
  operations: {
    delete: { identifyBy: { in: "query" } },
    update: { path: `${path}/{ruleId}` },
    list: { path, items: "/rules", lagMs: 0, pagination, ...list },
  },
  rule: { naturalKey: "/name" },
  limits: { pageSize: 3 },
});

const count = 10;
const names = Array.from({ length: count }, (_, k) => `rule-${k}`);
const declared = Object.fromEntries(names.map((name, priority) => [name, { name, priority }]));

async function open(contract: ContractInput): Promise<World> {
  const world = await startWorld({ contract, program: () => void new MerchantRuleSet("all", { rules: declared }) });
  onTestFinished(() => world.close());
  return world;
}

const paginations: [string, Pagination][] = [
  ["a cursor", { type: "cursor", limit: "limit", cursor: "after", next: "/nextCursor", more: "/hasMore" }],
  ["a page's number", { type: "page", limit: "limit", page: "number", first: 0, more: "/hasMore" }],
  ["an offset", { type: "offset", limit: "limit", offset: "skip", more: "/hasMore" }],
  ["a URL in Link", { type: "link", limit: "limit" }],
  ["a URL in a header", { type: "header", limit: "limit", header: "Next-Page" }],
  ["a URL in the body", { type: "url", limit: "limit", url: "/links/next" }],
];

describe.each(variants(paginations))("a set of ten rules in pages of three, by %s", (_, pagination) => {
  test("is made once, read whole, changed, exported whole and destroyed", async () => {
    const contract = contractOf(pagination);
    const world = await open(contract);
    // A rule by hand on the first page: it is nobody's.
    world.add({ name: "by hand" });
    const { hasChanges } = await world.up();
    expect(hasChanges).toBe(true);
    const lists = () => world.service.requests.filter(({ operation }) => operation === "list").length;
    world.service.resetRequests();
    await world.refresh();
    expect(lists()).toBeGreaterThanOrEqual(4);
    await world.expectNoChanges();
    expect((await world.drift()).rules.map(({ key }) => key)).toEqual(["by hand"]);
    world.remove({ name: "rule-9" });
    await world.up({ refresh: true });
    expect(namesOf(world.rules())).toEqual(["by hand", ...names]);
    const { code, stdout, stderr, rules } = await exported(world.service.url, "token-of-default", contract);
    expect(code, stdout + stderr).toBe(0);
    expect(rules).toEqual({ "by hand": { name: "by hand" }, ...declared });
    await world.destroy();
    expect(namesOf(world.rules())).toEqual(["by hand"]);
  });
});

describe.each(variants(paginations.filter(([, { type }]) => type !== "page" && type !== "offset")))(
  "a list that comes in pages by %s, under a contract that does not say so",
  (_, pagination) => {
    const contract = contractOf(pagination);
    const spoken = contractOf({ type: "none" });

    test("is refused with the field to set; nothing is made twice, and nothing is exported in part", async () => {
      const world = await openService({ contract, spoken });
      for (const name of names) world.service.put(undefined, { name, priority: 0 });
      const stack = new HookStack(world, "merchantRuleSet");
      const set = { all: { rules: declared } };
      const failures = await stack.up(set);
      expect(failures).toHaveLength(1);
      expect(failures[0]).toContain("that the list goes on, where it ends by operations.list.pagination");
      const [advised = ""] = /(?<=here likely to )\{[^}]*\}/.exec(failures[0] ?? "") ?? [];
      expect(parse(advised)).toMatchObject({ type: pagination.type });
      expect(world.service.rules()).toHaveLength(count);
      const { MERCHANT_RULES_BASE_URL: url = "", MERCHANT_RULES_TOKEN: token = "" } = world.environment;
      const cut = await exported(url, token, spoken);
      expect(cut.code).not.toBe(0);
      expect(cut.rules).toEqual({});
      expect(cut.stdout + cut.stderr).toContain("operations.list.pagination");
      // As advised, with the names that the service has.
      const described = contractOf({ ...pagination, ...parse(advised) });
      expect(Object.keys((await exported(url, token, described)).rules).sort()).toEqual(names);
      expect(world.service.rules()).toHaveLength(count);
    });
  },
);
