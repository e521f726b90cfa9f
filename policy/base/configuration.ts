import { z } from "zod";
import { reasonOf } from "../../sdk/json/json.ts";

/** A JSON Pointer, by a regular expression, which the engine can validate, too. */
export const pointer = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)*$/, { error: "allowed: a JSON Pointer (RFC 6901) with * for every element or field" })
  .describe("JSON Pointer (RFC 6901) into a definition; a segment * stands for every element or field");

export const pointers = z.array(pointer);

/** Some plain values for each pointer. */
export const valuesByPointer = z
  .record(pointer, z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).min(1))
  .default({});

/** A path; null where there is none. */
export const optionalPath = z.string().min(1).nullable().default(null);

/** Rules by name: a name of a `MerchantRule`, a key, `<set>/<key>`, or a name of a set, for all of its rules. */
export const ruleNames = z.array(z.string().min(1));

/** Returns why a policy has nothing to check where all of its options by pointer are empty; else undefined. */
export function noPointerIn(...options: readonly object[]): string | undefined {
  return options.every((each) => Object.keys(each).length === 0) ? "no pointer is configured" : undefined;
}

/** Returns a transform by `make`, in which an error that it throws is an issue of the configuration. */
export function orIssue<Given, Made>(make: (given: Given) => Made, allowed = "") {
  return (given: Given, context: z.RefinementCtx): Made => {
    try {
      return make(given);
    } catch (error) {
      context.addIssue({ code: "custom", message: `${reasonOf(error)}${allowed}` });
      return z.NEVER;
    }
  };
}

/** Returns a share from 0 to 1 as a percentage of up to six digits: `12.5 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(6))} %`;
}

/** Returns the schema of an object without unknown fields. Its error lists the fields of `shape`, and those of `beside`. */
export function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape, beside: readonly string[] = []) {
  const known = [...Object.keys(shape), ...beside].join(", ");
  const misspelt = (keys: readonly string[]) => `found ${keys.join(", ")}, allowed: ${known}`;
  return z.strictObject(shape, {
    error: (issue) => (issue.code === "unrecognized_keys" ? misspelt(issue.keys) : undefined),
  });
}
