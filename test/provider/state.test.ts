import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readRuleSetState, writeRuleSetInputs, writeRuleSetState } from "../../provider/hooks/set-wire.ts";
import { migrate, stateVersion } from "../../provider/hooks/state-versions.ts";
import { readRuleState, writeRuleInputs, writeRuleState } from "../../provider/hooks/wire.ts";

function golden(name: string) {
  return JSON.parse(readFileSync(new URL(`./golden/${name}.json`, import.meta.url), "utf8"));
}

describe("state that is out there", () => {
  test("of a rule, version 1, is read and written back as it is", () => {
    const state = golden("rule.v1");
    const { connection, ...known } = readRuleState(state.ruleId, state);
    expect(connection).toBe("sandbox");
    expect(known).toEqual({ ruleId: state.ruleId, definition: state.definition, takeover: "3f2a91c0" });
    expect(writeRuleState(known, state)).toEqual(state);
    const { ruleId, takeover, ...inputs } = state;
    expect(writeRuleInputs(known, state)).toEqual(inputs);
  });

  test("of a set, version 1, is read and written back as it is", () => {
    const state = golden("rule-set.v1");
    const { rules, connection } = readRuleSetState(state);
    expect(connection).toBe("default");
    expect(rules.get("b")).toEqual({ ruleId: "2", definition: { name: "b" }, takeover: "3f2a91c0" });
    expect(writeRuleSetState(rules, state)).toEqual(state);
    const { ruleIds, takeovers, ...inputs } = state;
    expect(writeRuleSetInputs(rules, state)).toEqual(inputs);
  });

  test("of a version that is not known yet is refused", () => {
    expect(stateVersion).toBe(1);
    expect(() => migrate({ stateVersion: 2 })).toThrow(/state has version 2.*later one/s);
  });
});
