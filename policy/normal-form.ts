import type { ResourceValidationPolicy } from "@pulumi/policy";
import { ruleType } from "../provider/host/types.ts";
import { definitionOf, type Json, segmentsOf, withValueAt } from "../sdk/json/index.ts";
import { isPlainObject } from "../sdk/json/json.ts";
import { type AnalyzedResource, declaresRules } from "./base/analyzed-rule.ts";
import { noPointerIn, pointers } from "./base/configuration.ts";
import { placesAt } from "./base/places.ts";
import { described, type PolicyConfig, type PolicyOptions, rulePolicy } from "./base/rule-policy.ts";
import { behind, isUnknownField } from "./base/shown-values.ts";

const config = {
  trim: pointers.default([]).describe('Where texts have no blanks at their ends: ["/name"]'),
  upperCase: pointers
    .default([])
    .describe('Where currency codes stand: ["/currency"]. Anything but three letters is left as it is'),
};

const options: PolicyOptions<typeof config> = {
  name: "normal-form",
  description: "Texts have no blanks around them, and currency codes are in capital letters.",
  severity: "low",
  enforcementLevel: "disabled",
  config,
  idle: ({ trim, upperCase }) => noPointerIn(trim, upperCase),
};

const { parse } = described(options);

/**
 * Strings without blanks around them, and currency codes in capital letters. Off unless its `enforcementLevel` is
 * configured: `remediate` changes what is sent to the service, so that it is no longer what the program says; `advisory` and
 * `mandatory` report what it would correct. A secret is not corrected, but reported; what is not known yet is neither.
 */
export const normalForm: ResourceValidationPolicy = {
  ...rulePolicy({
    ...options,
    *check(rule, config) {
      for (const { pattern, correct, found, allowed } of correctionsOf(config)) {
        for (const { pointer, value } of rule.at(pattern, "shallow"))
          if (correct(value) !== value) yield { pointer, found, allowed };
      }
    },
  }),
  remediateResource(args) {
    if (!declaresRules(args)) return undefined;
    let corrected = 0;
    for (const correction of correctionsOf(parse(args.getConfig()).config)) corrected += correctAll(args, correction);
    return corrected === 0 ? undefined : args.props;
  },
};

/** Nothing but three letters is taken for a currency code (ISO 4217), with or without blanks around it. */
const currencyCode = /^\s*[A-Za-z]{3}\s*$/;

/** Returns what is to be corrected. `found` does not hold the value: a secret is reported, too. */
function correctionsOf({ trim, upperCase }: PolicyConfig<typeof config>) {
  return [
    ...trim.map((pattern) => ({
      pattern,
      correct: (value: Json) => (typeof value === "string" ? value.trim() : value),
      found: "blanks at an end of the text",
      allowed: "none",
    })),
    ...upperCase.map((pattern) => ({
      pattern,
      correct: (value: Json) =>
        typeof value === "string" && currencyCode.test(value) ? value.trim().toUpperCase() : value,
      found: "a currency code with small letters or blanks",
      allowed: "three capital letters",
    })),
  ];
}

/** Corrects the properties of a resource. @returns how many values were wrong */
function correctAll(
  { type, props }: AnalyzedResource,
  { pattern, correct }: ReturnType<typeof correctionsOf>[number],
): number {
  let corrected = 0;
  const definitions = placesAt(plain(props) ?? null, type === ruleType ? "/definition" : "/rules/*");
  for (const { pointer, value: rule } of definitions) {
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
