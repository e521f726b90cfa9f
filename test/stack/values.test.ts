import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detailedDiffOf, differences, invert } from "../../local/engine/deploy/property-diff.ts";
import { decodeValue, encodeMap } from "../../stack/state/codec.ts";
import { Crypter } from "../../stack/state/crypter.ts";
import { formatPath, parsePath, resetPaths, valueAt } from "../../stack/values/path.ts";
import {
  annotateSecrets,
  containsSecret,
  equal,
  equalMaps,
  type PropertyMap,
  type PropertyValue,
  reveal,
  revealMap,
  Secret,
  unknown,
} from "../../stack/values/value.ts";
import { fromWire, toProgram, toProvider, toWire } from "../../stack/values/wire.ts";

const leaf = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
);
const key = fc.oneof(
  fc.string({ minLength: 1, maxLength: 6 }),
  fc.constantFrom("a", "b", "__proto__", "constructor", "odd key", 'a"b'),
);
const { value: plainValue } = fc.letrec<{ value: PropertyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4 }),
  ),
}));
const { value: anyValue } = fc.letrec<{ value: PropertyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3 }),
    tie("value").map((element) => new Secret(element)),
  ),
}));
const plainMap = fc.dictionary(key, plainValue, { maxKeys: 5 }) as fc.Arbitrary<PropertyMap>;
const anyMap = fc.dictionary(key, anyValue, { maxKeys: 4 }) as fc.Arbitrary<PropertyMap>;

describe("differences of property maps", () => {
  test("are none exactly when the maps are equal", () => {
    fc.assert(fc.property(plainMap, plainMap, (a, b) => (differences(a, b).length === 0) === equalMaps(a, b)));
    fc.assert(fc.property(plainMap, (map) => differences(map, structuredClone(map)).length === 0));
  });

  test("name the value before and after at each path, and mirror when the maps change places", () => {
    fc.assert(
      fc.property(plainMap, plainMap, (a, b) => {
        for (const { path, old, new: now } of differences(a, b)) {
          expect(equal(valueAt(a, path) ?? null, old ?? null)).toBe(true);
          expect(equal(valueAt(b, path) ?? null, now ?? null)).toBe(true);
        }
        expect(detailedDiffOf(differences(b, a))).toEqual(invert(detailedDiffOf(differences(a, b))));
      }),
    );
  });

  test("take null and absent for the same, order of keys for nothing, order of arrays for something", () => {
    expect(differences({ a: null, b: { x: 1, y: 2 } }, { b: { y: 2, x: 1 } })).toEqual([]);
    expect(differences({ a: [1, 2] }, { a: [2, 1] }).map(({ path }) => formatPath(path))).toEqual(["a[0]", "a[1]"]);
    expect(differences({ a: "1" }, { a: 1 })).toHaveLength(1);
  });
});

describe("property paths", () => {
  test("read back as they were written", () => {
    const part = fc.oneof(
      key.filter((text) => text !== "*" && !text.includes("\\")),
      fc.nat(20),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (path) => {
        expect(parsePath(formatPath(path))).toEqual(path);
      }),
    );
    expect(formatPath(["definition", "list", 0, "odd key"])).toBe('definition.list[0]["odd key"]');
    expect(() => parsePath('a["open')).toThrow(/not a property path/);
  });

  test("set back to what was, keep what they do not name, and hide again what was secret", () => {
    const old = { a: { x: 1, y: 2 }, list: [{ z: 1 }, { z: 2 }], token: new Secret("t"), gone: 1 };
    const now = { a: { x: 9, y: 9 }, list: [{ z: 9 }, { z: 9 }], token: "open", added: 1 };
    expect(resetPaths(now, old, ["a.x", "list[*].z", "token", "gone", "added"])).toEqual({
      inputs: { a: { x: 1, y: 9 }, list: [{ z: 1 }, { z: 2 }], token: new Secret("t"), gone: 1 },
      failed: [],
    });
    expect(resetPaths({ list: [1] }, { list: [1, 2] }, ["list[1]"]).failed).toEqual(["list[1]"]);
    fc.assert(fc.property(plainMap, plainMap, (a, b) => equalMaps(resetPaths(a, b, ["*"]).inputs, b)));
  });

  test.each<[string, PropertyMap, PropertyMap, PropertyMap, boolean]>([
    ["list[*]", { list: [7, 8, 9] }, { list: [1, 2] }, { list: [1, 2, 9] }, true],
    ["list[*]", { list: [7] }, { list: [1, 2] }, { list: [1] }, true],
    [
      "list[*].a",
      { list: [{ a: 7, b: 7 }, { a: 8 }] },
      { list: [{ a: 1 }] },
      { list: [{ a: 1, b: 7 }, { a: 8 }] },
      true,
    ],
    ["map[*]", { map: { a: 7, c: 9 } }, { map: { a: 1, b: 2 } }, { map: { a: 1, b: 2 } }, false],
    ["map[*].x", { map: { a: { x: 7 } } }, { map: { a: { x: 1 }, b: { x: 2 } } }, { map: { a: { x: 1 } } }, true],
    ["new.below", { new: { below: 7, other: 8 } }, {}, { new: { other: 8 } }, false],
    ["old.below", {}, { old: { below: 1 } }, {}, true],
    ["a[0].b", { a: 7 }, { a: 1 }, { a: 7 }, false],
    ["a[-1]", { a: [7] }, { a: [1] }, { a: [7] }, true],
    ['no["path', { no: 7 }, { no: 1 }, { no: 7 }, false],
  ])("ignoreChanges of %s sets back what both sides have", (path, now, old, inputs, fails) => {
    expect(resetPaths(now, old, [path])).toEqual({ inputs, failed: fails ? [path] : [] });
  });
});

describe("values on the wire and in state", () => {
  const crypter = new Crypter(randomBytes(32), "");
  const decode = (stored: { [key: string]: unknown }): PropertyMap =>
    Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, decodeValue(value, name, crypter)]));

  test("come back from the program's wire as they were, secrets and unknowns too", () => {
    fc.assert(fc.property(anyMap, (map) => equalMaps(fromWire(toWire(map, toProgram)), map)));
    expect(fromWire(toWire({ a: [unknown, new Secret(unknown)] }, toProgram))).toEqual({
      a: [unknown, new Secret(unknown)],
    });
  });

  test("go to the provider without secrets, and come back with them where the input of the same key was one", () => {
    fc.assert(
      fc.property(anyMap, (map) => {
        const wire = toWire(map, toProvider(false));
        expect(equalMaps(fromWire(wire), revealMap(map))).toBe(true);
        const marked = annotateSecrets(fromWire(wire), map);
        expect(equalMaps(revealMap(marked), revealMap(map))).toBe(true);
        for (const [name, value] of Object.entries(map))
          expect(containsSecret(marked[name] ?? null)).toBe(containsSecret(value));
      }),
    );
  });

  test("come back from state as they were, with nothing secret in its text, and keep their text", () => {
    fc.assert(
      fc.property(anyMap, (map) => {
        const stored = encodeMap(map, crypter);
        const text = JSON.stringify(stored);
        const read = decode(JSON.parse(text));
        expect(equalMaps(read, map)).toBe(true);
        expect(JSON.stringify(encodeMap(read, crypter))).toBe(text);
      }),
    );
    const hidden = { a: new Secret({ deep: ["never-in-clear", new Secret("nor-this")] }) };
    expect(JSON.stringify(encodeMap(hidden, crypter))).not.toMatch(/never-in-clear|nor-this/);
    expect(reveal(decode(encodeMap(hidden, crypter)).a ?? null)).toEqual({ deep: ["never-in-clear", "nor-this"] });
  });

  test("are refused where they cannot be kept", () => {
    expect(() =>
      decodeValue(
        { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:AAAA:AAAA" },
        "at",
        crypter,
      ),
    ).toThrow(/cut off/);
    const [, nonce] = crypter.encrypt("x").split(":");
    expect(() => crypter.decrypt(`v1:${nonce}:${randomBytes(20).toString("base64")}`)).toThrow(/another passphrase/);
  });
});
