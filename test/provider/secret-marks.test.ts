import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withSecretsMarked } from "../../provider/state/secrets.ts";
import { secret, unknownValue } from "../../provider/state/wire.ts";
import { isAtOrBelow, isJsonArray, isJsonObject, type Json, type Path, pointerOf } from "../../sdk/rules/index.ts";
import { withoutSecretMarks } from "../support/hosts.ts";

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
