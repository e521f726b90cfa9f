import { z } from "zod";
import { pointer, strict } from "./base/configuration.ts";
import { rulePolicy } from "./base/rule-policy.ts";

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
  idle: ({ ranges }) => (Object.keys(ranges).length === 0 ? "no pointer is configured" : undefined),
  *check(rule, { ranges }) {
    for (const [pattern, { contains, words }] of Object.entries(ranges)) {
      for (const place of rule.at(pattern, "shallow")) {
        if (!contains(place.value)) yield { ...place, allowed: `a number that is ${words}` };
      }
    }
  },
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
