import { z } from "zod";
import {
  asWritten,
  defined,
  isJsonObject,
  isMask,
  type Json,
  masked,
  type Pointer,
  withoutMasks,
} from "../../sdk/json/index.ts";

/** The text in the place of a value that a run makes. */
export const knownAfterUp = "(known after up)";

export const jsonSchema: z.ZodType<Json> = z.json();
/** An object of JSON. */
export const objectSchema = z.record(z.string(), jsonSchema);

/** The rule as a whole on each side. A side on which it is not has none. */
export const contentSchema = z.strictObject({
  before: objectSchema.optional().describe("On the side `sides.before`: what it was, or is declared to be"),
  after: objectSchema.optional().describe("On the side `sides.after`: what it will be, or is at the service"),
});
type Content = z.output<typeof contentSchema>;

/**
 * Returns the rule of a finding on both sides, `[secret]` in the place of masks and of what the patterns name. A side is
 * left out on which the rule is not, or is a secret as a whole.
 * @param secrets patterns as `rule.secret` of a contract has them; none for definitions that have their masks already
 */
export function contentOf(
  { before, after }: { readonly before?: Json | undefined; readonly after?: Json | undefined },
  secrets: readonly Pointer[] = [],
): { readonly rule?: Content } {
  const [was, is] = [shownOf(before, secrets), shownOf(after, secrets)];
  if (was === undefined && is === undefined) return {};
  return { rule: defined({ before: was, after: is }) };
}

function shownOf(definition: Json | undefined, secrets: readonly Pointer[]): Content["before"] {
  if (!isJsonObject(definition) || isMask(definition)) return undefined;
  const shown = withoutMasks(masked(definition, secrets, asWritten));
  return isJsonObject(shown) ? { ...shown } : undefined;
}
