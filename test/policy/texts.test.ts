import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { noBankAccounts } from "../../policy/no-bank-accounts.ts";
import { noCardNumbers } from "../../policy/no-card-numbers.ts";
import { noCredentials } from "../../policy/no-credentials.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

const runs = { numRuns: 300 };

/** Digits, and what makes them a number that Luhn's check accepts. */
function withCheckDigit(digits: string): string {
  const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
  let sum = 0;
  for (let index = digits.length - 1, isDoubled = true; index >= 0; index -= 1, isDoubled = !isDoubled) {
    const digit = Number(digits[index]);
    sum += isDoubled ? (doubled[digit] ?? 0) : digit;
  }
  return `${digits}${(1000 - sum) % 10}`;
}

const schemes = [
  ["4", 13],
  ["4", 16],
  ["4", 19],
  ["51", 16],
  ["2720", 16],
  ["34", 15],
  ["37", 15],
  ["36", 14],
  ["3589", 17],
  ["6011", 16],
  ["62", 18],
  ["6304", 13],
  ["2204", 16],
] as const;

const cards = fc.constantFrom(...schemes).chain(([prefix, length]) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), {
      minLength: length - 1 - prefix.length,
      maxLength: length - 1 - prefix.length,
    })
    .map((digits) => withCheckDigit(prefix + digits.join(""))),
);

const countries = [
  ["DE", 22],
  ["GB", 22],
  ["NO", 15],
  ["MT", 31],
  ["RU", 33],
  ["FR", 27],
  ["XK", 20],
  ["BI", 27],
  ["MN", 20],
  ["DZ", 26],
] as const;

const ibans = fc
  .constantFrom(...countries)
  .chain(([country, length]) =>
    fc
      .array(fc.constantFrom(..."ABCXYZ0123456789"), { minLength: length - 4, maxLength: length - 4 })
      .map((characters) => withCheckDigits(country, characters.join(""))),
  );

/** An IBAN by ISO 7064, digit by digit. */
function withCheckDigits(country: string, account: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const expanded = [...`${account}${country}00`].map((each) =>
    letters.includes(each) ? String(letters.indexOf(each) + 10) : each,
  );
  const remainder = [...expanded.join("")].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0);
  return `${country}${String(98 - remainder).padStart(2, "0")}${account}`;
}

/** A number as somebody wrote it: in groups, in the middle of a text. */
function written(number: string) {
  const gaps = fc.array(fc.constantFrom(...noGap, ...gapsBetween), {
    minLength: number.length - 1,
    maxLength: number.length - 1,
  });
  const before = fc.string().map((text) => text.replace(/[\p{L}\p{N}]+$/u, ""));
  const after = fc.string().map((text) => text.replace(/^[\p{L}\p{N}]+/u, ""));
  return fc
    .tuple(before, gaps, after, fc.boolean())
    .map(([start, separators, end, isWide]) =>
      [start, ...[...number].flatMap((each, index) => [isWide ? wide(each) : each, separators[index] ?? ""]), end].join(
        "",
      ),
    );
}

const noGap = ["", "", "", "", "", "", ""];
const gapsBetween = [
  ...[" ", "  ", "-", " - ", ".", "/", "_", ",", ", ", "\n", "\r\n", "\t", "\u00a0", "\u2013"],
  ...["\u200b", "\u00ad", "\ufeff", "\u2060", "\u202e", "\ufe0f", "\u2009 "],
];

/** The full-width form of a digit or a letter. */
function wide(character: string): string {
  return String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0);
}

/** So that no way of writing hides it. */
function bare(text: string): string {
  return text.normalize("NFKC").replace(/[^\p{L}\p{N}]/gu, "");
}

describe("no-card-numbers", () => {
  test("passes texts and numbers that are none", async () => {
    const declared = [
      rule("large", {
        name: "limit 4111",
        priority: 4111111111111112,
        share: 0.4111111111111111,
        at: [1764000000000, "1764000000000000000", "2026-11-22 23:59:59"],
        // Glued to one more digit, and within a UUID.
        id: ["94111111111111111", "550e8400-e29b-4111-8111-411111111111"],
        customer: "123456781234567",
        nothing: null,
      }),
    ];
    expect(await evaluate(noCardNumbers, declared)).toEqual({ violations: [], notes: [], notApplicable: [] });
  });

  test("names the rule, the path and how many digits, and no digit", async () => {
    const declared = [
      rule("large", {
        conditions: [{ field: "card", value: "4111 1111 1111 1111" }, { value: [378282246310005] }],
        note: "not this one: 6011-0009-9013-9424, please",
      }),
    ];
    expect((await evaluate(noCardNumbers, declared)).violations).toEqual([
      "large: large: /conditions/0/value: found a card number of 16 digits, allowed none",
      "large: large: /conditions/1/value/0: found a card number of 15 digits, allowed none",
      "large: large: /note: found a card number of 16 digits, allowed none",
    ]);
  });

  test("finds one in a key and in the name of a field, and prints neither", async () => {
    const declared = [
      ruleSet("rules", { "block-4111111111111111": { "5555 5555 5555 4444": { "4242424242424242": unknown } } }),
    ];
    expect(await evaluate(noCardNumbers, declared)).toMatchObject({
      violations: [
        "rules: block-[card number]: found a card number of 16 digits in its key, allowed none",
        "rules: block-[card number]: found a card number of 16 digits in the name of a field, allowed none",
      ],
      notes: ["not known before the run, so not checked: block-[card number]: /[card number]/[card number]"],
    });
  });

  test("leaves out what a pointer excepts, also where it is not known yet", async () => {
    const declared = [
      ruleSet("rules", { test: { cards: ["4111111111111111"], other: [unknown, "4111111111111111"] } }),
    ];
    const { violations, notes } = await evaluate(noCardNumbers, declared, { except: ["/cards", "/other/0"] });
    expect(violations).toEqual(["rules: test: /other/1: found a card number of 16 digits, allowed none"]);
    expect(notes).toEqual([]);
    const all = await evaluate(noCardNumbers, declared, { except: ["/cards"] });
    expect(all.notes).toEqual(["not known before the run, so not checked: test: /other/0"]);
  });

  test("refuses a wrong configuration", async () => {
    await expect(evaluate(noCardNumbers, [rule("large", {})], { except: ["cards"] })).rejects.toThrow(
      /must match pattern/,
    );
    await expect(evaluate(noCardNumbers, [rule("large", {})], { exept: [] })).rejects.toThrow(
      /found exept, allowed: except, secret/,
    );
  });

  test("finds every card number, wherever it stands, and no message holds it", async () => {
    const numbers = cards.chain((number) => fc.tuple(fc.constant(number), written(number)));
    await fc.assert(
      fc.asyncProperty(numbers, async ([number, text]) => {
        const declared = [rule("large", { text }), ruleSet("set", { [`a ${text}`]: { [text]: [text] } })];
        const { violations } = await evaluate(noCardNumbers, declared);
        expect(violations.length).toBe(4);
        for (const message of violations) expect(bare(message)).not.toContain(number);
      }),
      runs,
    );
  });

  test("finds none where one digit is wrong", async () => {
    const wrong = fc.tuple(cards, fc.nat(), fc.integer({ min: 1, max: 9 })).map(([number, at, more]) => {
      const index = at % number.length;
      return `${number.slice(0, index)}${(Number(number[index]) + more) % 10}${number.slice(index + 1)}`;
    });
    await fc.assert(
      fc.asyncProperty(wrong, async (text) => {
        expect((await evaluate(noCardNumbers, [rule("large", { text })])).violations).toEqual([]);
      }),
      runs,
    );
  });

  test("finds none in moments of this century up to the year 2033", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 978_307_200_000, max: 1_990_000_000_000 }), async (ms) => {
        const moments = [ms, `${ms}`, `${ms}123`, `${ms}123456`, new Date(ms).toISOString()];
        expect((await evaluate(noCardNumbers, [rule("large", { moments })])).violations).toEqual([]);
      }),
      runs,
    );
  });
});

describe("no-bank-accounts", () => {
  test("passes texts that are none", async () => {
    const declared = [
      rule("large", {
        names: ["DE89 rules", "GB20 limit for new customers", "DE88370400440532013000", "XX89370400440532013000"],
        glued: "DE893704004405320130001",
        mixed: "De89 3704 0044 0532 0130 00",
        amount: 89370400440532,
      }),
    ];
    expect((await evaluate(noBankAccounts, declared)).violations).toEqual([]);
  });

  test("names the rule and the path, and nothing of the number", async () => {
    const declared = [
      rule("large", { account: "DE89 3704 0044 0532 0130 00" }),
      ruleSet("rules", { "FR14 2004 1010 0505 0001 3M02 606": { to: ["pay gb82west12345698765432 only"] } }),
    ];
    expect((await evaluate(noBankAccounts, declared)).violations).toEqual([
      "large: large: /account: found a bank account number (IBAN) of 22 characters, allowed none",
      "rules: [bank account]: found a bank account number (IBAN) of 27 characters in its key, allowed none",
      "rules: [bank account]: /to/0: found a bank account number (IBAN) of 22 characters, allowed none",
    ]);
  });

  test("leaves out what is not known yet, says so, and checks everything else", async () => {
    const declared = [rule("large", { late: unknown, account: "NO9386011117947" })];
    expect(await evaluate(noBankAccounts, declared)).toMatchObject({
      violations: ["large: large: /account: found a bank account number (IBAN) of 15 characters, allowed none"],
      notes: ["not known before the run, so not checked: large: /late"],
    });
  });

  test("leaves out what a pointer excepts, and refuses a wrong one", async () => {
    const declared = [rule("large", { account: "NO9386011117947" })];
    expect((await evaluate(noBankAccounts, declared, { except: ["/account"] })).violations).toEqual([]);
    await expect(evaluate(noBankAccounts, declared, { except: "/account" })).rejects.toThrow(/must be array/);
  });

  test("finds every IBAN, wherever it stands, and no message holds it", async () => {
    const numbers = ibans.chain((number) => fc.tuple(fc.constant(number), written(number)));
    await fc.assert(
      fc.asyncProperty(numbers, async ([number, text]) => {
        const declared = [rule("large", { text }), ruleSet("set", { [`a ${text}`]: { [text]: [text] } })];
        const { violations } = await evaluate(noBankAccounts, declared);
        expect(violations.length).toBe(4);
        for (const message of violations) expect(bare(message)).not.toContain(number);
      }),
      runs,
    );
  });
});

/** In two parts, so that nobody who scans the sources takes them for real ones. */
const examples: Record<string, string> = {
  "a private key": ["-----BEGIN RSA", "PRIVATE KEY-----\nMIIEow"].join(" "),
  "a secret key of Stripe": ["sk", "live", "4eC39HqLyjWDarjtT1zdp7dc"].join("_"),
  "an access key of AWS": ["AKIA", "IOSFODNN7EXAMPLE"].join(""),
  "a key of Google": ["AIza", "SyA1234567890abcdefghijklmnopqrstuv"].join(""),
  "a token of GitHub": ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_"),
  "a token of GitLab": ["glpat", "abcdefghij0123456789"].join("-"),
  "a token of Slack": ["xoxb", "123456789012-abcdefABCDEF"].join("-"),
  "a token of npm": ["npm", "abcdefghijklmnopqrstuvwxyz0123456789"].join("_"),
  "a token of Pulumi": ["pul", "0123456789abcdef0123456789abcdef01234567"].join("-"),
  "a JSON Web Token": ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJl"].join("."),
  "a bearer token": ["Bearer", "abcdef0123456789abcdef"].join(" "),
  "a password of basic authentication": ["Basic", "dXNlcjpwYXNzd29yZDEyMw=="].join(" "),
  "a password in a URL": ["https://user", "hunter2@example.com/hook"].join(":"),
};

describe("no-credentials", () => {
  test("passes texts that are none", async () => {
    const declared = [
      rule("large", {
        url: "https://example.com:8080/path?at=user@example.com",
        note: "the bearer of this, and the basic condition of it",
        // References, words, and a token of which nobody learns anything.
        apiKey: "{{ payments_api_key_1 }}",
        token: "payment-token-required",
        tokenType: "network2",
        password: "",
        fingerprint: "9f86d081884c7d659a2feaa0c55ad015",
        secrets: [true, 1234567890123456],
      }),
    ];
    expect(await evaluate(noCredentials, declared)).toEqual({ violations: [], notes: [], notApplicable: [] });
  });

  test.each(Object.entries(examples))("finds %s, and prints nothing of it", async (what, text) => {
    const declared = [
      rule("large", { hook: [`before ${text} after`] }),
      ruleSet("rules", { [text]: { [text]: { late: unknown } } }),
    ];
    const { violations, notes } = await evaluate(noCredentials, declared);
    expect(violations).toEqual([
      `large: large: /hook/0: found ${what}, allowed none`,
      expect.stringMatching(new RegExp(`^rules: .*: found ${what} in its key, allowed none$`, "s")),
      expect.stringMatching(new RegExp(`^rules: .*: found ${what} in the name of a field, allowed none$`, "s")),
    ]);
    const parts = text.split(/[^\w-]/).filter((part) => /\d.*[A-Za-z]|[A-Za-z].*\d/.test(part) && part.length > 6);
    for (const message of [...violations, ...notes]) for (const part of parts) expect(message).not.toContain(part);
  });

  test("finds a random text in a field whose name speaks of a secret", async () => {
    const random = "9f86d081884c7d65";
    const declared = [rule("large", { client_secret: random, "X-Auth-Token": [random], id: random, code: [random] })];
    expect((await evaluate(noCredentials, declared)).violations).toEqual([
      "large: large: /client_secret: found a random text of 16 characters in a field whose name speaks of a secret, allowed none",
      "large: large: /X-Auth-Token/0: found a random text of 16 characters in a field whose name speaks of a secret, allowed none",
    ]);
  });

  test("names the key of a rule in a set, and leaves out what is not known yet", async () => {
    const declared = [ruleSet("rules", { late: { token: unknown }, bad: { url: "https://a:b@example.com" } })];
    expect(await evaluate(noCredentials, declared)).toMatchObject({
      violations: ["rules: bad: /url: found a password in a URL, allowed none"],
      notes: ["not known before the run, so not checked: late: /token"],
    });
  });

  test("leaves out what a pointer excepts, and refuses a wrong one", async () => {
    const declared = [rule("large", { hooks: [{ url: "https://a:b@example.com" }] })];
    expect((await evaluate(noCredentials, declared, { except: ["/hooks/*/url"] })).violations).toEqual([]);
    await expect(evaluate(noCredentials, declared, { except: [5] })).rejects.toThrow(/must be string/);
  });
});
