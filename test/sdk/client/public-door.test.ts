import { expect, test } from "vitest";
import { loadContract } from "../../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../../sdk/errors.ts";
import * as sdk from "../../../sdk/index.ts";

test("the package's door to the SDK opens to the client, contracts and errors, and to nothing else", () => {
  expect(Object.keys(sdk).sort()).toEqual([
    "MerchantRulesError",
    "RulesClient",
    "contractFileNames",
    "defineContract",
    "errorCodes",
    "isExactNumber",
    "isMerchantRulesError",
    "isPreset",
    "loadContract",
    "loadPreset",
    "parseContract",
    "presetFile",
    "presets",
  ]);
  expect(sdk.isMerchantRulesError).toBe(isMerchantRulesError);
  expect(sdk.loadContract).toBe(loadContract);
});
