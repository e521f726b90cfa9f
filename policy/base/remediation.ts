import type { ResourceValidationPolicy } from "@pulumi/policy";
import type { z } from "zod";
import { ruleType } from "../../provider/host/types.ts";
import { definitionOf, type Json, type Pointer, segmentsOf, withValueAt } from "../../sdk/json/index.ts";
import { isPlainObject } from "../../sdk/json/json.ts";
import { type AnalyzedResource, declaresRules } from "./analyzed-rule.ts";
import { placesAt } from "./places.ts";
import { described, type PolicyConfig, type PolicyOptions, rulePolicy } from "./rule-policy.ts";
import { behind, isUnknownField } from "./shown-values.ts";

/** The way in which a value is put right. */
export interface Correction {
  /** The values that it is about. */
  readonly pointer: Pointer;
  /** The right value; the same where it is right already. */
  readonly correct: (value: Json) => Json;
  /** The fault of a wrong value, in words that do not hold the value: a secret is reported, too. */
  readonly found: string;
  readonly allowed: string;
}

/**
 * Returns a policy that corrects rules before anything is done with them, at the level `remediate`. At `advisory` and
 * `mandatory` it reports what it would correct. It is off unless it is configured. A secret is not corrected, but
 * reported; what is not known yet is neither.
 */
export function remediation<Shape extends z.core.$ZodLooseShape>(
  policy: Omit<PolicyOptions<Shape>, "enforcementLevel"> & {
    readonly corrections: (config: PolicyConfig<Shape>) => readonly Correction[];
  },
): ResourceValidationPolicy {
  const options: PolicyOptions<Shape> = { ...policy, enforcementLevel: "disabled" };
  const { parse } = described(options);
  return {
    ...rulePolicy({
      ...options,
      *check(rule, config) {
        for (const { pointer: pattern, correct, found, allowed } of policy.corrections(config)) {
          for (const { pointer, value } of rule.at(pattern, "shallow"))
            if (correct(value) !== value) yield { pointer, found, allowed };
        }
      },
    }),
    remediateResource(args) {
      if (!declaresRules(args)) return undefined;
      const { config } = parse(args.getConfig());
      let corrected = 0;
      for (const correction of policy.corrections(config)) corrected += correctAll(args, correction);
      return corrected === 0 ? undefined : args.props;
    },
  };
}

/** Corrects the properties of a resource. @returns how many values were wrong */
function correctAll({ type, props }: AnalyzedResource, { pointer: pattern, correct }: Correction): number {
  let corrected = 0;
  for (const { pointer, value: rule } of placesAt(
    plain(props) ?? null,
    type === ruleType ? "/definition" : "/rules/*",
  )) {
    const definition = definitionOf(rule);
    const wrong = placesAt(definition, pattern).flatMap((place) => {
      const right = correct(place.value);
      return right === place.value ? [] : [{ pointer: place.pointer, right }];
    });
    // A rule that is declared as a string is written as a whole.
    if (typeof rule === "string" && wrong.length > 0) {
      const right = wrong.reduce<Json>((fixed, each) => withValueAt(fixed, each.pointer, each.right), definition);
      if (write(props, segmentsOf(pointer), JSON.stringify(right))) corrected += wrong.length;
    } else for (const each of wrong) if (write(props, segmentsOf(pointer + each.pointer), each.right)) corrected += 1;
  }
  return corrected;
}

/** Returns the plain part of the properties, without secrets and files. An element of an array keeps its place. */
function plain(shown: unknown): Json | undefined {
  const value = behind(shown);
  if (Array.isArray(value)) return value.map((each: unknown) => plain(each) ?? null);
  if (typeof value === "object" && value !== null) {
    if (!isPlainObject(value)) return undefined;
    const fields = Object.entries(value).map(([key, each]) => [key, plain(each)] as const);
    return Object.fromEntries(fields.filter((field): field is [string, Json] => field[1] !== undefined));
  }
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}

/** Writes through the proxies of the policy host, as its own examples do. @returns false where the value is not known yet */
function write(holder: object, [step, ...rest]: readonly string[], value: Json): boolean {
  if (step === undefined || isUnknownField(holder, step)) return false;
  if (rest.length === 0) return Reflect.set(holder, step, value);
  const inside: unknown = Reflect.get(holder, step);
  return typeof inside === "object" && inside !== null && write(inside, rest, value);
}
