import { z } from "zod";
import { fieldName, flag, orNull, pointer, pointerOrNull, says, strict } from "../../sdk/contract/schema-parts.ts";
import { type OperatorName, operatorNames } from "./schema-words.ts";

const operatorName = z.enum(operatorNames);
/** Plain values that a rule or a payment may have. */
export const scalar = z.union([z.string(), z.number(), z.boolean()]);

export const scalars = z.array(scalar).min(1);
export const pointers = z.array(pointer).default([]);
export const names = z.array(fieldName).default([]);

/** A field of a rule and the values that it may have there. */
export const fixedValue = strict({
  at: pointer.meta(says("Where the value stands.", "/request/method")),
  is: scalars.meta(says("The values that it may have.", ["POST", "ANY"])),
});
export const fixedValues = z.array(fixedValue).default([]);

const operator = strict({
  is: operatorName.meta(
    says(
      "The comparison. eq and ne: equal or not. in and notIn: one of a list or none. gt, gte, lt, lte: in the order of decimals, instants or, for texts, code points. between: from one value to another. startsWith, endsWith, contains, matches: of texts. exists and absent: whether the payment has the field. inCidr: whether an address is in a network.",
      "gte",
    ),
  ),
  not: flag("Whether the word means the opposite of the comparison."),
  ends: orNull(z.enum(["both", "lower", "upper", "none"])).meta(
    says("Which ends of between count. Needed for between, and allowed for nothing else.", "both"),
  ),
  from: pointer.default("/0").meta(says("Where the operand of between has the lower end.", "/min")),
  to: pointer.default("/1").meta(says("Where the operand of between has the upper end.", "/max")),
  ignoresCase: orNull(z.boolean()).meta(
    says("Whether A to Z and a to z are alike in this comparison of texts. null: as the payment's field says.", true),
  ),
});

/** Returns the operator that a name alone means: not negated, with the defaults for `from` and `to`. */
export function plainOperator(is: OperatorName): Operator {
  return { is, not: false, ends: null, from: "/0", to: "/1", ignoresCase: null };
}

/** The service's words for comparisons. */
const operators = z
  .record(
    fieldName,
    z
      .union([operatorName, operator])
      .transform((written) => (typeof written === "string" ? plainOperator(written) : written)),
  )
  .meta(
    says(
      "Each of the service's words, and the comparison that it means: the name of one, or an object with more. A word that is not here makes a rule unknown.",
      { equals: "eq", not_equals: "ne", range: { is: "between", ends: "both" } },
    ),
  );

const operatorPlace = z.union([
  strict({ at: pointer.meta(says("Where a condition has the word of its operator.", "/operator")) }),
  strict({
    nameIn: pointer.meta(
      says(
        "Where a condition has an object with one property whose name is the word of the operator, and whose value is the operand.",
        "/matchesJsonPath",
      ),
    ),
  }),
  strict({ is: operatorName.meta(says("The comparison that every condition of this shape makes.", "exists")) }),
]);

const shape = strict({
  when: fixedValues.meta(
    says("What a condition of this shape has. The first shape that fits is taken. Without it every one fits.", [
      { at: "/value/type", is: ["number"] },
    ]),
  ),
  field: pointer.meta(says("Where a condition names the payment's field.", "/field")),
  fieldIs: z
    .enum(["name", "pointer", "jsonPath"])
    .default("name")
    .meta(
      says(
        "How it names the field. name: as payment.fields does. pointer: by its JSON Pointer. jsonPath: by a plain path such as $.card.country; one with filters or wildcards makes the rule unknown.",
        "jsonPath",
      ),
    ),
  operator: operatorPlace.meta(says("Where the operator stands.", { at: "/operator" })),
  operators: orNull(operators).describe("The words for comparisons in this shape. null: those of applies.operators."),
  value: pointerOrNull.meta(
    says("Where a condition has a literal operand, or a list of them. null: there is none.", "/value"),
  ),
  valueList: pointerOrNull.meta(
    says("Where a condition names a value list (see valueLists). null: it never does.", "/listName"),
  ),
  valueField: pointerOrNull.meta(
    says("Where a condition names another field of the payment as its operand. null: it never does.", "/otherField"),
  ),
  not: orNull(fixedValue).meta(
    says("The flag that turns the comparison round. null: there is none. A flag that is not there turns nothing.", {
      at: "/inverted",
      is: [true],
    }),
  ),
  ignored: pointers.meta(
    says(
      "Fields of a condition that do not matter to it. Any other field that is not named here makes the rule unknown.",
      ["/label"],
    ),
  ),
});

/** When a rule applies. */
export const applies = strict({
  at: pointer.meta(says("Where a definition has its conditions: a list, one group, or one condition.", "/conditions")),
  list: orNull(z.enum(["all", "any"])).meta(
    says(
      "Whether all conditions of that list must hold, or any. null: that is not known, so a list makes a rule unknown.",
      "all",
    ),
  ),
  without: orNull(z.enum(["always", "never"])).meta(
    says("When a rule applies that has no conditions. null: that is not known, and the rule is unknown.", "always"),
  ),
  groups: strict({
    all: names.meta(says("Names of fields whose conditions must all hold.", ["all", "and"])),
    any: names.meta(says("Names of fields of whose conditions one must hold.", ["any", "or"])),
    not: names.meta(says("Names of fields whose conditions must not all hold.", ["not"])),
    empty: orNull(z.literal("asLogic")).meta(
      says(
        "What a group without conditions means. asLogic: all of none is true, any of none is false. null: that is not known, and the rule is unknown.",
        "asLogic",
      ),
    ),
  })
    .prefault({})
    .describe(
      "Groups of conditions. An object with at least one of these fields is a group. What several of them say must all hold; one that is null says nothing.",
    ),
  conditions: z
    .array(shape)
    .min(1)
    .describe("The shapes that a condition can have. One that has none of them makes the rule unknown."),
  operators: operators.default({}),
});

export type Operator = z.output<typeof operator>;
export type ConditionShape = z.output<typeof shape>;
