import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { placeOf } from "../../provider/reconcile/index.ts";
import { ruleShape, setShape } from "../../provider/state/shape.ts";
import { demandVersion, readState, stateVersion, writeInputs, writeState } from "../../provider/state/state.ts";
import type { JsonObject } from "../../sdk/json/index.ts";

function golden(name: string): JsonObject {
  const state: unknown = JSON.parse(readFileSync(new URL(`./golden/${name}.json`, import.meta.url), "utf8"));
  if (typeof state !== "object" || state === null) throw new Error(`${name} is no state`);
  return { ...state };
}

describe("state that is out there", () => {
  test.each([
    ["rule.v2", ruleShape],
    ["rule-set.v2", setShape],
  ] as const)("%s is read and written back as it is", (name, shape) => {
    const state = golden(name);
    const { rules, formerOwnerIds } = readState(shape, String(state.ruleId ?? "set-1"), state);
    expect(writeState(shape, rules, state, formerOwnerIds)).toEqual(state);
    const { ruleId, ruleIds, taken, marks, formerOwnerIds: _, stateVersion: __, ...inputs } = state;
    expect(writeInputs(shape, rules, state)).toEqual(inputs);
  });

  test("says of each rule its id, whose mark it had, and whether it was taken over", () => {
    const { rules, ...rest } = readState(setShape, "set-1", golden("rule-set.v2"));
    expect(rest).toEqual({
      connection: "default",
      connectionId: { ownerId: "00112233445566778899", identity: undefined },
      formerOwnerIds: ["99887766554433221100"],
      owner: "shop/prod/all",
    });
    expect([...rules]).toEqual([
      ["a", { ruleId: "1", definition: { name: "a" }, mark: placeOf("shop/prod/all", "a") }],
      ["b", { ruleId: "2", definition: { name: "b" }, mark: null, isTaken: true }],
      ["c", { ruleId: "3", definition: { name: "c" }, mark: "0123456789abcdef", isTaken: true }],
    ]);
  });

  test("says who the credentials were, where the connection could tell", () => {
    const state = golden("rule.v2");
    const { connection, connectionId } = readState(ruleShape, String(state.ruleId), state);
    expect([connection, connectionId]).toEqual([
      "sandbox",
      { ownerId: "00112233445566778899", identity: "aabbccddeeff" },
    ]);
  });

  test("of a rule that could not be changed is kept as a secret as a whole", () => {
    const state = { ...golden("rule-set.v2"), sealed: ["b"] };
    const { rules, formerOwnerIds } = readState(setShape, "set-1", state);
    const written = writeState(setShape, rules, state, formerOwnerIds);
    expect(written).toMatchObject({ sealed: ["b"], rules: { a: { name: "a" } } });
    expect(Object(Object(written.rules).b)).toMatchObject({ value: { name: "b" } });
    expect(JSON.stringify(written)).toContain("1b47061264138c4ac30d75fd1eb44270");
  });

  test.each([1, stateVersion + 1])("of another version, %s, is refused", (version) => {
    const reason = new RegExp(`state has version ${version}.*reads version ${stateVersion}.*later one`, "s");
    expect(() => demandVersion({ stateVersion: version })).toThrow(reason);
    for (const [shape, name] of [
      [ruleShape, "rule.v2"],
      [setShape, "rule-set.v2"],
    ] as const)
      expect(() => readState(shape, "1", { ...golden(name), stateVersion: version })).toThrow(reason);
    expect(() => demandVersion({ stateVersion })).not.toThrow();
  });
});
