import { expect, test } from "vitest";
import * as errors from "../../sdk/errors.ts";
import * as sdk from "../../sdk/index.ts";
import * as rules from "../../sdk/rules/index.ts";

test("the package's door to the SDK opens to the client, contracts, errors and rules, and to nothing internal", () => {
  expect(sdk.RulesClient).toBeTypeOf("function");
  expect(sdk.isMerchantRulesError).toBe(errors.isMerchantRulesError);
  expect(sdk).toMatchObject({ ...rules });
  for (const internal of ["errorOfStatus", "inconsistencies", "contractSchema", "expand", "namesIn"])
    expect(sdk).not.toHaveProperty(internal);
});
