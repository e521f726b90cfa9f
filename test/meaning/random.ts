import fc from "fast-check";
import { defineSemantics, type Semantics } from "../../meaning/index.ts";
import type { OperatorName } from "../../meaning/language/schema-words.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { type Leaf, type NaiveField, type NaiveRule, patterns, type Tree, type World } from "./naive.ts";

const operators: OperatorName[] = [
  "eq", "ne", "in", "notIn", "gt", "gte", "lt", "lte", "between",
  "startsWith", "endsWith", "contains", "exists", "absent", "inCidr",
]; // biome-ignore format: a list of words

function operatorsOf(described: World["patterns"]): readonly OperatorName[] {
  return described === undefined ? operators : [...operators, "matches"];
}

/** Values of each type, near to each other. */
const good: Record<NaiveField["type"], Json[]> = {
  decimal: [
    0,
    -0,
    5,
    "5",
    "5.0",
    "50e-1",
    5.000001,
    "5.0000000000000000000000001",
    -5,
    1e21,
    "1000000000000000000001",
    0.1,
    "0.10",
  ],
  text: [
    "",
    "a",
    "A",
    "ab",
    "Ab",
    "abc",
    "é",
    "É",
    "e\u0301",
    "\u{1f600}",
    "\ufffd",
    "ſ",
    "s",
    "K",
    "k",
    "\u212a",
    "5",
  ],
  boolean: [true, false],
  instant: [
    "2026-01-31T12:00:00Z",
    "2026-01-31T13:00:00+01:00",
    "2026-01-31T12:00:00.000000001Z",
    "2026-01-31T12:00:00.0Z",
    "2026-01-31T11:59:59.999999999Z",
    "2024-02-29T00:00:00-00:30",
  ],
  ip: ["10.0.0.1", "10.0.0.255", "10.1.0.0", "::1", "0:0:0:0:0:0:0:1", "2001:db8::", "2001:DB8:0::", "2001:db8::ff"],
};
/** Values that only look like one. */
const odd: Record<NaiveField["type"], Json[]> = {
  decimal: ["05", "+5", "5.", " 5", "0x5", "", "Infinity"],
  text: [5, true],
  boolean: ["true", 1, 0, "yes"],
  instant: ["2026-02-29T12:00:00Z", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z"],
  ip: ["::ffff:10.0.0.1", "10.0.0.01", "10.0.0", "10.0.0.256", "fe80::1%eth0"],
};
const networks: Json[] = [
  "10.0.0.0/24",
  "10.0.0.0/8",
  "0.0.0.0/0",
  "::/0",
  "2001:db8::/32",
  "10.0.0.1/24",
  "10.0.0.1",
  "10.0.0.0/33",
  "2001:db8::/128",
  5,
];
const oddities: Json[] = [null, 1, "x", true, [], {}];
/** `npm run test:all` tries more of them. */
export const runs = process.env.FUZZ_RUNS === undefined ? 1500 : 20_000;
const names = ["a", "b", "c", "d"];

const described: fc.Arbitrary<NaiveField> = fc.record({
  type: fc.constantFrom<NaiveField["type"]>("decimal", "text", "boolean", "instant", "ip"),
  list: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, { arbitrary: fc.constant(true), weight: 1 }),
  ignoresCase: fc.constantFrom(true, false, null),
});

function often<Value>(common: fc.Arbitrary<Value>, rare: fc.Arbitrary<Value>, weight = 8): fc.Arbitrary<Value> {
  return fc.oneof({ arbitrary: common, weight }, { arbitrary: rare, weight: 1 });
}

function oneOf(type: NaiveField["type"]): fc.Arbitrary<Json> {
  return often(fc.constantFrom(...good[type]), fc.constantFrom(...odd[type]), 30);
}

function valueFor({ type, list }: NaiveField): fc.Arbitrary<Json> {
  return often<Json>(list ? fc.array(oneOf(type), { maxLength: 3 }) : oneOf(type), fc.constantFrom(...oddities), 15);
}

/** The comparisons that a field is most often in; now and then any is tried. */
function operatorsFor({ type, list }: NaiveField, operators: readonly OperatorName[]): string[] {
  if (list) return ["eq", "ne", "in", "notIn", "contains"];
  if (type === "boolean") return ["eq", "ne", "in", "exists"];
  if (type === "ip") return ["eq", "notIn", "inCidr", "absent"];
  return operators.filter((each) => each !== "inCidr" && (type === "text" || !/With$|contains|matches/.test(each)));
}

function leafOf(fields: Record<string, NaiveField>, operators: readonly OperatorName[]): fc.Arbitrary<Leaf> {
  return often(fc.constantFrom(...Object.keys(fields)), fc.constant("nobody"), 60).chain((field) => {
    const of = fields[field] ?? { type: "text" as const };
    const op = often(fc.constantFrom(...operatorsFor(of, operators)), fc.constantFrom(...operators), 15);
    return fc
      .tuple(op, fc.boolean())
      .chain(([op, not]) => operandFor(op, of, Object.keys(fields)).map((rest): Leaf => ({ field, op, not, ...rest })));
  });
}

function operandFor(op: string, { type, list }: NaiveField, names: readonly string[]): fc.Arbitrary<Partial<Leaf>> {
  if (op === "exists" || op === "absent") return fc.constant({});
  const one = oneOf(type);
  const some = fc.array(one, { maxLength: 3 });
  const byOperator: Record<string, fc.Arbitrary<Json>> = {
    in: some,
    notIn: some,
    matches: often<Json>(fc.constantFrom(...Object.keys(patterns)), fc.constantFrom(5, null), 20),
    between: fc.tuple(one, one).map((pair) => [...pair]),
    inCidr: fc.oneof(
      fc.constantFrom(...networks),
      fc.array(fc.constantFrom(...networks.slice(0, 5)), { maxLength: 2 }),
    ),
  };
  const literal = byOperator[op] ?? (list && op !== "contains" ? fc.oneof(some, one) : one);
  return fc.oneof(
    { arbitrary: literal.map((value) => ({ value })), weight: 20 },
    { arbitrary: fc.constantFrom(...names).map((other) => ({ other })), weight: 2 },
    { arbitrary: fc.constantFrom("first", "second", "none").map((list) => ({ list })), weight: op === "in" ? 5 : 1 },
  );
}

function treeOf(fields: Record<string, NaiveField>, operators: readonly OperatorName[]): fc.Arbitrary<Tree> {
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { arbitrary: leafOf(fields, operators), weight: 5 },
      { arbitrary: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }).map((all): Tree => ({ all })), weight: 1 },
      { arbitrary: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }).map((any): Tree => ({ any })), weight: 1 },
      { arbitrary: tie("tree").map((not): Tree => ({ not })), weight: 1 },
    ),
  }));
  return tree;
}

export const instant = fc.constantFrom(...good.instant.map(String));
/** Random semantics. */
export const world: fc.Arbitrary<World> = fc
  .record({
    fields: fc
      .tuple(described, described, described, described)
      .map((each) => Object.fromEntries(names.map((name, index) => [name, each[index] ?? { type: "text" as const }]))),
    missing: fc.constantFrom<World["missing"]>("unknown", "comparisonFalse", { value: "5" }),
    undecidedRule: fc.constantFrom<World["undecidedRule"]>("noMatch", "unknown"),
    listEq: fc.constantFrom<World["listEq"]>("anyElement", "wholeList"),
    listContains: fc.constantFrom<World["listContains"]>("element", "textOfElement"),
    join: fc.constantFrom<World["join"]>("all", "any"),
    wins: fc.constantFrom<World["wins"]>("order", "precedence", "listed", "all"),
    equal: fc.constantFrom<World["equal"]>("unknown", "firstListed", "lastListed", "precedence"),
    precedence: fc.shuffledSubarray(["accept", "decline", "review"], { minLength: 3 }),
    none: fc.constantFrom("accept", "decline", null),
    valueLists: fc.constant<World["valueLists"]>({ first: ["a", "B", "5"], second: [1, 5, 0.1] }),
  })
  // A value for all fields fits all only where they are texts or decimals, and no lists.
  .map((made) => {
    if (typeof made.missing === "string") return made;
    const plain = Object.entries(made.fields).map(([name, { type, ignoresCase }]): [string, NaiveField] => [
      name,
      { type: type === "decimal" ? type : "text", list: false, ignoresCase: ignoresCase ?? null },
    ]);
    return { ...made, fields: Object.fromEntries(plain) };
  });

/** Random semantics with patterns. */
export const worldWithPatterns: fc.Arbitrary<World> = fc
  .tuple(
    world,
    often<World["patterns"]>(
      fc.record({
        dialect: fc.constantFrom("re2" as const, "java" as const),
        anchoring: fc.constantFrom("whole" as const, "part" as const),
      }),
      fc.constant(null),
    ),
  )
  .map(([of, described]) => ({ ...of, patterns: described ?? null }));

/** Random payments of a world. */
export function paymentFor({ fields }: World): fc.Arbitrary<JsonObject> {
  return fc
    .record(Object.fromEntries(names.map((name) => [name, valueFor(fields[name] ?? { type: "text" })])), {
      requiredKeys: [],
    })
    .map((made): JsonObject => Object.fromEntries(names.flatMap((name) => pairOf(name, made[name]))));
}

/** Random rules of a world, so many at most. */
export function rulesFor({ fields, patterns: described }: World, maxLength: number): fc.Arbitrary<NaiveRule[]> {
  return fc.array(
    fc.record(
      {
        when: often(
          fc.array(treeOf(fields, operatorsOf(described)), { minLength: 1, maxLength: 2 }),
          fc.constant<Tree[]>([]),
          30,
        ),
        enabled: often(fc.constant(true), fc.constant(false), 20),
        action: fc.constantFrom("accept", "decline", "review"),
        priority: fc.integer({ min: 1, max: 3 }),
        from: often(fc.constant("2020-01-01T00:00:00Z"), instant, 3),
        until: often(fc.constant("2030-01-01T00:00:00Z"), instant, 3),
      },
      { requiredKeys: ["when", "enabled", "action", "priority"] },
    ),
    { maxLength },
  );
}

function pairOf(name: string, value: Json | undefined): [string, Json][] {
  return value === undefined ? [] : [[name, value]];
}

export function semanticsOf(of: World): Semantics {
  return defineSemantics({
    version: 1,
    applies: {
      at: "/conditions",
      list: of.join,
      groups: { all: ["all"], any: ["any"], not: ["not"] },
      conditions: [
        {
          field: "/field",
          operator: { at: "/op" },
          value: "/value",
          valueField: "/other",
          valueList: "/list",
          not: { at: "/inverted", is: [true] },
        },
      ],
      operators: Object.fromEntries(
        operatorsOf(of.patterns).map((each) => [each, each === "between" ? { is: "between", ends: "both" } : each]),
      ),
    },
    force: {
      enabled: { at: "/enabled", is: [true], isNot: [false] },
      from: { at: "/from", counts: true },
      until: { at: "/until", counts: false },
      clock: "now",
    },
    outcome: { at: "/action", words: { accept: "accept", decline: "decline", review: "review" } },
    wins: {
      by: of.wins,
      order: of.wins === "order" ? { at: "/priority", first: "highest", equal: of.equal } : null,
      precedence: of.precedence,
      none: of.none,
    },
    ignored: of.wins === "order" ? [] : ["/priority"],
    payment: {
      fields: Object.fromEntries(
        Object.entries(of.fields).map(([name, { ignoresCase = null, list = false, type }]) => [
          name,
          { at: `/${name}`, type, list, ignoresCase: type === "text" ? ignoresCase : null },
        ]),
      ),
    },
    missing: of.missing,
    undecidedRule: of.undecidedRule,
    lists: { eq: of.listEq, contains: of.listContains },
    patterns: of.patterns ?? null,
  });
}

function written(tree: Tree): Json {
  if ("all" in tree) return { all: tree.all.map(written) };
  if ("any" in tree) return { any: tree.any.map(written) };
  if ("not" in tree && typeof tree.not === "object") return { not: written(tree.not) };
  const { not, ...leaf } = tree as Leaf;
  return JSON.parse(JSON.stringify({ ...leaf, inverted: not }));
}

export function definitionOf({ when, ...rest }: NaiveRule): JsonObject {
  return JSON.parse(JSON.stringify({ ...rest, conditions: when.map(written) }));
}

/** The same, with rules in force by the time of the payment: its first field that is an instant. */
export function byPayment(semantics: Semantics): Semantics {
  const time = Object.entries(semantics.payment.fields).find(([, { type, list }]) => type === "instant" && !list)?.[0];
  if (time === undefined) return semantics;
  return {
    ...semantics,
    force: { ...semantics.force, clock: "payment" },
    payment: { ...semantics.payment, time },
    patterns: { dialect: "re2", anchoring: "part" },
  };
}
