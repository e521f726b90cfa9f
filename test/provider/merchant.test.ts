import { createHash, scryptSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PlaceParts, placeKey, principalOf, stretched } from "../../provider/merchant/fingerprint.ts";
import { hashOfIdentity, isOpaqueId, isOwnerId, newOwnerId } from "../../provider/merchant/identity.ts";
import {
  isSamePlace,
  type Link,
  linkIn,
  linkText,
  type Site,
  sameIdentity,
  siteIn,
  siteText,
} from "../../provider/merchant/site.ts";
import { caseId, mayHavePairWord, pairWord, recoverId } from "../../provider/merchant/words.ts";

const ownerId = "0123456789abcdef".repeat(2);
const otherOwnerId = "fedcba9876543210".repeat(2);

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
/** Names of connections, projects and stacks, and addresses: none has a blank. */
const plain = fc.string({ unit: fc.constantFrom(..."abzAZ09-_.:/~%é"), minLength: 1, maxLength: 40 });
const sites: fc.Arbitrary<Site> = fc.record({
  connection: plain,
  address: plain,
  key: fc.option(hex(16)),
  identity: fc.option(hex(12)),
});
const links: fc.Arbitrary<Link> = fc.record({
  ownerId: hex(32),
  names: fc.tuple(plain, plain).map((names) => names.join("/")),
  site: sites,
});

const site: Site = {
  connection: "default",
  address: "https://payments.example.com/eu",
  key: "0123456789abcdef",
  identity: "0123456789ab",
};

describe("the note of a place", () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(sites, (each) => {
        expect(siteIn(siteText(each))).toEqual(each);
      }),
    );
    expect(siteText(site)).toBe("default 0123456789abcdef 0123456789ab https://payments.example.com/eu");
    expect(siteText({ ...site, key: null, identity: null })).toBe("default - - https://payments.example.com/eu");
  });

  test.each([
    undefined,
    null,
    7,
    "",
    "default",
    "default - -",
    "default 0123 - https://a.example",
    "default - 0123 https://a.example",
    "default 0123456789ABCDEF - https://a.example",
    "default 0123456789abcdef - https://a.example ",
    " default - - https://a.example",
    "default  - - https://a.example",
    "my shop - - https://a.example",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  ])("is not %j", (text) => {
    expect(siteIn(text)).toBeUndefined();
  });

  test("is of the same place where address and key are equal, whatever the connection and the identity", () => {
    fc.assert(
      fc.property(sites, sites, (one, other) => {
        const isSame = one.key !== null && one.key === other.key && one.address === other.address;
        expect(isSamePlace(one, other)).toBe(isSame);
        expect(isSamePlace(other, one)).toBe(isSame);
        const alike = { ...other, address: one.address, key: one.key };
        expect(isSamePlace(one, alike)).toBe(one.key !== null);
      }),
    );
  });

  test("is of no place that equals another where nothing tells it: none equals nothing", () => {
    const nothing = { ...site, key: null };
    expect(isSamePlace(nothing, nothing)).toBe(false);
    expect(isSamePlace(nothing, site)).toBe(false);
    expect(isSamePlace(site, nothing)).toBe(false);
    expect(isSamePlace(undefined, undefined)).toBe(false);
    expect(isSamePlace(site, undefined)).toBe(false);
    expect(isSamePlace(undefined, site)).toBe(false);
  });

  test.each<[one: string | null | undefined, other: string | null | undefined, isSame: boolean | undefined]>([
    ["0123456789ab", "0123456789ab", true],
    ["0123456789ab", "ba9876543210", false],
    [null, "0123456789ab", undefined],
    [null, null, undefined],
    [undefined, "0123456789ab", undefined],
    [undefined, undefined, undefined],
  ])("with the identity %s beside %s: equal %s", (one, other, isSame) => {
    const [here, there] = [one, other].map((identity) => (identity === undefined ? undefined : { ...site, identity }));
    expect(sameIdentity(here, there)).toBe(isSame);
    expect(sameIdentity(there, here)).toBe(isSame);
  });
});

describe("the link of a connection", () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(links, (link) => {
        expect(linkIn(linkText(link))).toEqual(link);
      }),
    );
    expect(linkText({ ownerId, names: "shop/prod", site })).toBe(`${ownerId} shop/prod ${siteText(site)}`);
  });

  test.each([
    undefined,
    null,
    "",
    ownerId,
    `${ownerId} shop/prod`,
    `${ownerId} shop/prod default - -`,
    `${ownerId.slice(1)} shop/prod ${siteText(site)}`,
    `${ownerId}0 shop/prod ${siteText(site)}`,
    `${ownerId.toUpperCase()} shop/prod ${siteText(site)}`,
    `${ownerId}  ${siteText(site)}`,
    siteText(site),
  ])("is not %j", (text) => {
    expect(linkIn(text)).toBeUndefined();
  });
});

describe("an owner id", () => {
  test("is 128 random bits", () => {
    const ids = Array.from({ length: 1000 }, newOwnerId);
    expect(new Set(ids).size).toBe(1000);
    expect(ids.every(isOwnerId)).toBe(true);
    // Each digit takes each value: no part of it is fixed.
    for (let at = 0; at < 32; at += 1) expect(new Set(ids.map((id) => id[at])).size).toBe(16);
  });

  test.each(["", ownerId.slice(1), `${ownerId}0`, ownerId.toUpperCase(), `${ownerId}\n`, "g".repeat(32)])(
    "is not %j",
    (text) => {
      expect(isOwnerId(text)).toBe(false);
    },
  );
});

describe("the identity of a merchant", () => {
  test("is one hash in every stack, and another for each merchant", () => {
    expect(hashOfIdentity("acme")).toBe(createHash("sha256").update("acme").digest("hex").slice(0, 12));
    const merchants = Array.from({ length: 1000 }, (_, k) => `merchant-${k}`);
    expect(new Set(merchants.map(hashOfIdentity)).size).toBe(1000);
  });

  test("has the form that a note has, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (identity) => {
        const noted = { ...site, identity: hashOfIdentity(identity) };
        expect(siteIn(siteText(noted))).toEqual(noted);
      }),
    );
  });
});

describe("an id", () => {
  test.each<[what: string, ruleId: string, isOpaque: boolean]>([
    ["a UUID of version 4", "04da6b54-80e4-46f7-96ec-b56ff0331ba9", true],
    ["a UUID of version 7", "01890a5d-ac96-774b-bcce-b302099a8057", true],
    ["a UUID of version 1", "c232ab00-9414-11ec-b3c8-9f6bdeced846", true],
    ["a UUID in capitals", "04DA6B54-80E4-46F7-96EC-B56FF0331BA9", true],
    ["a UUID with a prefix", "rule_04da6b54-80e4-46f7-96ec-b56ff0331ba9", true],
    ["a UUID without dashes", "04da6b5480e446f796ecb56ff0331ba9", true],
    ["a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV", true],
    ["a ULID in small letters", "01arz3ndektsv4rrffq69g5fav", false],
    ["a ULID with a prefix", "rule_01ARZ3NDEKTSV4RRFFQ69G5FAV", true],
    ["16 hexadecimal digits", "9f86d081884c7d65", true],
    ["24 hexadecimal digits", "507f1f77bcf86cd799439011", true],
    ["15 small letters and digits, which words may be, too", "a1b2c3d4e5f6g7h", false],
    ["24 letters and digits with a prefix", "rule_1MowQVLkdIwHu7ixraBm864u", true],
    ["the same with a dash", "rule-1MowQVLkdIwHu7ixraBm864u", false],
    ["64 random bits with a prefix", "rule_abc123def456789a", true],

    ["a number", "7", false],
    ["a larger number", "1002003", false],
    ["a number of 16 digits", "1234567890123456", false],
    ["a number of 19 digits", "1541815603606036480", false],
    ["a number with a prefix", "rule_1", false],
    ["a number of 16 digits with a prefix", "rule_1234567890123456", false],
    ["a short random text", "a1b2c3d4", false],
    ["14 letters and digits", "a1b2c3d4e5f6g7", false],
    ["14 hexadecimal digits with a prefix", "rule_9f86d081884c7d", false],
    ["nothing", "", false],
    ["a UUID of nothing", "00000000-0000-0000-0000-000000000000", false],
    ["a UUID that is cut", "04da6b54-80e4-46f7-96ec-b56ff0331ba", false],
    ["a name", "limit", false],
    ["a name with a number", "limit1", false],
    ["a slug with a year", "block-large-amounts-2024", false],
    ["a slug with a prefix", "rule_block-large-amounts-2024", false],
    ["a slug of numbers", "rule-1-of-3-in-2024", false],
    ["a slug with underlines", "block_large_amounts_2024", false],
    ["a long word", "blocklargeamountsofnewcustomers", false],
    ["a long word with a year", "blocklargeamounts2024", false],
    ["a long word in camel case", "blockLargeAmounts2024", false],
    ["a date", "2026-11-26", false],
    ["a path", "merchants/7/rules/1", false],
    ["words with blanks", "block large amounts", false],
  ])("by its form: %s, %s: opaque %s", (_, ruleId, isOpaque) => {
    expect(isOpaqueId(ruleId, null)).toBe(isOpaque);
    // What the contract says counts more than any form.
    expect(isOpaqueId(ruleId, "service")).toBe(true);
    expect(isOpaqueId(ruleId, "merchant")).toBe(false);
  });

  test("that is a UUID is opaque, in small letters or capitals, with a prefix or none", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom("", "rule_", "r_"), (uuid, prefix) => {
        expect(isOpaqueId(`${prefix}${uuid}`, null)).toBe(true);
        expect(isOpaqueId(`${prefix}${uuid.toUpperCase()}`, null)).toBe(true);
      }),
    );
  });

  test("that is a number is not, however long, with a prefix or none", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.constantFrom("", "rule_", "rule-"), (number, prefix) => {
        expect(isOpaqueId(`${prefix}${number}`, null)).toBe(false);
      }),
    );
  });

  test("of words and numbers between dashes is not", () => {
    const part = fc.oneof(fc.constantFrom("block", "large", "amounts", "eu", "limit"), fc.nat(9999).map(String));
    fc.assert(
      fc.property(fc.array(part, { minLength: 3, maxLength: 8 }), fc.constantFrom("-", "_"), (parts, between) => {
        expect(isOpaqueId(parts.join(between), null)).toBe(false);
      }),
    );
  });
});

describe("the principal of credentials", () => {
  test.each<[what: string, token: string, principal: readonly string[] | null]>(
    [
      ["a key", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", ["key", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"]],
      [
        "a JWT: issuer and subject",
        jwt({ iss: "https://id.example", sub: "acme" }),
        ["subject", "https://id.example", "acme"],
      ],
      ["a JWT without an issuer", jwt({ sub: "acme" }), ["subject", "", "acme"]],
      ["a JWT without a subject", jwt({ iss: "https://id.example" }), "as a key"],
      ["a JWT with an empty subject", jwt({ iss: "https://id.example", sub: "" }), "as a key"],
      ["a JWT with a subject that is no text", jwt({ sub: 7 }), "as a key"],
      ["what looks like a JWT and is none", "a.b.c", ["key", "a.b.c"]],
      ["a JWT without an algorithm", `${part({ typ: "JWT" })}.${part({ sub: "acme" })}.x`, "as a key"],
      ["a JWT whose claims are no object", `${part({ alg: "none" })}.${part("acme")}.x`, "as a key"],
    ].map(([what, token, principal]) => [
      String(what),
      String(token),
      principal === "as a key" ? ["key", String(token)] : (principal as readonly string[] | null),
    ]),
  )("of %s", (_, token, principal) => {
    expect(principalOf({ kind: "token", token })).toEqual(principal);
  });

  test("of a client is its id, and the secret is no part of it", () => {
    const of = (clientSecret: string) => principalOf({ kind: "client", clientId: "me", clientSecret });
    expect(of("one")).toEqual(["client", "me"]);
    expect(of("other")).toEqual(of("one"));
  });

  test("of none is always the same", () => {
    expect(principalOf({ kind: "none" })).toEqual([]);
  });

  test("of a JWT stays while its times, its id and its signature change", () => {
    const of = (changing: object) =>
      principalOf({ kind: "token", token: jwt({ iss: "https://id.example", sub: "acme", ...changing }) });
    expect(of({ iat: 1, exp: 2, jti: "a" })).toEqual(of({ iat: 3, exp: 4, jti: "b" }));
    expect(principalOf({ kind: "token", token: `${jwt({ sub: "acme" })}x` })).toEqual(
      principalOf({ kind: "token", token: jwt({ sub: "acme" }) }),
    );
  });
});

describe("the key of a place", () => {
  const client = { kind: "client", clientId: "me", clientSecret: "s3cr3t" } as const;
  const parts: PlaceParts = {
    parameters: { merchantId: "m-1", apiKey: "k3y-of-the-merchant" },
    secretParameters: new Set(["apiKey"]),
    credentials: client,
  };

  test("is 16 hexadecimal digits, the same each time, whatever the order of parameters", () => {
    const key = placeKey(ownerId, parts);
    expect(key).toMatch(/^[0-9a-f]{16}$/);
    expect(placeKey(ownerId, parts)).toBe(key);
    const reversed = Object.fromEntries(Object.entries(parts.parameters).toReversed());
    expect(placeKey(ownerId, { ...parts, parameters: reversed })).toBe(key);
    expect(placeKey(ownerId, { ...parts, credentials: { ...client, clientSecret: "new" } })).toBe(key);
  });

  test("differs by owner id, each parameter, secret or not, and principal", () => {
    const keys = [
      placeKey(ownerId, parts),
      placeKey(otherOwnerId, parts),
      placeKey(ownerId, { ...parts, parameters: { ...parts.parameters, merchantId: "m-2" } }),
      placeKey(ownerId, { ...parts, parameters: { ...parts.parameters, apiKey: "another" } }),
      placeKey(ownerId, { ...parts, parameters: { merchantId: "m-1" } }),
      placeKey(ownerId, { ...parts, parameters: { ...parts.parameters, more: "" } }),
      placeKey(ownerId, { ...parts, parameters: { apiKey: "m-1", merchantId: "k3y-of-the-merchant" } }),
      placeKey(ownerId, { ...parts, secretParameters: new Set() }),
      placeKey(ownerId, { ...parts, credentials: { ...client, clientId: "other" } }),
      placeKey(ownerId, { ...parts, credentials: { kind: "token", token: "me" } }),
      placeKey(ownerId, { ...parts, credentials: { kind: "token", token: jwt({ sub: "me" }) } }),
      placeKey(ownerId, { ...parts, credentials: { kind: "token", token: jwt({ iss: "a", sub: "me" }) } }),
      placeKey(ownerId, { ...parts, credentials: { kind: "none" } }),
    ];
    expect(keys).not.toContain(null);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("is none where no credentials are given, or where a file, a command or a certificate alone has them", () => {
    const clientCertificate = { certificate: "/one.pem", key: "/one.key" };
    const keyOf = (more: Partial<PlaceParts>) => placeKey(ownerId, { ...parts, ...more });
    expect(keyOf({ credentials: undefined })).toBeNull();
    expect(keyOf({ credentials: { kind: "tokenFile", file: "/token" } })).toBeNull();
    expect(keyOf({ credentials: { kind: "tokenCommand", command: "exit 1", folder: "/" } })).toBeNull();
    expect(keyOf({ credentials: { kind: "none" }, clientCertificate })).toBeNull();
    expect(keyOf({ clientCertificate })).toBe(keyOf({}));
  });

  test("shows a secret parameter by scrypt alone, under the owner id", () => {
    const shown = stretched(ownerId, "k3y-of-the-merchant");
    expect(shown).toMatch(/^[0-9a-f]{12}$/);
    expect(stretched(ownerId, "k3y-of-the-merchant")).toBe(shown);
    expect(stretched(otherOwnerId, "k3y-of-the-merchant")).not.toBe(shown);
    expect(stretched(ownerId, "another")).not.toBe(shown);
    expect(shown).toBe(scryptSync("k3y-of-the-merchant", ownerId, 6).toString("hex"));
  });

  test("never has a value in its text", () => {
    const text = fc.string({ minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(text, text, text, text, (apiKey, merchantId, clientId, clientSecret) => {
        const credentials = { kind: "client", clientId, clientSecret } as const;
        const key = placeKey(ownerId, { ...parts, parameters: { apiKey, merchantId }, credentials });
        const noted = siteText({ ...site, identity: null, address: "-", key });
        expect(noted).toMatch(/^default [0-9a-f]{16} - -$/);
        for (const value of [apiKey, clientSecret, stretched(ownerId, apiKey)]) expect(noted).not.toContain(value);
      }),
      { numRuns: 10 },
    );
  });
});

describe("the words of a user", () => {
  const before = site;
  const now: Site = { connection: "shop", address: "https://other.example", key: "fedcba9876543210", identity: null };
  const id = caseId(ownerId, before, now);

  test("name a case by 4 hexadecimal digits, the same each time", () => {
    fc.assert(
      fc.property(hex(32), fc.option(sites, { nil: undefined }), sites, (owner, row, place) => {
        expect(caseId(owner, row, place)).toMatch(/^[0-9a-f]{4}$/);
        expect(caseId(owner, row, place)).toBe(caseId(owner, row && { ...row }, { ...place }));
      }),
    );
    expect(recoverId(ownerId)).toMatch(/^[0-9a-f]{4}$/);
    expect(recoverId(ownerId)).toBe(recoverId(ownerId));
    expect(recoverId(otherOwnerId)).not.toBe(recoverId(ownerId));
    expect(recoverId(ownerId)).not.toBe(id);
  });

  test.each<[part: string, id: string]>([
    ["owner id", caseId(otherOwnerId, before, now)],
    ["connection of the rows", caseId(ownerId, { ...before, connection: "shop" }, now)],
    ["address of the rows", caseId(ownerId, { ...before, address: "https://old.example" }, now)],
    ["key of the rows", caseId(ownerId, { ...before, key: "0000000000000000" }, now)],
    ["rows without a key", caseId(ownerId, { ...before, key: null }, now)],
    ["identity of the rows", caseId(ownerId, { ...before, identity: "000000000000" }, now)],
    ["rows that know no place", caseId(ownerId, undefined, now)],
    ["connection now", caseId(ownerId, before, { ...now, connection: "default" })],
    ["address now", caseId(ownerId, before, { ...now, address: "https://new.example" })],
    ["identity now", caseId(ownerId, before, { ...now, identity: "0123456789ab" })],
    ["both places exchanged", caseId(ownerId, now, before)],
  ])("do not fit another case: %s", (_, other) => {
    expect(other).not.toBe(id);
  });

  test("fit again where the key now is another, as with a token that changes each time", () => {
    fc.assert(
      fc.property(fc.option(hex(16)), (key) => {
        expect(caseId(ownerId, before, { ...now, key })).toBe(id);
      }),
    );
  });

  test.each<[same: string[], moved: string[], word: ReturnType<typeof pairWord>]>([
    [[id], [], "same"],
    [["0000", id, "ffff"], [], "same"],
    [[], [id], "moved"],
    [[id], ["0000"], "same"],
    [["0000"], [id], "moved"],
    [[], [], undefined],
    [["0000"], [], undefined],
    // Who says both has said nothing.
    [[id], [id], undefined],
  ])("same %j, moved %j: %s", (same, moved, word) => {
    expect(pairWord({ same, moved }, ownerId, before, now)).toBe(word);
    expect(mayHavePairWord({ same, moved })).toBe(same.length + moved.length > 0);
    expect(pairWord({ same, moved }, undefined, before, now)).toBeUndefined();
  });
});

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function jwt(claims: object): string {
  return `${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;
}
