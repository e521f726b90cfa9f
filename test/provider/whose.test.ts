import { describe, expect, test } from "vitest";
import {
  type Candidate,
  judgeCreate,
  judgeDelete,
  judgePlace,
  judgeRead,
  judgeTakeOver,
  judgeUpdate,
  type KnownFacts,
  type PlaceFacts,
  type TakeOverFacts,
} from "../../provider/reconcile/whose.ts";

/** Facts of a row that are not the usual ones, and the verdict. */
type Row<Facts, Verdict> = [when: string, facts: Partial<Facts>, verdict: Verdict];

describe("the place", () => {
  const usual: PlaceFacts = {
    now: undefined,
    wanted: undefined,
    ofConnection: undefined,
    ofResource: undefined,
    hasWitness: false,
    knowsRules: true,
    moved: false,
    acceptAllGone: false,
  };
  const here = { now: "acme", ofConnection: "acme", ofResource: "acme" };
  const there = { now: "globex", ofConnection: "acme", ofResource: "acme" };
  const replaced = { now: "globex", ofConnection: "globex", ofResource: "acme" };

  test.each<Row<PlaceFacts, ReturnType<typeof judgePlace>>>([
    ["identity, other than the setting", { ...here, wanted: "globex" }, "refused: not the identity that is set"],
    [
      "the same, where nothing is known yet",
      { now: "acme", wanted: "globex", knowsRules: false },
      "refused: not the identity that is set",
    ],
    ["identity, other than the connection's id", there, "refused: not the connection's identity"],
    [
      "the same in a run that only adds",
      { ...there, ofResource: undefined, knowsRules: false },
      "refused: not the connection's identity",
    ],
    ["the same, the setting agrees", { ...there, wanted: "globex" }, "refused: not the connection's identity"],
    [
      "the same with every word",
      { ...there, moved: true, acceptAllGone: true },
      "refused: not the connection's identity",
    ],
    ["the same, and a rule is seen", { ...there, hasWitness: true }, "refused: not the connection's identity"],
    ["identity, other than in the resource's outputs", replaced, "refused: not the identity of the rules"],
    ["the same with acceptAllGone", { ...replaced, acceptAllGone: true }, "refused: not the identity of the rules"],
    ["the same, and a rule is seen", { ...replaced, hasWitness: true }, "refused: not the identity of the rules"],
    ["the same with moved", { ...replaced, moved: true }, "elsewhere"],
    [
      "the setting refuses, with moved",
      { ...replaced, wanted: "acme", moved: true },
      "refused: not the identity that is set",
    ],
    ["identity, equal", here, "proven"],
    ["identity, equal, and every known rule is gone", { ...here, hasWitness: false }, "proven"],
    ["identity, equal to the setting, and the connection has none yet", { now: "acme", wanted: "acme" }, "proven"],
    [
      "identity, equal to the connection's, of a new resource",
      { now: "acme", ofConnection: "acme", knowsRules: false },
      "proven",
    ],
    ["no identity; a known rule is seen, or a mark of ours is listed", { hasWitness: true }, "proven"],
    [
      "no identity now, although the connection has one",
      { ofConnection: "acme", ofResource: "acme" },
      "refused: nothing is seen as it is known",
    ],
    [
      "identity, and nobody kept one to compare with; nothing is seen",
      { now: "acme" },
      "refused: nothing is seen as it is known",
    ],
    ["no identity; something known, nothing seen", {}, "refused: nothing is seen as it is known"],
    ["the same with moved", { moved: true }, "taken on trust"],
    ["the same with acceptAllGone", { acceptAllGone: true }, "taken on trust"],
    ["no identity; nothing known in this process", { knowsRules: false }, "unknown"],
  ])("%s", (_when, facts, verdict) => {
    expect(judgePlace({ ...usual, ...facts })).toBe(verdict);
  });
});

describe("a known rule, the place proven", () => {
  const usual: KnownFacts = {
    isThere: true,
    isHeldByOther: false,
    mark: "ours",
    isMarkAsLastSeen: true,
    isAdopted: false,
    isAnotherKey: false,
    moved: false,
  };
  const absent = { isThere: false, mark: "none" } as const;

  describe("read", () => {
    test.each<Row<KnownFacts, ReturnType<typeof judgeRead>>>([
      ["absent", absent, "gone"],
      ["absent, and held by another resource", { ...absent, isHeldByOther: true }, "gone"],
      ["held by another resource", { isHeldByOther: true }, "not read"],
      ["the contract has no mark, or the mark is gone", { mark: "none" }, "as live"],
      ["owner id in O", {}, "as live"],
      ["owner id in O, and the mark names another resource", { isMarkAsLastSeen: false }, "as live"],
      ["another owner id", { mark: "another's" }, "as live, said"],
      ["another owner id, with moved", { mark: "another's", moved: true }, "not here"],
      ["owner id in O, with moved", { moved: true }, "as live"],
      ["no mark, with moved", { mark: "none", moved: true }, "as live"],
    ])("%s", (_when, facts, verdict) => {
      expect(judgeRead({ ...usual, ...facts })).toBe(verdict);
    });
  });

  describe("update", () => {
    test.each<Row<KnownFacts, ReturnType<typeof judgeUpdate>>>([
      ["absent", absent, "create"],
      [
        "held by another resource, natural keys differ",
        { isHeldByOther: true, isAnotherKey: true },
        "let go and create",
      ],
      ["held by another resource, else", { isHeldByOther: true }, "refused: two hold it"],
      [
        "held by another resource, although adopt names it",
        { isHeldByOther: true, isAdopted: true },
        "refused: two hold it",
      ],
      ["not held, natural keys differ", { isAnotherKey: true }, "write"],
      ["the contract has no mark, or the mark is gone", { mark: "none" }, "write"],
      ["owner id in O", {}, "write"],
      ["owner id in O, and the mark names another resource: it is mended", { isMarkAsLastSeen: false }, "write"],
      ["another owner id", { mark: "another's" }, "refused: another's"],
      ["another owner id, with moved", { mark: "another's", moved: true }, "refused: another's"],
      ['another owner id, adopt: "<id>"', { mark: "another's", isAdopted: true }, "take over"],
    ])("%s", (_when, facts, verdict) => {
      expect(judgeUpdate({ ...usual, ...facts })).toBe(verdict);
    });
  });

  describe("delete", () => {
    test.each<Row<KnownFacts, ReturnType<typeof judgeDelete>>>([
      ["absent", absent, "done"],
      ["held by another resource", { isHeldByOther: true }, "passed on"],
      ["held by another resource, and absent", { ...absent, isHeldByOther: true }, "passed on"],
      ["the contract has no mark, or the mark is gone", { mark: "none", isMarkAsLastSeen: false }, "delete"],
      ["owner id in O, the mark's resource is who this one last wrote or saw", {}, "delete"],
      ["owner id in O, the mark's resource is another", { isMarkAsLastSeen: false }, "passed on, said"],
      ["another owner id", { mark: "another's" }, "let go, said"],
      ["another owner id, although adopt names it", { mark: "another's", isAdopted: true }, "let go, said"],
    ])("%s", (_when, facts, verdict) => {
      expect(judgeDelete({ ...usual, ...facts })).toBe(verdict);
    });
  });
});

describe("a create, the place proven, the list read", () => {
  const others: Candidate = {
    isHeld: false,
    isGivenUp: false,
    isForeign: false,
    mark: "another's",
    isCopy: false,
    hasOurNames: false,
    isWhole: true,
    isSuccessor: false,
  };
  const ours: Candidate = { ...others, mark: "ours" };
  const unmarked: Candidate = { ...others, mark: "none" };
  const adopt = { adopt: true } as const;
  const recover = { recover: true } as const;

  test.each<
    [when: string, found: Candidate[], words: { adopt?: true; recover?: true }, verdict: ReturnType<typeof judgeCreate>]
  >([
    ["nothing", [], {}, "create"],
    ["nothing, with adopt", [], adopt, "create"],
    ["held", [{ ...ours, isHeld: true }], {}, "refused: still declared"],
    [
      "held, with every word",
      [{ ...unmarked, isHeld: true }],
      { adopt: true, recover: true },
      "refused: still declared",
    ],
    ["held, and one that is ours besides", [ours, { ...ours, isHeld: true }], {}, "refused: still declared"],
    ["the service's own", [{ ...unmarked, isForeign: true }], adopt, "refused: the service's own"],
    ["owner id in O, one only", [ours], {}, "ours"],
    ["owner id in O, whatever stands in it", [{ ...ours, isWhole: false }], {}, "ours"],
    ["without a mark, given up by a resource of this run", [{ ...unmarked, isGivenUp: true }], {}, "ours"],
    [
      "a second rule with the same mark",
      [
        { ...ours, isCopy: true },
        { ...ours, isCopy: true },
      ],
      {},
      "refused: copies",
    ],
    ["a second rule with the same mark, and another key", [{ ...ours, isCopy: true }], {}, "refused: copies"],
    [
      "the same with every word that names no rule",
      [{ ...ours, isCopy: true }],
      { adopt: true, recover: true },
      "refused: copies",
    ],
    ["two that are ours", [ours, ours], {}, "refused: copies"],
    ["one that is ours and another's", [ours, others], {}, "refused: copies"],
    ["another owner id", [others], {}, "refused: another's"],
    ["another owner id, with adopt: true", [others], adopt, "refused: another's"],
    ["another owner id, recover, other names", [others], recover, "refused: another's"],
    ["another owner id, recover, our names, whole", [{ ...others, hasOurNames: true }], recover, "recover"],
    [
      "another owner id, recover, our names, not whole",
      [{ ...others, hasOurNames: true, isWhole: false }],
      recover,
      "refused: another's",
    ],
    [
      "another owner id, our names, whole, without a word",
      [{ ...others, hasOurNames: true }],
      {},
      "refused: another's",
    ],
    ["none", [unmarked], {}, "refused: unmarked"],
    ["none, adopt: true", [unmarked], adopt, "take over"],
    ["none, adopt: true, not whole", [{ ...unmarked, isWhole: false }], adopt, "take over"],
    ["none, recover, whole", [unmarked], recover, "recover"],
    ["none, recover, not whole", [{ ...unmarked, isWhole: false }], recover, "refused: unmarked"],
    [
      "none, in place of one that is gone and whose id an update may have changed",
      [{ ...unmarked, isSuccessor: true }],
      {},
      "ours",
    ],
    ["the same, not whole", [{ ...unmarked, isSuccessor: true, isWhole: false }], {}, "refused: unmarked"],
    ["another owner id, in place of such a one", [{ ...others, isSuccessor: true }], {}, "refused: another's"],
    ["several that are another's", [unmarked, others], { adopt: true, recover: true }, "refused: several"],
  ])("%s", (_when, found, { adopt = false, recover = false }, verdict) => {
    expect(judgeCreate(found, { adopt, recover })).toBe(verdict);
    expect(judgeCreate(found.toReversed(), { adopt, recover })).toBe(verdict);
  });
});

describe("a take-over", () => {
  const usual: TakeOverFacts = { isAsDeclared: true, mark: "none", hasUpdate: true, hasOwnMark: true, erases: false };

  test.each<Row<TakeOverFacts, ReturnType<typeof judgeTakeOver>>>([
    ["equal, unmarked", {}, "take as it is"],
    ["equal, ours", { mark: "ours" }, "take as it is"],
    ["equal, unmarked, with more in it than is declared", { erases: true }, "take as it is"],
    ["equal, with another's mark", { mark: "another's" }, "write"],
    ["equal, with another's mark, and the write would erase", { mark: "another's", erases: true }, "refused: erases"],
    ["equal, with another's mark, and no update", { mark: "another's", hasUpdate: false }, "refused: its mark stays"],
    ["equal, with another's mark, and no mark of ours", { mark: "another's", hasOwnMark: false }, "take as it is"],
    ["different", { isAsDeclared: false }, "write"],
    ["different, and the write would erase", { isAsDeclared: false, erases: true }, "refused: erases"],
    ["different, with another's mark", { isAsDeclared: false, mark: "another's" }, "write"],
  ])("%s", (_when, facts, verdict) => {
    expect(judgeTakeOver({ ...usual, ...facts })).toBe(verdict);
  });
});
