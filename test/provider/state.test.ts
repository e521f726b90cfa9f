import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KnownRule } from "../../provider/decide/plan.ts";
import { markId, resourceHash } from "../../provider/merchant/mark.ts";
import { linkText, type Site } from "../../provider/merchant/site.ts";
import { ruleShape, setShape } from "../../provider/state/shape.ts";
import { demandVersion, readState, stateVersion, writeInputs, writeState } from "../../provider/state/state.ts";
import { defined, type JsonObject } from "../../sdk/json/index.ts";
import { hooksHere, sessionOf } from "../support/stack/hosts.ts";

function golden(name: string): JsonObject {
  const state: unknown = JSON.parse(readFileSync(new URL(`./golden/${name}.json`, import.meta.url), "utf8"));
  if (typeof state !== "object" || state === null) throw new Error(`${name} is no state`);
  return { ...state };
}

const ownerId = "00112233445566778899aabbccddeeff";
const atShop: Site = {
  connection: "default",
  address: "https://payments.example.com",
  key: "0123456789abcdef",
  identity: null,
};
const before: Site = { connection: "old", address: "https://old.example.com", key: null, identity: null };

describe("state that is out there", () => {
  test.each([
    ["rule.v3", ruleShape],
    ["rule-set.v3", setShape],
  ] as const)("%s is read and written back as it is", (name, shape) => {
    const state = golden(name);
    const { rules } = readState(shape, String(state.ruleId ?? "set-1"), state);
    expect(writeState(shape, rules, state)).toEqual(state);
    const { ruleId, ruleIds, taken, notOurs, marks, at, elsewhere, stateVersion: _, ...inputs } = state;
    expect(writeInputs(shape, rules, state)).toEqual(inputs);
  });

  test.each(["owner", "connection"] as const)("%s.v3 is read and written back as it is", async (kind) => {
    const environment = { MERCHANT_RULES_BASE_URL: "https://sandbox.example.com", MERCHANT_RULES_TOKEN: "t" };
    const { __provider, ...state } = golden(`${kind}.v3`);
    const read = await hooksHere(kind, sessionOf(environment)).read("00112233445566778899aabbccddeeff", state);
    expect(read.props).toEqual(state);
    const { stateVersion: _, link, ...inputs } = state;
    expect(read.inputs).toEqual(inputs);
  });

  test("has the undeclared paths of most rules once, of others by key, and says of which they are not known", () => {
    const row = (undeclared?: string[]): KnownRule => ({ ruleId: "1", definition: {}, ...defined({ undeclared }) });
    const rules = new Map([
      ["a", row(["/seen"])],
      ["b", row(["/seen"])],
      ["c", row([])],
      ["d", row()],
    ]);
    const state = writeState(setShape, rules, {});
    expect(state.undeclared).toEqual({ "*": ["/seen"], c: [], d: null });
    const read = readState(setShape, "set-1", state).rules;
    expect([...read].map(([key, { undeclared }]) => [key, undeclared])).toEqual(
      [...rules].map(([key, { undeclared }]) => [key, undeclared]),
    );
    const one = writeState(ruleShape, new Map([["", row([])]]), {});
    expect(readState(ruleShape, "1", one).rules.get("")).toMatchObject({ undeclared: [] });
    expect(writeState(setShape, new Map([["a", row()]]), {})).not.toHaveProperty("undeclared");
  });

  test("leaves out undeclared paths that would fill the state", () => {
    const rules = Array.from({ length: 1000 }, (_, k): [string, KnownRule] => [
      `k${k}`,
      { ruleId: `${k}`, definition: {}, undeclared: [`/${"x".repeat(300)}${k}`] },
    ]);
    expect(writeState(setShape, new Map(rules), {})).not.toHaveProperty("undeclared");
  });

  test("says of each rule its id, its mark, where it stands, and whether it was taken over or is not ours", () => {
    const { rules, ...rest } = readState(setShape, "set-1", golden("rule-set.v3"));
    const names = "shop/prod";
    const link = { ownerId, names, site: atShop };
    expect(rest).toEqual({ connection: "default", harmed: [], link, owner: "shop/prod/all", names, site: atShop });
    const mark = (resource: string, bits: string, of = ownerId) => markId({ ownerId: of, resource, bits, names: "" });
    const own = resourceHash("", "shop/prod/all", "a");
    const [two, other] = ["2".repeat(16), "9".repeat(32)];
    expect([...rules]).toEqual([
      ["a", { ruleId: "1", definition: { name: "a" }, mark: mark(own, "1".repeat(16)), site: atShop }],
      ["b", { ruleId: "2", definition: { name: "b" }, site: before, isTaken: true }],
      ["c", { ruleId: "3", definition: { name: "c" }, mark: mark(two, "3".repeat(16)), site: atShop, isTaken: true }],
      [
        "d",
        { ruleId: "4", definition: { name: "d" }, mark: mark(two, "4".repeat(16), other), site: atShop, notOurs: true },
      ],
    ]);
  });

  test("says who the credentials were, where somebody has told it", () => {
    const state = golden("rule.v3");
    const { connection, link } = readState(ruleShape, String(state.ruleId), state);
    expect([connection, link?.site.identity]).toEqual(["sandbox", "aabbccddeeff"]);
  });

  test("of a rule that could not be changed is kept as a secret as a whole", () => {
    const state = { ...golden("rule-set.v3"), sealed: ["b"] };
    const written = writeState(setShape, readState(setShape, "set-1", state).rules, state);
    expect(written).toMatchObject({ sealed: ["b"], rules: { a: { name: "a" } } });
    expect(Object(Object(written.rules).b)).toMatchObject({ value: { name: "b" } });
    expect(JSON.stringify(written)).toContain("1b47061264138c4ac30d75fd1eb44270");
  });

  test.each([
    [stateVersion - 1, /empty state.*export/],
    [stateVersion + 1, /later one/],
  ])("of another version, %s, is refused with the way on", (version, advice) => {
    const reason = new RegExp(`state has version ${version}.*reads version ${stateVersion}.*${advice.source}`, "s");
    expect(() => demandVersion({ stateVersion: version })).toThrow(reason);
    for (const [shape, name] of [
      [ruleShape, "rule.v3"],
      [setShape, "rule-set.v3"],
    ] as const)
      expect(() => readState(shape, "1", { ...golden(name), stateVersion: version })).toThrow(reason);
    expect(() => demandVersion({ stateVersion })).not.toThrow();
  });
});

describe("rows", () => {
  const hex = (length: number) => fc.nat().map((number) => number.toString(16).padStart(length, "0"));
  const owner = "shop/prod/all";
  const site: fc.Arbitrary<Site> = fc.constantFrom(
    atShop,
    before,
    { ...atShop, identity: "aabbccddeeff" },
    { ...atShop, key: null },
  );
  const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "a (to be deleted)", "toString"), { maxLength: 6 });
  const markOf = (key: string) =>
    fc
      .tuple(
        fc.oneof(fc.constant(ownerId), hex(32)),
        fc.oneof(fc.constant(resourceHash("", owner, key)), fc.constant(resourceHash("shop", owner, key)), hex(16)),
        hex(16),
      )
      .map(([of, resource, bits]) => markId({ ownerId: of, resource, bits, names: "" }));
  const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
  const row = (key: string): fc.Arbitrary<KnownRule> =>
    fc
      .record({
        mark: maybe(markOf(key)),
        site: maybe(site),
        notOurs: maybe(fc.constant<true>(true)),
        isTaken: maybe(fc.constant<true>(true)),
        doubt: maybe(fc.constant<JsonObject>({ note: "x" })),
      })
      .map((parts) => ({ ruleId: `id of ${key}`, definition: { name: key }, ...defined(parts) }));
  const rows = keys.chain((each) => fc.tuple(...each.map((key) => row(key).map((known) => [key, known] as const))));

  test("are read as they were written, whatever the owner and the link", () => {
    const links = fc.constantFrom(linkText({ ownerId, names: "shop/prod", site: atShop }), undefined);
    fc.assert(
      fc.property(rows, links, (given, link) => {
        const from = defined({ __owner: { [owner]: null }, __connection: link, rules: {} });
        const written = writeState(setShape, new Map(given), from);
        expect([...readState(setShape, "set-1", written).rules]).toEqual(given.map((each) => [...each]));
        expect("at" in written).toBe(given.some(([, { site }]) => site !== undefined));
      }),
    );
  });
});
