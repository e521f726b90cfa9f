import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  keyIn,
  type Mark,
  marked,
  markId,
  markIn,
  markText,
  namesOf,
  newBits,
  type Owner,
  ownerIn,
  ownerOf,
  parsedMark,
  pathIn,
  personsText,
  resourceHash,
  stackOf,
} from "../../provider/merchant/mark.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import { marking } from "../support/rules.ts";

const contract = defineContract(marking);
const unmarking = defineContract({ ...marking, rule: { id: ["/id"] } });
const ownerId = "0123456789abcdef".repeat(2);
const bits = "fedcba9876543210";
/** The part of a mark that decides, as text: `<owner id>.<resource>.<bits>`. */
const decidingLength = 66;

function markOf(owner: Owner, key: string, provider = ""): Mark {
  return { ownerId, resource: resourceHash(provider, owner, key), bits, names: namesOf(owner, key) };
}

/** A mark as it is read from a rule whose field holds a text. */
function readFrom(managedBy: string | number | null) {
  return markIn({ metadata: { managedBy } }, contract);
}

/** Any name: long ones, blanks, line ends, halves of characters. */
const name = fc.string({ unit: "binary", minLength: 1, maxLength: 300 });
/** A project or a stack has no slash in its name; the path of a resource may have one. */
const plainName = name.map((text) => text.replaceAll("/", "-"));
const owners = fc.tuple(plainName, plainName, name).map(([project, stack, path]) => ownerOf(project, stack, path));
const keys = fc.oneof(fc.constant(""), name);

describe("a mark", () => {
  test("is at most 199 bytes of printable ASCII, whatever the names, and is read as it was written", () => {
    fc.assert(
      fc.property(owners, keys, (owner, key) => {
        const mark = markOf(owner, key);
        const text = markText(mark);
        expect(text).toMatch(/^[0-9a-f]{32}\.[0-9a-f]{16}\.[0-9a-f]{16} [ -~]{1,132}$/);
        expect(readFrom(text)).toEqual(mark);
        expect(parsedMark(text)).toEqual(mark);
        expect(text.startsWith(`${markId(mark)} `)).toBe(true);
      }),
    );
  });

  test("decides by what a service that cuts, turns or drops the names still keeps", () => {
    fc.assert(
      fc.property(owners, keys, fc.nat(140), (owner, key, length) => {
        const mark = markOf(owner, key);
        const text = markText(mark);
        const { names: _, ...deciding } = mark;
        expect(readFrom(text.toUpperCase())).toMatchObject(deciding);
        expect(readFrom(text.slice(0, decidingLength + 1 + length))).toMatchObject(deciding);
        expect(readFrom(text.slice(0, decidingLength))).toEqual({ ...deciding, names: "" });
      }),
    );
  });

  test("says nothing where its deciding part is cut", () => {
    const text = markText(markOf("shop/prod/limit", "key"));
    for (let length = 0; length < decidingLength; length += 1) expect(readFrom(text.slice(0, length))).toBeUndefined();
  });

  test("is another by owner id, by resource and by bits, and the same whatever its names", () => {
    const mark = markOf("shop/prod/limit", "");
    const ids = [
      mark,
      { ...mark, ownerId: "f".repeat(32) },
      { ...mark, resource: "f".repeat(16) },
      { ...mark, bits: "f".repeat(16) },
    ].map(markId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(markId({ ...mark, names: "other/names" })).toBe(markId(mark));
  });

  test("has new bits for each rule", () => {
    const all = Array.from({ length: 1000 }, newBits);
    expect(new Set(all).size).toBe(1000);
    for (const each of all) expect(each).toMatch(/^[0-9a-f]{16}$/);
  });

  test("never takes two resources for one: names that are alike for long, differ in case, or in where the key begins", () => {
    const long = "x".repeat(400);
    const hashes = [
      resourceHash("", `shop/prod/${long}a`, ""),
      resourceHash("", `shop/prod/${long}b`, ""),
      resourceHash("", "shop/prod/set", `${long}a`),
      resourceHash("", "shop/prod/set", `${long}b`),
      resourceHash("", "shop/prod/Limit", ""),
      resourceHash("", "shop/prod/limit", ""),
      resourceHash("", "shop/prod/a", "b"),
      resourceHash("", "shop/prod/a#b", ""),
      resourceHash("", "shop/prod/a/b", ""),
      resourceHash("", "shop/prod/shop:North::a", ""),
      resourceHash("", "shop/prod/shop:South::a", ""),
      resourceHash("", "shop/prod/grün", ""),
      resourceHash("", "shop/prod/gru\u0308n", ""),
      // Two processes hear nothing of one another: the provider's name tells their resources apart.
      resourceHash("north", "shop/prod/limit", ""),
      resourceHash("south", "shop/prod/limit", ""),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{16}$/);
  });

  test("has the same resource in a stack of another name, so that a rename changes no mark's meaning", () => {
    expect(resourceHash("north", "shop/prod/limit", "key")).toBe(resourceHash("north", "other/test/limit", "key"));
  });

  test("tells people its names; long ones end with a hash, and the key is told apart", () => {
    const mark = markOf("shop/prod/shop:North::limit", "large amounts");
    expect(mark.names).toBe("shop/prod/limit#large amounts");
    expect(ownerIn(mark)).toBe("shop/prod/limit");
    expect(keyIn(mark)).toBe("large amounts");
    const [a, b] = ["a", "b"].map((end) => namesOf(`shop/prod/${"x".repeat(200)}${end}`, ""));
    expect(a).toMatch(/^shop\/prod\/x{21}~[0-9a-f]{12}$/);
    expect(b).not.toBe(a);
    expect(namesOf(`${"p".repeat(40)}/${"s".repeat(40)}/limit`, "k".repeat(40))).toMatch(
      /^p{17}~[0-9a-f]{12}\/s{17}~[0-9a-f]{12}\/limit#k{22}~[0-9a-f]{12}$/,
    );
  });

  test("tells a key that is not long as it was, and none where there is none", () => {
    const short = fc.string({ unit: "grapheme", maxLength: 2 });
    fc.assert(
      fc.property(owners, short, (owner, key) => {
        fc.pre(encodeURI(key).length <= 35);
        expect(keyIn(markOf(owner, key))).toBe(key);
        expect(ownerIn(markOf(owner, key))).toBe(namesOf(owner, ""));
      }),
    );
    expect(keyIn({ ...markOf("shop/prod/limit", ""), names: "shop/prod/limit#100%" })).toBe("100%");
  });

  test.each<[what: string, text: string | number | null]>([
    ["a name", "alice"],
    ["nothing", ""],
    ["an owner id alone", ownerId],
    ["an owner id and a resource", `${ownerId}.${bits}`],
    ["an owner id, a resource and no bits", `${ownerId}.${bits}.`],
    ["a mark of version 2", `${ownerId.slice(0, 20)}.${bits} shop/prod/limit`],
    ["a short owner id", `${ownerId.slice(1)}.${bits}.${bits} shop/prod/limit`],
    ["a long resource", `${ownerId}.${bits}0.${bits} shop/prod/limit`],
    ["long bits", `${ownerId}.${bits}.${bits}0 shop/prod/limit`],
    ["no hexadecimal digits", `${"g".repeat(32)}.${bits}.${bits} shop/prod/limit`],
    ["words before it", `see ${ownerId}.${bits}.${bits} shop/prod/limit`],
    ["no blank before the names", `${ownerId}.${bits}.${bits}/shop/prod/limit`],
    ["a number", 12],
    ["null", null],
  ])("is not what people write into its field: %s", (_what, text) => {
    expect(readFrom(text)).toBeUndefined();
    expect(parsedMark(text)).toBeUndefined();
  });

  test("stands in its place of a definition, which stays as it was", () => {
    const definition = { name: "a", metadata: { ticket: "PAY-7" } };
    const mark = markOf("shop/prod/limit", "");
    const sent = marked(definition, mark, contract);
    expect(sent).toEqual({ name: "a", metadata: { ticket: "PAY-7", managedBy: markText(mark) } });
    expect(definition).toEqual({ name: "a", metadata: { ticket: "PAY-7" } });
    expect(marked(definition, undefined, contract)).toBe(definition);
    expect(marked(definition, mark, unmarking)).toBe(definition);
    expect(markIn(sent, unmarking)).toBeUndefined();
  });
});

describe("a person's text in the field of the marks", () => {
  const text = (managedBy: unknown) => personsText(JSON.parse(JSON.stringify({ metadata: { managedBy } })), contract);

  test.each<[what: string, field: unknown, seen: string | undefined]>([
    ["a text", "ask Mona", "ask Mona"],
    ["a blank", " ", " "],
    ["a text that begins as a mark", `${ownerId}.${bits}`, `${ownerId}.${bits}`],
    ["a number", 7, "7"],
    ["false", false, "false"],
    ["an object", { team: "risk" }, '{"team":"risk"}'],
    ["a mark", markText(markOf("shop/prod/limit", "")), undefined],
    ["another stack's mark, its names cut", `${"f".repeat(32)}.${bits}.${bits}`, undefined],
    ["nothing", "", undefined],
    ["null", null, undefined],
    ["no field", undefined, undefined],
  ])("%s", (_what, field, seen) => {
    expect(text(field)).toBe(seen);
  });

  test("is no question where the contract has no place for marks", () => {
    expect(personsText({ metadata: { managedBy: "ask Mona" } }, unmarking)).toBeUndefined();
  });
});

describe("the names of a resource", () => {
  test("are those of its stack and its path, which may have slashes", () => {
    fc.assert(
      fc.property(plainName, plainName, name, (project, stack, path) => {
        const owner = ownerOf(project, stack, path);
        expect(stackOf(owner)).toBe(`${project}/${stack}`);
        expect(pathIn(owner)).toBe(path);
      }),
    );
  });

  test("are those of no stack where nobody has said them", () => {
    expect(stackOf("")).toBeUndefined();
  });
});
