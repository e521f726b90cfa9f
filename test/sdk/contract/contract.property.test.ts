import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { connectionSettings } from "../../../provider/settings/connection-settings.ts";
import { type Contract, defineContract, loadContract, presetFile, presets } from "../../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../../sdk/errors.ts";
import { newFolder } from "../../support/folder.ts";
import { extremes, foreign, mutated } from "../../support/fuzz/mutations.ts";
import { check, expectReadable, timeout } from "../../support/fuzz/runs.ts";

const folder = newFolder();

const yaml = presets.map((preset) => readFileSync(presetFile(preset), "utf8"));
const json = yaml.map((text) => JSON.stringify(parse(text), null, 2));

/** The contract that a file gives, or the refusal that names it. */
function contractOf(content: Buffer, load: (file: string) => Contract): Contract | undefined {
  const file = join(folder, "fuzzed.yaml");
  writeFileSync(file, content);
  try {
    return load(file);
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    expect(error.code).toBe("CONTRACT_INVALID");
    expect(error.message).toContain(file);
    expectReadable(error.message);
    return undefined;
  }
}

/** True where all that a file says stands in what was made of it. */
function says(whole: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return Object.is(whole, part);
  if (typeof whole !== "object" || whole === null || Array.isArray(whole) !== Array.isArray(part)) return false;
  const fields = new Map<string, unknown>(Object.entries(whole));
  return Object.entries(part).every(([key, value]) => fields.has(key) && says(fields.get(key), value));
}

function expectRight(contract: Contract, content: Buffer): void {
  expect(defineContract(contract)).toEqual(contract);
  expect(
    says(contract, parse(content.toString().replace(/^\uFEFF/, ""), { uniqueKeys: false, stringKeys: true })),
  ).toBe(true);
}

describe("a contract file, whatever is in it, gives a contract that says all of it, or a refusal that names it", {
  timeout,
}, () => {
  test("changed from one that is right", async () => {
    let right = 0;
    await check(150, mutated(...yaml, ...json), (content) => {
      const contract = contractOf(content, loadContract);
      if (contract === undefined) return;
      right += 1;
      expectRight(contract, content);
    });
    // Where all were refused, the first half of the sentence would not have been tested.
    expect(right).toBeGreaterThan(0);
  });

  test("or anything at all", async () => {
    const property = (content: Buffer): void => {
      const contract = contractOf(content, loadContract);
      if (contract !== undefined) expectRight(contract, content);
    };
    await check(50, foreign, property, extremes);
  });

  test("by way of the settings, too", async () => {
    const environment = { MERCHANT_RULES_BASE_URL: "http://127.0.0.1:1", MERCHANT_RULES_PARAM_MERCHANT_ID: "m" };
    const settings = (file: string): Contract => {
      const config = (key: string): string | undefined => (key === "merchant-rules:contract" ? file : undefined);
      try {
        return connectionSettings({ config, environment, folder }).client.contract;
      } catch (error) {
        // A parameter that a change gave another name.
        if (isMerchantRulesError(error) && error.code === "SETTINGS_INVALID") return loadContract(file);
        throw error;
      }
    };
    await check(20, mutated(...yaml), (content) => {
      contractOf(content, settings);
    });
  });

  test("and so does whatever a program holds", async () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    const partly = fc.dictionary(
      fc.constantFrom("version", "operations", "rule", "auth", "limits", "__proto__"),
      anything,
    );
    const cyclic: { version: number; rule: { schema: unknown } } = { version: 1, rule: { schema: {} } };
    cyclic.rule.schema = cyclic;
    await check(
      100,
      fc.oneof(anything, partly),
      (value) => {
        try {
          Reflect.apply(defineContract, undefined, [value]);
        } catch (error) {
          if (!isMerchantRulesError(error)) throw error;
          expect(error.code).toBe("CONTRACT_INVALID");
          expectReadable(error.message);
        }
      },
      [cyclic, { version: cyclic }, { version: 1n }],
    );
  });
});
