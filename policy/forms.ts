import { z } from "zod";
import { noPointerIn, orIssue, pointer, strict } from "./base/configuration.ts";
import { plainError } from "./base/host.ts";
import { rulePolicy, shown } from "./base/rule-policy.ts";
import { withinTime } from "./base/within-time.ts";
import { misfits } from "./values.ts";

const range = strict({
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
  multipleOf: z.number().positive().optional(),
})
  .refine((bounds) => Object.keys(bounds).length > 0, { error: "found no bound, allowed: one or more", abort: true })
  .refine((bounds) => lowest(bounds) < highest(bounds) || numbersIn(bounds)(lowest(bounds)), {
    error: "no number is in this range",
  })
  .transform((bounds) => ({ contains: numbersIn(bounds), words: wordsOf(bounds) }));

/** Numbers at the configured pointers are in their range. What is there and is no number fails; a rule without it passes. */
export const numberRanges = rulePolicy({
  name: "number-ranges",
  description: "A rule has only numbers within their range at the configured pointers.",
  config: {
    ranges: z
      .record(pointer, range)
      .prefault({})
      .describe(
        'Ranges by pointer, with the words of JSON Schema: { "/priority": { "minimum": 1, "maximum": 1000, "multipleOf": 1 } }',
      ),
  },
  idle: ({ ranges }) => noPointerIn(ranges),
  check: (rule, { ranges }) =>
    misfits(rule, ranges, "shallow", ({ contains, words }, value) =>
      contains(value) ? undefined : `a number that is ${words}`,
    ),
});

type Bounds = Partial<
  Record<"minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", number | undefined>
>;

/** Returns a check of the bounds, by zod: it knows that 0.07 is a multiple of 0.01, which the remainder of a division does not. */
function numbersIn({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Bounds) {
  let numbers = z.number();
  if (minimum !== undefined) numbers = numbers.min(minimum);
  if (maximum !== undefined) numbers = numbers.max(maximum);
  if (exclusiveMinimum !== undefined) numbers = numbers.gt(exclusiveMinimum);
  if (exclusiveMaximum !== undefined) numbers = numbers.lt(exclusiveMaximum);
  if (multipleOf !== undefined) numbers = numbers.multipleOf(multipleOf);
  return (value: unknown): boolean => numbers.safeParse(value).success;
}

function wordsOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Bounds): string {
  const words = Object.entries({
    "at least": minimum,
    above: exclusiveMinimum,
    "at most": maximum,
    below: exclusiveMaximum,
    "a multiple of": multipleOf,
  });
  return words.flatMap(([word, bound]) => (bound === undefined ? [] : [`${word} ${bound}`])).join(", ");
}

function lowest({ minimum = -Infinity, exclusiveMinimum = -Infinity }: Bounds): number {
  return Math.max(minimum, exclusiveMinimum);
}

function highest({ maximum = Infinity, exclusiveMaximum = Infinity }: Bounds): number {
  return Math.min(maximum, exclusiveMaximum);
}

/** A longer string is not tested: the time that a pattern takes may grow much faster than the string. */
const longestText = 1000;

/** So long may a pattern take on one string, in milliseconds; most take a microsecond. */
const longestMs = 5000;

const pattern = z
  .string()
  .transform(orIssue((text) => new RegExp(text, "u"), "; allowed: a regular expression of JavaScript"));

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
  idle: ({ patterns }) => noPointerIn(patterns),
  check: (rule, { patterns }) =>
    misfits(rule, patterns, "shallow", (expression, value, pointer) => {
      if (typeof value === "string" && value.length > longestText)
        return `at most ${longestText} characters, which match ${expression}`;
      const isMatch = typeof value === "string" && matches(value, expression, `${shown(rule.label)} at ${pointer}`);
      return isMatch ? undefined : `a text that matches ${expression}`;
    }),
});

function matches(text: string, expression: RegExp, where: string): boolean {
  if (isQuick(expression)) return expression.test(text);
  const late = () =>
    plainError(
      `string-patterns: ${expression} took longer than ${longestMs / 1000} s on rule ${where}.\nWhat to do: write it without a repetition inside a repetition, such as (a+)+.`,
    );
  return withinTime(() => expression.test(text), longestMs, late);
}

/** Returns whether an expression ends soon on every string that is tested: it repeats no group, and little else. */
function isQuick({ source }: RegExp): boolean {
  const repetitions = source.match(/[*+{]/g) ?? [];
  return repetitions.length <= 2 && !/\)[*+?{]/.test(source);
}
