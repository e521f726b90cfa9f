import type { Contract } from "../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { isJsonArray, isJsonObject, type Json, jsonObject, segmentsOf } from "../../sdk/rules/index.ts";
import type { Session } from "./session.ts";
import { connectionOf, isUnknown, type Properties, secret } from "./wire.ts";

/**
 * The inputs, in which what the contract calls secret (`rule.secret`) is one to the engine too, although the program did
 * not say so: it is encrypted in the state and masked wherever the engine prints.
 * @param marked puts the marks on the definitions that the inputs hold
 */
export function withContractSecrets(
  news: Properties,
  session: Session,
  marked: (news: Properties, mark: (definition: Json) => Json) => Properties,
): Properties {
  const { secret: patterns } = contractOf(news, session)?.rule ?? { secret: [] };
  if (patterns.length === 0) return news;
  // What lies further out goes first: within a secret there is nothing left to mark.
  const paths = patterns.map(segmentsOf).sort((a, b) => a.length - b.length);
  return marked(news, (definition) => paths.reduce(markedAt, definition));
}

function contractOf(news: Properties, session: Session): Contract | undefined {
  if (isUnknown(news.connection)) return undefined;
  try {
    return session.contract(connectionOf(news));
  } catch (error) {
    // The failures of the same check say so.
    if (isMerchantRulesError(error)) return undefined;
    throw error;
  }
}

function markedAt(value: Json, [segment, ...rest]: readonly string[]): Json {
  if (segment === undefined) return value === null || isUnknown(value) ? value : secret(value);
  const isMeant = (key: string): boolean => segment === "*" || segment === key;
  if (isJsonArray(value)) return value.map((child, index) => (isMeant(String(index)) ? markedAt(child, rest) : child));
  if (!isJsonObject(value)) return value;
  return jsonObject(Object.entries(value).map(([key, child]) => [key, isMeant(key) ? markedAt(child, rest) : child]));
}
