import { isJsonArray, isJsonObject, type Json, type JsonObject, type Pointer, segmentsOf } from "../rules/index.ts";

/** What stands in the place of a secret. */
const mark = "[redacted]";

/** How many secrets are remembered; of tokens, which come and go, the latest. */
const mostSecrets = 64;

/**
 * Takes secrets out of texts that others wrote, such as the message of a service that echoes what it was sent. Finds
 * them plain, URL-encoded, escaped as JSON, and in Base64, alone or as a part of what was encoded.
 */
export class Redactor {
  readonly #secrets = new Set<string>();

  add(secret: string): void {
    if (secret === "") return;
    this.#secrets.add(secret);
    const [oldest] = this.#secrets;
    if (this.#secrets.size > mostSecrets && oldest !== undefined) this.#secrets.delete(oldest);
  }

  /** The text without the secrets added, nor those of `more`. */
  redact(text: string, more: readonly string[] = []): string {
    const forms = [...this.#secrets, ...more].filter((secret) => secret !== "").flatMap(formsOf);
    if (forms.length === 0) return text;
    // The longest first: a secret may be the beginning of another, or a part of its own encoded form.
    const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
    const pattern = longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|");
    return text.replace(new RegExp(pattern, "gi"), mark);
  }
}

/** The texts and numbers of a definition that the contract calls secret (`rule.secret`), all that lie below them included. */
export function secretTextsIn(definition: JsonObject, patterns: readonly Pointer[]): string[] {
  return patterns.flatMap((pattern) => below(definition, segmentsOf(pattern))).flatMap(leavesOf);
}

function below(value: Json, [segment, ...rest]: readonly string[]): Json[] {
  if (segment === undefined) return [value];
  if (!isJsonArray(value) && !isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]: [string, Json]) =>
    segment === "*" || segment === key ? below(child, rest) : [],
  );
}

function leavesOf(value: Json): string[] {
  if (isJsonArray(value) || isJsonObject(value)) return Object.values(value).flatMap((child: Json) => leavesOf(child));
  // A single digit or a truth value would be found everywhere and tells nothing.
  if (typeof value === "number") return String(value).length > 2 ? [String(value)] : [];
  return typeof value === "string" ? [value] : [];
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.toWellFormed());
  return [secret, json, json.replaceAll("/", "\\/"), url, url.replaceAll("%20", "+"), ...base64FormsOf(secret)];
}

/** Base64 of a secret at each of the three offsets that it can have within a longer text, without the characters that it shares with its neighbours. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const whole = bytes.toString("base64").replace(/=+$/, "");
  const shifted = [0, 1, 2].map((offset) => {
    const bits = 8 * offset;
    const first = Math.ceil(bits / 6);
    const last = Math.floor((bits + 8 * bytes.length) / 6);
    return Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .slice(first, last);
  });
  // A fragment of a few characters would be found in innocent words.
  const standard = [...(whole.length >= 4 ? [whole] : []), ...shifted.filter((form) => form.length >= 6)];
  return standard.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}
