import { expect, test } from "vitest";
import { allProperties } from "../../../local/engine/display/changed-paths.ts";
import { Secret } from "../../../stack/values/value.ts";

test("--diff shows a long definition by its parts, and neither secrets nor what the product keeps for itself", () => {
  const definition = {
    name: "large-amounts",
    token: new Secret("hidden"),
    conditions: [
      { field: "card.country", operator: "in", value: ["NL", "BE", "DE", "FR", "LU", "AT", "CH", "IT", "ES"] },
    ],
  };
  const shown = allProperties({ __owner: { me: null }, __provider: "code", adopt: false, definition }, "+");
  expect(shown.map(({ symbol, text }) => `${symbol} ${text}`)).toEqual([
    "+ adopt: false",
    "+ definition:",
    '+   name: "large-amounts"',
    "+   token: [secret]",
    "+   conditions:",
    "+     [0]:",
    '+       field: "card.country"',
    '+       operator: "in"',
    '+       value: ["NL","BE","DE","FR","LU","AT","CH","IT","ES"]',
  ]);
});
