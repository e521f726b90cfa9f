import type { Json } from "../sdk/json/index.ts";
import { pointers } from "./base/configuration.ts";
import { remediation } from "./base/remediation.ts";

/** Nothing but three letters is taken for a currency code (ISO 4217), with or without blanks around it. */
const currencyCode = /^\s*[A-Za-z]{3}\s*$/;

/**
 * Strings without blanks around them, and currency codes in capital letters. Off unless its `enforcementLevel` is
 * configured: `remediate` changes what is sent to the service, so that it is no longer what the program says.
 */
export const normalForm = remediation({
  name: "normal-form",
  description: "Texts have no blanks around them, and currency codes are in capital letters.",
  severity: "low",
  config: {
    trim: pointers.default([]).describe('Where texts have no blanks at their ends: ["/name"]'),
    upperCase: pointers
      .default([])
      .describe('Where currency codes stand: ["/currency"]. Anything but three letters is left as it is'),
  },
  idle: ({ trim, upperCase }) => (trim.length + upperCase.length === 0 ? "no pointer is configured" : undefined),
  corrections: ({ trim, upperCase }) => [
    ...trim.map((pointer) => ({
      pointer,
      correct: (value: Json) => (typeof value === "string" ? value.trim() : value),
      found: "blanks at an end of the text",
      allowed: "none",
    })),
    ...upperCase.map((pointer) => ({
      pointer,
      correct: (value: Json) =>
        typeof value === "string" && currencyCode.test(value) ? value.trim().toUpperCase() : value,
      found: "a currency code with small letters or blanks",
      allowed: "three capital letters",
    })),
  ],
});
