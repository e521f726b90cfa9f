import { getOrMake } from "../../sdk/get-or-make.ts";
import { printableJson } from "../../sdk/json/printable.ts";
import type { Semantics } from "../language/schema.ts";

/** The first words of phrases before or behind a field, and the words that join conditions. A name with one of them is quoted. */
const reserved = /^(?:and|contains|does|ends|exists|has|ignoring|is|matches|not|or|starts|with)$/;

const known = new WeakMap<Semantics, ReadonlyMap<string, string>>();

/** Returns words for each field's name: `card country` for `card_country`; the quoted name itself where words could be misread. */
export function fieldWordsOf(semantics: Semantics): ReadonlyMap<string, string> {
  return getOrMake(known, semantics, () => {
    const names = Object.keys(semantics.payment.fields);
    const byWords = Map.groupBy(names, plain);
    return new Map(
      names.map((name) => {
        const own = plain(name);
        return [name, own === undefined || byWords.get(own)?.length !== 1 ? printableJson(name) : own];
      }),
    );
  });
}

/** Splits a name into words: `amount in usd` for `amountInUSD`; undefined of a name that does not consist of plain words. */
function plain(name: string): string | undefined {
  const words = name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ")
    .toLowerCase()
    .split(/[ ._-]+/);
  return words.every((word) => /^[a-z0-9]+$/.test(word) && !reserved.test(word)) ? words.join(" ") : undefined;
}
