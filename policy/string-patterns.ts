import { z } from "zod";
import { reasonOf } from "../sdk/json/json.ts";
import { pointer } from "./base/configuration.ts";
import { plainError } from "./base/plain-error.ts";
import { rulePolicy, shown } from "./base/rule-policy.ts";
import { withinTime } from "./base/within-time.ts";

/** A longer string is not tested: the time that a pattern takes may grow much faster than the string. */
const longestText = 1000;

/** So long may a pattern take on one string, in milliseconds; most take a microsecond. */
const longestMs = 5000;

const pattern = z.string().transform((text, context) => {
  try {
    return new RegExp(text, "u");
  } catch (error) {
    context.addIssue({ code: "custom", message: `${reasonOf(error)}; allowed: a regular expression of JavaScript` });
    return z.NEVER;
  }
});

/**
 * Strings at the configured pointers match a regular expression of JavaScript (flag u). A value that is no string
 * fails, and so does a string of more than 1,000 characters, because it is not tested. A rule without the value passes. A
 * pattern that takes more than 5 seconds on one string, as `(a+)+$` can, ends in an error that names it.
 */
export const stringPatterns = rulePolicy({
  name: "string-patterns",
  description: "A rule has only texts of the configured form at the configured pointers.",
  config: {
    patterns: z
      .record(pointer, pattern)
      .prefault({})
      .describe('Regular expressions by pointer; ^ and $ are not implied: { "/name": "^[a-z][a-z0-9-]*$" }'),
  },
  idle: ({ patterns }) => (Object.keys(patterns).length === 0 ? "no pointer is configured" : undefined),
  *check(rule, { patterns }) {
    for (const [at, expression] of Object.entries(patterns)) {
      for (const place of rule.at(at, "shallow")) {
        const { value } = place;
        if (typeof value === "string" && value.length > longestText)
          yield { ...place, allowed: `at most ${longestText} characters, which match ${expression}` };
        else if (typeof value !== "string" || !matches(value, expression, `${shown(rule.label)} at ${place.pointer}`))
          yield { ...place, allowed: `a text that matches ${expression}` };
      }
    }
  },
});

function matches(text: string, expression: RegExp, where: string): boolean {
  if (isQuick(expression)) return expression.test(text);
  const late = () =>
    plainError(
      `string-patterns: ${expression} took longer than ${longestMs / 1000} s on rule ${where}.\nWhat to do: write it without a repetition inside a repetition, such as (a+)+.`,
    );
  return withinTime(() => expression.test(text), longestMs, late);
}

/**
 * Returns whether an expression ends soon on every string that is tested: it repeats no group, and little else. Most do.
 */
function isQuick({ source }: RegExp): boolean {
  const repetitions = source.match(/[*+{]/g) ?? [];
  return repetitions.length <= 2 && !/\)[*+?{]/.test(source);
}
