import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isToStop,
  judgeOthers,
  judgeOwn,
  type OtherChange,
  type OwnVerdict,
  type Write,
  type WriteKind,
} from "../../provider/decide/audit.ts";
import { markId, parsedMark } from "../../provider/merchant/mark.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { rule } from "../support/rules.ts";
import { contractOf, owner } from "../support/stack/contracts.ts";
import { markBy, othersMarkBy } from "../support/stack/owners.ts";

const placeOf = (contract: ContractInput) => ({ contract: defineContract(contract) });
const place = placeOf(contractOf({ rule: { owner, forms: [{ at: "/isActive", default: true }] } }));
const ownMark = markBy("shop/prod/a");
const marked = (definition: JsonObject, mark = ownMark): JsonObject => ({
  ...definition,
  metadata: { managedBy: mark },
});
const idOf = (mark: string): string | undefined => {
  const parsed = parsedMark(mark);
  return parsed && markId(parsed);
};
const without = (whole: JsonObject, ...names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)));

describe("an own rule, as a reading shows it", () => {
  const before = rule(1);
  const sent = rule(1, { priority: 9 });
  const write: Write = { kind: "update", ruleId: "1", sent, before, mark: idOf(ownMark), isAnswered: true };
  const less: Write = { ...write, sent: without(sent, "actions") };
  const created: Write = { ...write, kind: "create", before: undefined };
  const deleted: Write = { ...write, kind: "delete" };
  const as = (changes: JsonObject) => marked({ ...sent, ...changes });
  const stops = { always: [true, true], answered: [true, false], never: [false, false] } as const;

  test.each<[string, Write, JsonObject | null | undefined, OwnVerdict, keyof typeof stops]>([
    ["as sent, mark kept", write, as({}), "as sent", "never"],
    ["as sent, with what nobody declared", write, as({ more: 1 }), "as sent", "never"],
    ["with a default left out", write, without(as({}), "isActive"), "as sent", "never"],
    ["with a null left out", { ...write, sent: { ...sent, note: null } }, as({}), "as sent", "never"],
    ["as before, at the paths that were sent", write, marked(before), "as before", "never"],
    ["as before, and without a field", write, without(marked(before), "actions"), "lacks fields", "always"],
    ["otherwise at a declared path", write, as({ priority: 8 }), "otherwise", "always"],
    ["otherwise deep inside", write, as({ conditions: [] }), "otherwise", "always"],
    ["a create, otherwise", created, as({ priority: 8 }), "otherwise", "always"],
    ["without a declared top-level field", created, without(as({}), "priority"), "lacks fields", "always"],
    ["missing", created, null, "missing", "answered"],
    ["deleted, gone", deleted, null, "as sent", "never"],
    ["deleted, still there", deleted, marked(before), "still there", "answered"],
    ["without its mark", write, sent, "without its mark", "answered"],
    ["with another mark", write, marked(sent, othersMarkBy("shop/prod/a")), "without its mark", "answered"],
    ["with a field that is declared no more", less, as({}), "keeps fields", "always"],
    [
      "with a null that is declared no more",
      { ...write, before: { ...before, note: null } },
      as({}),
      "as sent",
      "never",
    ],
    ["not read", write, undefined, "unread", "never"],
    ["a create that was not answered", { ...created, ruleId: undefined }, as({}), "unread", "never"],
  ])("%s", (_, of, shown, verdict, stop) => {
    expect(judgeOwn(of, () => shown, place)).toBe(verdict);
    expect([true, false].map((isAnswered) => isToStop(verdict, { isAnswered }))).toEqual(stops[stop]);
  });

  test("the old id of a rule with a new one is still there", () => {
    const moved = { ...write, ruleId: "2", formerId: "1" };
    expect(judgeOwn(moved, () => as({}), place)).toBe("still there");
    expect(judgeOwn(moved, (id) => (id === "2" ? as({}) : null), place)).toBe("as sent");
  });
});

const kinds = ["create", "update", "transition", "delete"] as const;

describe("a rule of others, as a reading shows it after a window of one kind", () => {
  const other = rule(5);
  const sent = rule(1, { priority: 9 });
  const double = { ...rule(1), metadata: { managedBy: "by hand" } };
  const writeOf = (kind: WriteKind): Write => ({
    kind,
    ruleId: "1",
    sent,
    before: kind === "create" ? undefined : rule(1),
    mark: idOf(ownMark),
    isAnswered: true,
  });
  const stops = ["took the change", "gone", "lost fields", "double"] as const;

  test.each<[string, "before" | "new", JsonObject | null, string, Record<WriteKind, boolean | undefined>]>([
    ["all that a write changed", "before", { ...other, ...sent }, "took the change", harm(true, true, true, false)],
    ["gone", "before", null, "gone", harm(false, true, true, true)],
    ["a field less", "before", without(other, "actions"), "lost fields", harm(false, true, true, false)],
    ["new, with our mark", "new", marked(rule(7)), "double", harm(true, true, true, undefined)],
    ["new, with our natural key", "new", double, "double", harm(true, true, true, undefined)],
    ["new, and another", "new", rule(7), "nothing", harm(undefined, undefined, undefined, undefined)],
    ["changed in any other way", "before", { ...other, priority: 77 }, "changed", harm(false, false, false, false)],
    ["untouched", "before", marked(other), "nothing", harm(undefined, undefined, undefined, undefined)],
  ])("%s", (_, when, now, what, harms) => {
    for (const kind of kinds)
      for (const notJudged of [[], ["1", "5"]]) {
        const news = when === "new" && now !== null ? [{ ruleId: "5", rule: now }] : [];
        const known = when === "new" ? [] : [{ ruleId: "5", rule: other }];
        const window = { writes: [writeOf(kind)], notJudged: new Set(notJudged), awaited: [] };
        const found = judgeOthers(known, { at: () => now, news }, window, place);
        const [isHarm] = notJudged.length > 0 ? [undefined] : [harms[kind]];
        // Of a delete nothing is taken over: that is any other change.
        const is = kind === "delete" && what === stops[0] ? "changed" : what;
        expect(found, `${kind} ${notJudged}`).toEqual(isHarm === undefined ? [] : [{ ruleId: "5", what: is, isHarm }]);
      }
  });

  test("a new rule like one that a request under way has sent is that request's", () => {
    const news = [{ ruleId: "5", rule: marked(sent) }];
    const window = { writes: [writeOf("create")], notJudged: new Set<string>(), awaited: [writeOf("create")] };
    expect(judgeOthers([], { at: () => null, news }, window, place)).toEqual([]);
  });
});

function harm(...isHarm: (boolean | undefined)[]): Record<WriteKind, boolean | undefined> {
  const [create, update, transition, deleted] = isHarm;
  return { create, update, transition, delete: deleted };
}

describe("random papers and worlds: the verdict is that of an oracle that goes field by field", () => {
  const speeches = [
    placeOf(contractOf({ rule: { owner } })),
    placeOf(contractOf({ rule: { owner, naturalKey: null } })),
    placeOf(contractOf({ rule: { naturalKey: null } })),
  ];
  type Spoken = (typeof speeches)[number];
  // Two names of which one begins with the other.
  const definition: fc.Arbitrary<JsonObject> = fc.record(
    {
      name: fc.constantFrom("n1", "n2", "n3"),
      note: fc.constantFrom(0, 1, null),
      notes: fc.constantFrom(0, 1),
      flag: fc.boolean(),
    },
    { requiredKeys: ["name"], noNullPrototype: true },
  );
  const marks = ["a", "b", "c"].map((name) => markBy(`shop/prod/${name}`));
  const livesOf = (hasMarks: boolean) =>
    fc.tuple(definition, fc.constantFrom(undefined, ...marks), fc.boolean()).map(
      ([each, mark, more]): JsonObject => ({
        ...each,
        ...(mark === undefined || !hasMarks ? {} : { metadata: { managedBy: mark } }),
        ...(more ? { other: 1 } : {}),
      }),
    );
  const ids = ["1", "2", "3", "4", "5"];

  interface World {
    readonly spoken: Spoken;
    readonly writes: readonly Write[];
    readonly before: ReadonlyMap<string, JsonObject>;
    readonly now: ReadonlyMap<string, JsonObject | null>;
    readonly notJudged: ReadonlySet<string>;
    readonly awaited: readonly Write[];
  }
  const world: fc.Arbitrary<World> = fc.constantFrom(...speeches).chain((spoken) => {
    const lives = livesOf(spoken.contract.rule.owner !== null);
    const write = fc
      .record({
        kind: fc.constantFrom(...kinds),
        ruleId: fc.option(fc.constantFrom(...ids), { nil: undefined }),
        formerId: fc.option(fc.constantFrom(...ids), { nil: undefined, freq: 1 }),
        sent: definition,
        was: definition,
        mark: fc.constantFrom(undefined, ...marks.map(idOf)),
        isAnswered: fc.boolean(),
      })
      .map(({ was, ...each }): Write => ({ ...each, before: each.kind === "create" ? undefined : was }));
    return fc
      .record({ writes: fc.array(write, { minLength: 1, maxLength: 3 }), awaited: fc.array(write, { maxLength: 1 }) })
      .chain(({ writes, awaited }) => {
        // What is shown is mostly near the truth: as sent, as before, or one of them with a lie.
        const truths = writes.flatMap(({ sent, before }) => [sent, before ?? sent]);
        const near = fc
          .tuple(
            fc.constantFrom(...truths),
            fc.constantFrom({}, ...marks.map((mark) => ({ metadata: { managedBy: mark } }))),
            fc.constantFrom<JsonObject>({}, { note: 1 }, { notes: 1 }),
            fc.subarray(["name", "note", "notes", "flag"], { maxLength: 1 }),
          )
          .map(([truth, mark, lie, lost]) =>
            without({ ...truth, ...lie, ...(spoken.contract.rule.owner === null ? {} : mark) }, ...lost),
          );
        const shown = fc.oneof(near, lives);
        return fc.record({
          spoken: fc.constant(spoken),
          writes: fc.constant(writes),
          awaited: fc.constant(awaited),
          before: fc.array(fc.tuple(fc.constantFrom(...ids), shown), { maxLength: 3 }).map((all) => new Map(all)),
          now: fc
            .array(fc.tuple(fc.constantFrom(...ids), fc.option(shown)), { maxLength: 5 })
            .map((all) => new Map(all)),
          notJudged: fc.subarray(ids, { maxLength: 2 }).map((some) => new Set(some)),
        });
      });
  });

  test("of each own rule", () => {
    fc.assert(
      fc.property(world, ({ spoken, writes, now }) => {
        for (const write of writes)
          expect(judgeOwn(write, (id) => now.get(id), spoken)).toBe(ownOracle(write, now, spoken));
      }),
      { numRuns: 3000 },
    );
  });

  test("of each other rule", () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const { spoken, before, now, notJudged, writes, awaited } = drawn;
        const asLive = ([ruleId, live]: readonly [string, JsonObject]) => ({ ruleId, rule: live });
        const news = [...now].flatMap(([ruleId, live]) =>
          live === null || before.has(ruleId) ? [] : [asLive([ruleId, live])],
        );
        const reading = { at: (id: string) => now.get(id), news };
        const found = judgeOthers([...before].map(asLive), reading, { writes, notJudged, awaited }, spoken);
        const byId = (one: OtherChange, other: OtherChange) => one.ruleId.localeCompare(other.ruleId);
        expect(found.sort(byId)).toEqual(ids.flatMap((id) => othersOracle(id, drawn)));
      }),
      { numRuns: 3000 },
    );
  });

  /** Null and not there are the same. */
  const at = (each: JsonObject, name: string): Json => each[name] ?? null;
  const stripped = (each: JsonObject) => without(each, "metadata");
  const markOf = ({ metadata }: JsonObject) => idOf(String(Object(metadata).managedBy));

  function ownOracle(
    { kind, ruleId, formerId, sent, before, mark }: Write,
    now: World["now"],
    spoken: Spoken,
  ): OwnVerdict {
    const live = now.get(ruleId ?? "");
    if (live === undefined) return "unread";
    if (kind === "delete") return live === null ? "as sent" : "still there";
    if (live === null) return "missing";
    if (formerId !== undefined && now.get(formerId)) return "still there";
    const wrong = Object.keys(sent).filter((name) => at(live, name) !== sent[name]);
    if (wrong.length === 0) {
      if (spoken.contract.rule.owner !== null && mark !== undefined && markOf(live) !== mark) return "without its mark";
      const former = kind === "update" ? Object.keys(before ?? {}) : [];
      return former.some((name) => !(name in sent) && at(live, name) !== null) ? "keeps fields" : "as sent";
    }
    if (before !== undefined && wrong.every((name) => at(live, name) === at(before, name))) return "as before";
    return wrong.some((name) => sent[name] !== null && !(name in live)) ? "lacks fields" : "otherwise";
  }

  function othersOracle(ruleId: string, { spoken, writes, awaited, before, now, notJudged }: World): OtherChange[] {
    const [was, live] = [before.get(ruleId), now.get(ruleId)];
    if (notJudged.has(ruleId) || live === undefined) return [];
    const has = (...some: WriteKind[]) => writes.some(({ kind }) => some.includes(kind));
    const change = (what: OtherChange["what"], isHarm: boolean) => [{ ruleId, what, isHarm }];
    const areUpdates = has("update", "transition");
    const asking = writes.filter(({ kind }) => kind !== "delete");
    if (was === undefined) {
      if (writes.some((write) => write.ruleId === ruleId)) return [];
      const isLike = (write: Write) => live !== null && isDouble(live, write, spoken);
      return !awaited.some(isLike) && asking.some(isLike) ? change("double", true) : [];
    }
    if (live === null) return change("gone", areUpdates || has("delete"));
    const [old, young] = [stripped(was), stripped(live)];
    const names = [...new Set([...Object.keys(old), ...Object.keys(young)])];
    if (names.every((name) => old[name] === young[name])) return [];
    if (names.some((name) => at(old, name) !== null && !(name in young))) return change("lost fields", areUpdates);
    const hasTaken = asking.some(({ sent, before: earlier = {} }) => {
      const changed = Object.keys(sent).filter((name) => sent[name] !== at(earlier, name));
      const isTaken = (each: JsonObject) => changed.every((name) => at(each, name) === sent[name]);
      return isTaken(young) && !isTaken(old);
    });
    return hasTaken ? change("took the change", true) : change("changed", false);
  }

  function isDouble(live: JsonObject, { sent, mark }: Write, { contract }: Spoken): boolean {
    const own = contract.rule.owner === null ? undefined : markOf(live);
    if (own !== undefined && mark !== undefined) return own === mark;
    if (contract.rule.naturalKey !== null) return live.name === sent.name;
    const names = Object.keys({ ...sent, ...stripped(live) });
    return names.every((name) => (name in sent ? at(live, name) === sent[name] : false));
  }
});
