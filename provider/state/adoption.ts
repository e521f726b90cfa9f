import { field, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { isUnknown, type Properties } from "../host/wire.ts";
import { ownerField } from "./names.ts";

/**
 * `adopt` and `allowEmpty` are words to a run and no part of a rule. A refresh, which sees the outputs alone, does not know whether they are still
 * declared, so the engine must see no difference in them: behind `check` they stand beside the owner's name, as names of
 * fields that are null. To the engine null and absent are the same. `=` is `adopt: true`, `==17` the id of a MerchantRule,
 * `=key=17` one of a set; `=!` is `allowEmpty: true`. Neither an owner nor a key begins with a sign or has the first one.
 */
const sign = "=";
const emptyWord = `${sign}!`;

/** Returns checked inputs in the form that the engine keeps. */
export function withWordsKept({ adopt, allowEmpty = false, ...plain }: Properties): Properties {
  const inputs = isUnknown(allowEmpty) ? { ...plain, allowEmpty } : plain;
  const words = [...wordsFor(adopt), ...(allowEmpty === true ? [emptyWord] : [])];
  if (words.length === 0) return inputs;
  const owner = inputs[ownerField];
  const nulls = Object.fromEntries(words.map((word) => [word, null]));
  return { ...inputs, [ownerField]: { ...(isJsonObject(owner) ? owner : {}), ...nulls } };
}

function wordsFor(adopt: Json | undefined): string[] {
  if (adopt === true) return [sign];
  if (typeof adopt === "string") return [`${sign}${sign}${adopt}`];
  return Object.entries(isJsonObject(adopt) ? adopt : {}).map(([key, ruleId]) => `${sign}${key}${sign}${ruleId}`);
}

/** Returns the program's `adopt`, from either form. */
export function adoptIn({ adopt, [ownerField]: owner }: Properties): Json | undefined {
  const words = wordsIn(owner).filter((name) => name !== emptyWord);
  if (adopt !== undefined || words.length === 0) return adopt;
  if (words.includes(sign)) return true;
  const named: JsonObject = Object.fromEntries(
    words.map((word) => {
      const [key = ""] = word.slice(1).split(sign, 1);
      return [key, word.slice(key.length + 2)];
    }),
  );
  return field(named, "") ?? named;
}

/** Decides whether the program has `allowEmpty`, in either form. */
export function allowEmptyIn({ allowEmpty, [ownerField]: owner }: Properties): boolean {
  return allowEmpty === true || wordsIn(owner).includes(emptyWord);
}

function wordsIn(owner: Json | undefined): string[] {
  return Object.keys(isJsonObject(owner) ? owner : {}).filter((name) => name.startsWith(sign));
}

/** Returns the names of a resource, without the words beside them. */
export function ownerNames(owner: Json | undefined): readonly string[] {
  return Object.keys(isJsonObject(owner) ? owner : {}).filter((name) => !name.startsWith(sign));
}

/** Returns inputs without those words, as outputs and the inputs of a refresh have them. */
export function withoutWords({ adopt: _, allowEmpty: __, ...inputs }: Properties): Properties {
  const owner = inputs[ownerField];
  if (!isJsonObject(owner)) return inputs;
  return { ...inputs, [ownerField]: Object.fromEntries(ownerNames(owner).map((name) => [name, null])) };
}
