import { z } from "zod";

/** A JSON Pointer as a regular expression, which the engine can validate, too. */
const pointerPattern = /^(\/([^~/]|~[01])*)*$/;

export const pointer = z
  .string()
  .regex(pointerPattern, { error: "allowed: a JSON Pointer (RFC 6901) with * for every element or field" })
  .describe("JSON Pointer (RFC 6901) into a definition; a segment * stands for every element or field");

export const pointers = z.array(pointer);

/** A value that can be compared. */
export const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** Rules by name: a name of a `MerchantRule`, a key, `<set>/<key>`, or a name of a set, for all of its rules. */
export const ruleNames = z.array(z.string().min(1));

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
