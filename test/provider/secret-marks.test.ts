import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { secret, unknownValue } from "../../provider/host/wire.ts";
import { withSecretsMarked } from "../../provider/state/secrets.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { isAtOrBelow, isJsonArray, isJsonObject, type Json, type Path, pointerOf } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { hooksHere, sessionOf, withoutSecretMarks } from "../support/stack/hosts.ts";

const segment = fc.constantFrom("auth", "pin", "value", "0", "1", "*");
const patterns = fc.uniqueArray(fc.array(segment, { minLength: 1, maxLength: 3 }).map(pointerOf), { maxLength: 4 });
const { definition } = fc.letrec<{ definition: Json }>((tie) => ({
  definition: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>("hush", 1, null, true),
    fc.array(tie("definition"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("auth", "pin", "value", "name"), tie("definition"), { maxKeys: 3 }),
  ),
}));

/** The places of the values that no mark stands around. */
function plainIn(value: Json, path: Path = []): Path[] {
  if (value === null) return [];
  if (isJsonArray(value)) return value.flatMap((each, index) => plainIn(each, [...path, index]));
  if (!isJsonObject(value)) return [path];
  if (JSON.stringify(Object.keys(value)) === JSON.stringify(Object.keys(secret(1)))) return [];
  return Object.entries(value).flatMap(([key, each]) => plainIn(each, [...path, key]));
}

describe("what a contract calls secret", () => {
  test("counts with its marks, where a set might be too large to report a run that failed in part", async () => {
    const folder = newFolder();
    const file = join(folder, "contract.json");
    const rules = { a: { name: "a", pins: Array.from({ length: 120_000 }, () => "1") } };
    const failures = async (contract: ContractInput): Promise<readonly string[]> => {
      writeFileSync(file, JSON.stringify(contract));
      const environment = { MERCHANT_RULES_BASE_URL: "https://localhost", MERCHANT_RULES_CONTRACT: file };
      const set = hooksHere("merchantRuleSet", sessionOf(environment));
      return (await set.check({ rules })).failures.map(({ reason }) => reason);
    };
    expect(await failures({ version: 1 })).toEqual([]);
    expect(await failures({ version: 1, rule: { secret: ["/pins/*"] } })).toEqual([
      expect.stringContaining("the rules are too large for one set"),
    ]);
    expect(await failures({ version: 1, rule: { secret: ["/pins"] } })).toEqual([]);
  });

  test("is within one mark, however its patterns overlap, and nothing else is changed", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("auth", "pin", "name"), definition), patterns, (rule, secrets) => {
        const marked = withSecretsMarked(rule, secrets);
        expect(withoutSecretMarks({ marked })).toEqual({ marked: rule });
        for (const path of plainIn(marked)) expect(secrets.some((pattern) => isAtOrBelow(path, pattern))).toBe(false);
      }),
    );
    const overlapping = ["/auth/*", "/auth", "/*/value", "/*/*"];
    expect(withSecretsMarked({ auth: { pin: "1" } }, overlapping)).toEqual({ auth: secret({ pin: "1" }) });
  });

  test("has no mark where it is null or not known yet", () => {
    const rule = { pin: null, auth: { pin: unknownValue } };
    expect(withSecretsMarked(rule, ["/pin", "/auth/pin"])).toEqual(rule);
  });
});
