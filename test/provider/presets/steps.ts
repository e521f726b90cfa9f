import { expect } from "vitest";
import { loadPreset, type Preset } from "../../../sdk/contract/index.ts";
import { asWritten, canonical, field, type JsonObject, withoutValueAt } from "../../../sdk/json/index.ts";
import type { Declared } from "../../support/stack/engines.ts";
import type { EngineName } from "../../support/stack/project.ts";
import { type Described, openPreset } from "./presets.ts";

/** The steps of a rule's life, each with what the service has to hold after it. */
export const stepNames = [
  "made",
  "left alone",
  "changed",
  "seen and healed",
  "made again",
  "fewer",
  "destroyed",
] as const;
export type StepName = (typeof stepNames)[number];
/** What `npm test` tries of each preset. */
export const shortLife: readonly StepName[] = ["made", "left alone", "changed", "destroyed"];
export type Form = "a set" | "single rules";

/** Takes rules through the steps. `done` hears of each that ended well. */
export async function live(
  of: Described,
  { engine, form, steps = stepNames }: { engine: EngineName; form: Form; steps?: readonly StepName[] },
  done: (step: StepName) => void,
): Promise<void> {
  const { service, stack } = await openPreset(of, engine);
  const rules = (values: readonly number[]): Record<string, JsonObject> =>
    Object.fromEntries(values.map((value, k) => [`r${k}`, of.rule(k, value)]));
  const declared = (each: Record<string, JsonObject>): Declared =>
    form === "a set"
      ? { all: { rules: each } }
      : Object.fromEntries(Object.entries(each).map(([name, definition]) => [name, { definition }]));
  const writes = (): number => {
    const count = ["create", "update", "delete"].reduce((sum, operation) => {
      return sum + service.requests.filter((each) => each.operation === operation).length;
    }, 0);
    service.resetRequests();
    return count;
  };
  const holds = (each: Record<string, JsonObject>): void => {
    const seen = service.rules().map(({ rule }) => canonical(withoutMark(rule, of.preset), asWritten));
    expect(seen.sort()).toEqual(
      Object.values(each)
        .map((rule) => canonical(rule, asWritten))
        .sort(),
    );
  };
  const changed = rules([1, 7, 1, 8, 1]);
  const life: Record<StepName, () => Promise<void>> = {
    made: async () => {
      await stack.up(declared(rules([1, 1, 1, 1, 1])));
      holds(rules([1, 1, 1, 1, 1]));
    },
    "left alone": async () => {
      writes();
      await stack.isUnchanged();
      expect(writes()).toBe(0);
    },
    changed: async () => {
      await stack.up(declared(changed));
      holds(changed);
    },
    "seen and healed": async () => {
      const edited = service.rules()[0];
      if (edited === undefined) throw new Error("there is no rule to edit");
      // A rule that gets another name under an id that may be given again would be another rule.
      const { naturalKey, idScope } = loadPreset(of.preset).rule;
      const kept =
        idScope === null && naturalKey !== null
          ? { [naturalKey.slice(1)]: field(edited.rule, naturalKey.slice(1)) ?? null }
          : {};
      service.put(edited.ruleId, { ...edited.rule, ...of.rule(99, 99), ...kept });
      await stack.succeeds("up", { refresh: true });
      holds(changed);
    },
    "made again": async () => {
      service.remove(service.rules()[1]?.ruleId ?? "");
      await stack.succeeds("up", { refresh: true });
      holds(changed);
    },
    fewer: async () => {
      const fewer = Object.fromEntries(Object.entries(changed).slice(0, 3));
      await stack.up(declared(fewer));
      holds(fewer);
    },
    destroyed: async () => {
      await stack.succeeds("destroy");
      holds({});
      const malformed = service.requests.filter(({ status }) => [400, 401, 405, 415].includes(status));
      expect(malformed).toEqual([]);
    },
  };
  for (const step of steps) {
    await life[step]();
    done(step);
  }
}

function withoutMark({ managedBy: _, metadata: __, ...rule }: JsonObject, preset: Preset): JsonObject {
  const { owner } = loadPreset(preset).rule;
  return owner === null ? rule : withoutValueAt(rule, owner.at);
}
