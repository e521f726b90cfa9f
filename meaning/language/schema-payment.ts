import { z } from "zod";
import { fieldName, flag, orNull, pointer, says, strict } from "../../sdk/contract/schema-parts.ts";
import { scalar } from "./schema-conditions.ts";
import { valueTypes } from "./schema-words.ts";

/** What follows where a payment lacks a field. */
export const missing = z.union([
  z.enum(["unknown", "comparisonFalse"]),
  strict({ value: scalar.meta(says("The value that the field then has.", 0)) }),
]);

/** The service's words, and the outcomes that they mean. */
export const outcomeWords = z.record(fieldName, fieldName);

const field = strict({
  at: pointer.meta(says("Where a payment has the field.", "/card/country")),
  type: z
    .enum(valueTypes)
    .meta(
      says(
        "The type. decimal: a number, or a text that is one as JSON writes it; it is compared exactly. text: compared by code points. boolean: true or false, nothing else. instant: a text by RFC 3339, in any time zone. ip: an IPv4 or IPv6 address. A value of another type is unknown; nothing is converted.",
        "decimal",
      ),
    ),
  list: flag("Whether the field has a list of such values."),
  ignoresCase: orNull(z.boolean()).meta(
    says(
      "Whether A to Z and a to z are alike in this text. Other letters never are. null: that is not known, so a comparison in which it matters is unknown.",
      true,
    ),
  ),
  missing: orNull(missing).meta(
    says("What follows where a payment lacks this field. null: as missing says for all fields.", { value: 0 }),
  ),
});

/** A payment: its fields, and what reports sum. */
export const payment = strict({
  fields: z
    .record(fieldName, field)
    .meta(
      says(
        "The fields of a payment, under the names that rules use. A condition on another field makes a rule unknown.",
        { amount: { at: "/amount", type: "decimal" } },
      ),
    ),
  amount: orNull(
    strict({
      field: fieldName.meta(says("The field of the amount, a decimal.", "amount")),
      currency: fieldName.meta(
        says("The field of its currency, a text. Sums are never added across currencies.", "currency"),
      ),
      unit: z
        .enum(["major", "minor"])
        .meta(
          says("Whether the amount counts whole units, such as euros, or the smallest ones, such as cents.", "minor"),
        ),
    }),
  ).describe("The amount that reports sum. null: they count payments only."),
  time: orNull(fieldName).meta(
    says("The field, an instant, of when the payment was made. null: it has none.", "createdAt"),
  ),
  actual: orNull(
    strict({
      at: pointer.meta(says("Where a payment says what really happened to it.", "/outcome")),
      words: outcomeWords.meta(says("Each word there, and the outcome that it means.", { approved: "accept" })),
    }),
  ).describe("The payment's actual outcome, against which the reading of the rules is held. null: it has none."),
  label: orNull(
    strict({
      at: pointer.meta(says("Where a payment says whether it was fraud.", "/chargeback")),
      words: z.record(fieldName, z.enum(["fraud", "good"])).meta(
        says("Each word there, and what it means. A payment with another is neither.", {
          true: "fraud",
          false: "good",
        }),
      ),
    }),
  ).describe(
    "Whether a payment turned out to be fraud, by which reports tell what rules catch. null: that is not known.",
  ),
});

export type PaymentField = z.output<typeof field>;
export type Missing = z.output<typeof missing>;
