import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  connectionIdIn,
  connectionIdText,
  hashOfIdentity,
  newConnectionId,
} from "../../provider/reconcile/identity.ts";
import { marked, markIn, markOf, markText, ownerIn, ownerOf, placeOf } from "../../provider/reconcile/mark.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import { marking } from "../support/rules.ts";

const contract = defineContract(marking);
const ownerId = "0123456789abcdef0123";

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
  test("is at most 200 bytes of printable ASCII, whatever the names, and is read as it was written", () => {
    fc.assert(
      fc.property(owners, keys, (owner, key) => {
        const text = markText(markOf(ownerId, owner, key));
        expect(text).toMatch(/^[ -~]{38,200}$/);
        expect(readFrom(text)).toEqual(markOf(ownerId, owner, key));
        expect(readFrom(text)).toMatchObject({ ownerId, place: placeOf(owner, key) });
      }),
    );
  });

  test("decides by what a service that cuts, turns or drops the names still keeps", () => {
    fc.assert(
      fc.property(owners, keys, fc.nat(160), (owner, key, length) => {
        const mark = markOf(ownerId, owner, key);
        const text = markText(mark);
        const decided = { ownerId, place: mark.place };
        expect(readFrom(text.toUpperCase())).toMatchObject(decided);
        expect(readFrom(text.slice(0, 38 + length))).toMatchObject(decided);
        expect(readFrom(text.slice(0, 37))).toMatchObject(decided);
      }),
    );
  });

  test("says nothing where its deciding part is cut", () => {
    const text = markText(markOf(ownerId, "shop/prod/limit", "key"));
    for (let length = 0; length < 37; length += 1) expect(readFrom(text.slice(0, length))).toBeUndefined();
  });

  test("never takes two rules for one: names that are alike for long, differ in case, or in where the key begins", () => {
    const long = "x".repeat(400);
    const places = [
      placeOf(`shop/prod/${long}a`, ""),
      placeOf(`shop/prod/${long}b`, ""),
      placeOf("shop/prod/set", `${long}a`),
      placeOf("shop/prod/set", `${long}b`),
      placeOf("shop/prod/Limit", ""),
      placeOf("shop/prod/limit", ""),
      placeOf("shop/prod/a", "b"),
      placeOf("shop/prod/a#b", ""),
      placeOf("shop/prod/a/b", ""),
      placeOf("shop/prod/shop:North::a", ""),
      placeOf("shop/prod/shop:South::a", ""),
      placeOf("shop/prod/grün", ""),
      placeOf("shop/prod/gru\u0308n", ""),
    ];
    expect(new Set(places).size).toBe(places.length);
  });

  test("has the same place in a stack of another name, so that a rename changes no mark's meaning", () => {
    expect(placeOf("shop/prod/limit", "key")).toBe(placeOf("other/test/limit", "key"));
  });

  test("tells people its names; long ones end with a hash, and the key is told apart", () => {
    const { names } = markOf(ownerId, "shop/prod/shop:North::limit", "large amounts");
    expect(names).toBe("shop/prod/limit#large amounts");
    expect(ownerIn({ ownerId, place: "", names })).toBe("shop/prod/limit");
    const [a, b] = ["a", "b"].map((end) => markOf(ownerId, `shop/prod/${"x".repeat(200)}${end}`, "").names);
    expect(a).toMatch(/^shop\/prod\/x{27}~[0-9a-f]{12}$/);
    expect(b).not.toBe(a);
  });

  test.each<[string, string | number | null]>([
    ["a name", "alice"],
    ["nothing", ""],
    ["an owner id alone", ownerId],
    ["an owner id and no place", `${ownerId}.`],
    ["a short owner id", `${ownerId.slice(1)}.0123456789abcdef shop/prod/limit`],
    ["a long place", `${ownerId}.0123456789abcdef0 shop/prod/limit`],
    ["no hexadecimal digits", `${"g".repeat(20)}.0123456789abcdef shop/prod/limit`],
    ["words before it", `see ${ownerId}.0123456789abcdef shop/prod/limit`],
    ["no blank before the names", `${ownerId}.0123456789abcdef/shop/prod/limit`],
    ["a number", 12],
    ["null", null],
  ])("is not what people write into its field: %s", (_what, text) => {
    expect(readFrom(text)).toBeUndefined();
  });

  test("stands in its place of a definition, which stays as it was", () => {
    const definition = { name: "a", metadata: { ticket: "PAY-7" } };
    const mark = markOf(ownerId, "shop/prod/limit", "");
    const sent = marked(definition, mark, contract);
    expect(sent).toEqual({ name: "a", metadata: { ticket: "PAY-7", managedBy: markText(mark) } });
    expect(definition).toEqual({ name: "a", metadata: { ticket: "PAY-7" } });
    expect(marked(definition, undefined, contract)).toBe(definition);
    expect(marked(definition, mark, defineContract({ ...marking, rule: { id: ["/id"] } }))).toBe(definition);
  });
});

describe("a connection's id", () => {
  test("is read as it was written, with an identity and without", () => {
    fc.assert(
      fc.property(fc.option(fc.string({ unit: "binary" }), { nil: undefined }), (identity) => {
        const id = newConnectionId(identity);
        expect(connectionIdIn(connectionIdText(id))).toEqual(id);
        expect(connectionIdText(id)).toMatch(/^[0-9a-f]{20}\.([0-9a-f]{12})?$/);
        expect(id.identity).toBe(identity === undefined ? undefined : hashOfIdentity(identity));
      }),
    );
  });

  test("has a new owner id each time, and the same identity for one merchant in every stack", () => {
    const ids = Array.from({ length: 100 }, () => newConnectionId("acme"));
    expect(new Set(ids.map(({ ownerId }) => ownerId)).size).toBe(100);
    expect(new Set(ids.map(({ identity }) => identity)).size).toBe(1);
    expect(hashOfIdentity("globex")).not.toBe(hashOfIdentity("acme"));
  });

  test.each([undefined, null, 7, "", ownerId, `${ownerId}.0`, `${ownerId}.0123456789ab `, `${ownerId.toUpperCase()}.`])(
    "is not %j",
    (text) => {
      expect(connectionIdIn(text)).toBeUndefined();
    },
  );
});
