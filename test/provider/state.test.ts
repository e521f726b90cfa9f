import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ruleShape, setShape } from "../../provider/hooks/shape.ts";
import { asKnownTo, migrate, readState, stateVersion, writeInputs, writeState } from "../../provider/hooks/state.ts";
import { isJsonObject, type JsonObject } from "../../sdk/rules/index.ts";

function golden(name: string): JsonObject {
  const state: unknown = JSON.parse(readFileSync(new URL(`./golden/${name}.json`, import.meta.url), "utf8"));
  if (typeof state !== "object" || state === null) throw new Error(`${name} is no state`);
  return { ...state };
}

describe("state that is out there", () => {
  test("of a rule, version 1, is read; its takeover tag is dropped", () => {
    const state = golden("rule.v1");
    const { rules, ...rest } = readState(ruleShape, String(state.ruleId), state);
    expect(rest).toEqual({ connection: "sandbox", owner: "", whereabouts: undefined });
    expect([...rules]).toEqual([["", { ruleId: state.ruleId, definition: state.definition }]]);
    const written = writeState(ruleShape, rules, { at: "https://x" }, state);
    const { takeover, ...kept } = state;
    expect(written).toEqual({ ...kept, __place: { at: "https://x" }, stateVersion });
    const { ruleId, ...inputs } = kept;
    expect(writeInputs(ruleShape, rules, state)).toEqual(inputs);
  });

  test("of a set, version 1, is read; its takeover tags are dropped", () => {
    const state = golden("rule-set.v1");
    const { rules, connection } = readState(setShape, "set-1", state);
    expect(connection).toBe("default");
    expect(rules.get("b")).toEqual({ ruleId: "2", definition: { name: "b" } });
    const { takeovers, ...kept } = state;
    expect(writeState(setShape, rules, { at: "https://x" }, state)).toEqual({
      ...kept,
      __place: { at: "https://x" },
      stateVersion,
    });
    const { ruleIds, ...inputs } = kept;
    expect(writeInputs(setShape, rules, state)).toEqual(inputs);
  });

  test.each([
    ["rule.v2", ruleShape],
    ["rule-set.v2", setShape],
  ] as const)("%s is read and written back as it is", (name, shape) => {
    const state = golden(name);
    const { rules, whereabouts } = readState(shape, String(state.ruleId ?? "set-1"), state);
    if (whereabouts === undefined) throw new Error("the state says no place");
    const sealed = [...rules.values()].some(({ isSealed }) => isSealed);
    const written = writeState(shape, rules, whereabouts, state);
    if (!sealed) expect(written).toEqual(state);
    else expect(JSON.stringify(written)).toContain("1b47061264138c4ac30d75fd1eb44270");
  });

  test("of a resource that was renamed, or whose stack was, is known with the mark that it has", () => {
    const state = readState(setShape, "set-1", golden("rule-set.v2"));
    expect(asKnownTo(state.owner, state)).toBe(state.rules);
    const renamed = asKnownTo("shop/prod/new", state);
    expect([...renamed.values()].map(({ markedAs }) => markedAs)).toEqual(["shop/prod/all", "shop/prod/other"]);
  });

  test("of a version that is not known yet is refused", () => {
    expect(() => migrate({ stateVersion: stateVersion + 1 })).toThrow(/state has version 3.*later one/s);
    expect(isJsonObject(migrate({ stateVersion }))).toBe(true);
  });
});
