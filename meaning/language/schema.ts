import { z } from "zod";
import { fieldName, fileHead, flag, orNull, pointer, says, strict } from "../../sdk/contract/schema-parts.ts";
import { applies, fixedValues, names, pointers, scalars } from "./schema-conditions.ts";
import { missing, outcomeWords, type PaymentField, payment } from "./schema-payment.ts";

const bound = strict({
  at: pointer.meta(
    says("Where a definition has the instant. A rule that has none there, or null, has no such bound.", "/startsAt"),
  ),
  counts: z.boolean().meta(says("Whether the rule is in force at that instant itself.", true)),
});

const force = strict({
  enabled: orNull(
    strict({
      at: pointer.meta(says("Where a definition says that it is enabled.", "/isActive")),
      is: scalars.meta(says("The values that mean enabled.", [true])),
      isNot: scalars.meta(says("The values that mean not enabled. Any other makes the rule unknown.", [false])),
      without: orNull(z.enum(["enabled", "disabled"])).meta(
        says("What a rule is that does not say. null: that is not known, and the rule is unknown.", "enabled"),
      ),
    }),
  ).describe("Whether a rule is enabled. null: every rule is."),
  from: orNull(bound).describe("The instant from which a rule is in force. null: there is none."),
  until: orNull(bound).describe("The instant until which a rule is in force. null: there is none."),
  clock: z
    .enum(["payment", "now"])
    .default("payment")
    .meta(says("Whether the payment's time (payment.time) counts, or the present.", "now")),
});

const outcome = strict({
  at: pointer.meta(
    says(
      "Where a definition has the word of its outcome. A segment * stands for every element; all words there must mean the same.",
      "/action",
    ),
  ),
  words: outcomeWords.default({}).meta(
    says(
      "Each of the service's words, and its outcome: accept, decline, review, or one of others. Another word makes the rule unknown.",
      {
        allow: "accept",
        block: "decline",
      },
    ),
  ),
  others: names.meta(says("Names of outcomes that are none of those three.", ["challenge"])),
  named: flag("Whether a word that words does not have is itself the name of an outcome, such as a route."),
  without: orNull(fieldName).meta(
    says("The outcome of a rule that has none. null: that is not known, and the rule is unknown.", "accept"),
  ),
});

const order = strict({
  at: pointer.meta(says("Where a definition has its number.", "/priority")),
  first: z.enum(["highest", "lowest"]).meta(says("Which number is asked first.", "highest")),
  equal: z
    .enum(["unknown", "firstListed", "lastListed", "precedence"])
    .default("unknown")
    .meta(
      says(
        "Which of several rules with one number wins. unknown: that is not known. firstListed, lastListed: the first or the last in the order in which the service lists them. precedence: by wins.precedence.",
        "precedence",
      ),
    ),
  without: orNull(z.number()).meta(
    says("The number of a rule that has none. null: that is not known, and the rule is unknown.", 5),
  ),
});

const wins = strict({
  by: z
    .enum(["order", "precedence", "listed", "all"])
    .meta(
      says(
        "Which of the rules that apply wins. order: the first by a number. precedence: the one whose outcome comes first. listed: the first in the order in which they are listed. all: all of them, so a payment has a set of outcomes.",
        "order",
      ),
    ),
  order: orNull(order).describe("The number that rules are ordered by. Needed for by: order."),
  precedence: names.meta(
    says("The outcomes, the strongest first. Needed for precedence.", ["accept", "decline", "review"]),
  ),
  none: orNull(fieldName).meta(
    says("The outcome of a payment to which no rule applies. null: that is not known.", "accept"),
  ),
});

const valueListSource = z.union([
  strict({
    file: fieldName.meta(
      says(
        "A YAML or JSON file: the fields of its object are the names, each with a list of values.",
        "./value-lists.yaml",
      ),
    ),
  }),
  strict({
    folder: fieldName.meta(
      says(
        "A folder. Each YAML or JSON file in it is a list of values; the name of the file, without its ending, is the list's.",
        "./value-lists",
      ),
    ),
  }),
  strict({
    name: pointer.meta(says("Where another definition has the name of the list that it holds.", "/name")),
    values: pointer.meta(says("Where it has the values.", "/values")),
  }),
]);

/** The semantics: what a rule of one service means. What the file does not say is unknown, and nothing is claimed about it. */
export const semanticsSchema = strict({
  ...fileHead("meaning/language/semantics.schema.json"),
  rules: orNull(
    strict({
      at: pointer.meta(says("Where a definition has its list of rules.", "/algorithm/data/rules")),
      ignored: pointers.meta(
        says("Fields of the definition beside that list that do not matter to payments.", ["/name"]),
      ),
    }),
  ).describe(
    "The list of rules that a definition is. applies, ignored, expects, force, outcome and wins.order then speak of an element of that list. null: a definition is one rule.",
  ),
  applies: applies.describe("When a rule applies."),
  ignored: pointers.meta(
    says(
      "Fields of a rule that do not matter to payments. Any other field that the semantics do not name makes the rule unknown.",
      ["/name", "/description"],
    ),
  ),
  expects: fixedValues.meta(
    says(
      "Fields of a rule that do not matter as long as they have these values, or are not there. Another value makes the rule unknown.",
      [{ at: "/request/method", is: ["POST", "ANY"] }],
    ),
  ),
  force: force.prefault({}).describe("When a rule is in force."),
  outcome: outcome.describe("What a rule decides."),
  wins: wins.describe("Which rule decides a payment."),
  payment: payment.describe("What a payment looks like."),
  missing: missing
    .default("unknown")
    .meta(
      says(
        "What follows where a payment lacks a field that a condition compares, or has null there. unknown: the condition is undecided. comparisonFalse: the comparison is false, also one that means not; a group's not turns that round. An object: the field has that value.",
        "comparisonFalse",
      ),
    ),
  undecidedRule: z
    .enum(["noMatch", "unknown"])
    .default("unknown")
    .meta(
      says(
        "What a rule is whose conditions stay undecided because a field is missing. noMatch: it does not apply. unknown: nobody can tell.",
        "noMatch",
      ),
    ),
  lists: strict({
    eq: orNull(z.enum(["anyElement", "wholeList"])).meta(
      says(
        "What eq (and ne, in, notIn, which follow from it) means where the payment's field is a list. anyElement: one of its elements is equal. wholeList: the list is equal, in its order. null: that is not known.",
        "anyElement",
      ),
    ),
    contains: orNull(z.enum(["element", "textOfElement"])).meta(
      says(
        "What contains means where the payment's field is a list. element: one of its elements is equal. textOfElement: one of its elements, a text, contains the operand. null: that is not known.",
        "element",
      ),
    ),
  })
    .prefault({})
    .describe("What comparisons mean on lists. All others but exists and absent make a rule unknown there."),
  valueLists: z
    .array(valueListSource)
    .default([])
    .describe(
      "Where the named value lists come from. A name that is in none of them, or in two, makes a rule unknown.",
    ),
  patterns: orNull(
    strict({
      dialect: z
        .enum(["re2", "java", "pcre", "ecmascript"])
        .meta(
          says(
            "The language of the patterns. Of others than re2, only what all of them read alike is read: another pattern makes the rule unknown.",
            "java",
          ),
        ),
      anchoring: z
        .enum(["whole", "part"])
        .meta(says("Whether a pattern must match the whole text or a part of it.", "whole")),
    }),
  ).describe("What the patterns of matches are. null: that is not known, so each makes its rule unknown."),
}).meta({
  title: "merchant-rules semantics",
  description: "What the rules of one merchant payment-rules service mean",
});

/** Returns the content of `semantics.schema.json`: JSON Schema 2020-12 of a file of semantics. */
export function publishedSemanticsSchema(): string {
  const schema = { $id: "urn:pulumi-merchant-rules:semantics:1", ...z.toJSONSchema(semanticsSchema, { io: "input" }) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Returns a field of payments by its name. @throws TypeError: the semantics have no such field */
export function fieldIn({ payment }: Semantics, name: string): PaymentField {
  const field = payment.fields[name];
  if (field === undefined) throw new TypeError(`the semantics have no field ${name}`);
  return field;
}

/** Semantics with all defaults filled in. */
export interface Semantics extends z.output<typeof semanticsSchema> {}
/** Semantics as written: what has a default may be left out. */
export interface SemanticsInput extends z.input<typeof semanticsSchema> {}
