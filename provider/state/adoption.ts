import { field, isJsonObject, type Json, type JsonObject } from "../../sdk/rules/index.ts";
import { ownerField } from "./names.ts";
import type { Properties } from "./wire.ts";

/**
 * `adopt` is a word to a run and no part of a rule. A refresh, which sees the outputs alone, does not know whether it is still
 * declared, so the engine must see no difference in it: behind `check` it stands beside the owner's name, as names of
 * fields that are null. To the engine null and absent are the same. `=` is `adopt: true`, `==17` the id of a MerchantRule,
 * `=key=17` one of a set; neither an owner nor a key begins with it or has it.
 */
const sign = "=";

/** Checked inputs in the form that the engine keeps. */
export function withAdoptKept({ adopt, ...inputs }: Properties): Properties {
  const words = wordsFor(adopt);
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

/** The program's `adopt`, in either form. */
export function adoptIn({ adopt, [ownerField]: owner }: Properties): Json | undefined {
  const words = Object.keys(isJsonObject(owner) ? owner : {}).filter((name) => name.startsWith(sign));
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

/** The names of a resource, without the words beside them. */
export function ownerNames(owner: Json | undefined): readonly string[] {
  return Object.keys(isJsonObject(owner) ? owner : {}).filter((name) => !name.startsWith(sign));
}

/** Inputs without `adopt`, as outputs and what a refresh sees have them. */
export function withoutAdopt({ adopt: _, ...inputs }: Properties): Properties {
  const owner = inputs[ownerField];
  if (!isJsonObject(owner)) return inputs;
  return { ...inputs, [ownerField]: Object.fromEntries(ownerNames(owner).map((name) => [name, null])) };
}
