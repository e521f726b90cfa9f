import { type TextSpot, textPolicy } from "./base/text-policy.ts";

/**
 * Nothing that looks like a key, a token or a password stands in a rule: strings with known prefixes of credentials, and long
 * random strings in fields whose names speak of secrets (`password`, `apiKey`, …). A rule is no place for
 * credentials: everybody who may read rules has them then.
 *
 * Whether the program marks a value as secret makes no difference: the policy host shows secrets as plain values. A value
 * that has to stay in a rule is named in `except`.
 */
export const noCredentials = textPolicy({
  name: "no-credentials",
  description: "Nothing that looks like a key, a token or a password stands in a rule.",
  hidden: "[credential]",
  spots: credentials,
  inField: (text, name) =>
    isRandom(text) && isSecretName(name())
      ? `a random text of ${text.length} characters in a field whose name speaks of a secret`
      : undefined,
});

/** The look of credentials, as published by those who issue them. */
const looks: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a private key", /-----BEGIN [A-Z\d ]*PRIVATE KEY[A-Z ]*-----/g],
  ["a private key of age", /\bAGE-SECRET-KEY-1[A-Z\d]{50,}/g],
  ["a secret key of Stripe", /\b[sr]k_(?:live|test)_[A-Za-z\d]{10,}/g],
  ["a webhook secret", /\bwhsec_[A-Za-z\d+/]{16,}/g],
  ["an access key of AWS", /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g],
  ["a key of Google", /\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g],
  ["a token of GitHub", /\b(?:gh[opsur]_[A-Za-z\d]{36,}|github_pat_\w{22,})/g],
  ["a token of GitLab", /\bgl(?:pat|rt|dt|cbt|ptt|soat)-[\w-]{20,}/g],
  ["a token of Slack", /\b(?:xox[a-z]|xapp)-[\w-]{10,}|\bhooks\.slack\.com\/(?:services|workflows)\/[\w/]+/g],
  ["a token of npm", /\bnpm_[A-Za-z\d]{36}/g],
  ["a token of Pulumi", /\bpul-[\da-f]{40}/g],
  ["a key of SendGrid", /\bSG\.[\w-]{20,}\.[\w-]{20,}/g],
  ["a token of Shopify", /\bshp(?:at|ca|pa|ss)_[\da-f]{32}/gi],
  ["a token of Vault", /\bhv[sbr]\.[\w-]{20,}/g],
  ["a secret key", /\bsk-[\w-]{20,}/g],
  ["a JSON Web Token", /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/g],
  ["a bearer token", /\bbearer\s+[\w.~+/-]{16,}=*/gi],
  ["a password of basic authentication", /\bbasic\s+(?=[A-Za-z\d+/]*[A-Z\d])[A-Za-z\d+/]{16,}={0,2}/gi],
  ["a password in a URL", /\b[a-z][a-z\d+.-]*:\/\/[^\s/:@?#]*:[^\s/@?#]+@/gi],
];

function* credentials(text: string): Generator<TextSpot> {
  // Only a URL is that short, and most texts of a rule are.
  if (text.length < 14 && !text.includes("://")) return;
  for (const [what, pattern] of looks) {
    for (const { 0: found, index } of text.matchAll(pattern)) yield { start: index, end: index + found.length, what };
  }
}

/** Returns whether a name speaks of a secret: `clientSecret`, `api_key`, `X-Auth-Token`. Case and punctuation do not count. */
function isSecretName(name: string): boolean {
  return /passw(?:or)?d|passphrase|secret|token|credential|apikey|accesskey|privatekey|signingkey|authorization/.test(
    name.toLowerCase().replace(/[^a-z]/g, ""),
  );
}

/** A string counts as random from this entropy (Shannon) on, in bits a character. A word has about two, 16 random hexadecimal digits have three. */
const randomFromBits = 3;

/** Returns whether a string looks random: long, letters and digits in one piece, few repetitions; not `${API_TOKEN_1}`. */
function isRandom(text: string): boolean {
  if (text.length < 16 || /[\s{}<>]/.test(text) || !/\d/.test(text) || !/[A-Za-z]/.test(text)) return false;
  const counts = Map.groupBy(text, (character) => character);
  const bits = [...counts.values()].reduce((sum, { length }) => {
    const share = length / text.length;
    return sum - share * Math.log2(share);
  }, 0);
  return bits >= randomFromBits;
}
