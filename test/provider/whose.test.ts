import { describe, expect, test } from "vitest";
import {
  type ClaimFacts,
  type CreateVerdict,
  type CreateWords,
  type DeleteFacts,
  type FoundFacts,
  isOurs,
  judgeClaim,
  judgeCreate,
  judgeDelete,
  judgeListed,
  judgePassing,
  judgeRead,
  judgeRows,
  judgeTakeOver,
  judgeUpdate,
  type KnownFacts,
  type ListedFacts,
  type ListedVerdict,
  type MarkOfListed,
  type OursFacts,
  type TakeOverFacts,
  type UpdateFacts,
} from "../../provider/decide/whose.ts";
import {
  judgePlace,
  judgeWitness,
  type PairWord,
  type PlaceFacts,
  type PlaceVerdict,
  type Sign,
  type Witness,
  witnessOf,
} from "../../provider/merchant/judge-place.ts";

const either = [true, false] as const;
const known = [true, false, undefined] as const;
const words = ["same", "moved", undefined] as const;
const claims = ["yes", "no", "unclear"] as const;

const knownValues: Values<KnownFacts> = { isThere: either, isWeak: either, isWhole: either, isOurs: either };
/** A rule that is absent is neither whole nor ours. */
const isPossible = ({ isThere, isWhole, isOurs }: KnownFacts): boolean => isThere || !(isWhole || isOurs);

describe("the claim of another resource's heard row", () => {
  const all = combinations<ClaimFacts>({
    isSamePlace: either,
    isSameIdentity: known,
    word: words,
    isOpaque: either,
    isSameMark: known,
  });

  describe("on a live rule with its id", () => {
    testLines(judgeClaim, all, [
      ["same place", { isSamePlace: true }, "yes"],
      ["both identities known, equal", { isSameIdentity: true }, "yes"],
      ["both identities known, different", { isSameIdentity: false }, "no"],
      ["same", { word: "same" }, "yes"],
      ["moved", { word: "moved" }, "no"],
      ["opaque id", { isOpaque: true }, "yes"],
      ["the row has a mark, the same", { isSameMark: true }, "yes"],
      ["the row has a mark, another", { isSameMark: false }, "no"],
      ["else", {}, "unclear"],
    ]);
  });

  describe("on another row with its id, in diff and before a delete", () => {
    testLines(
      judgeRows,
      all.filter(({ isSameMark }) => isSameMark === undefined),
      [
        ["same place", { isSamePlace: true }, "yes"],
        ["opaque id", { isOpaque: true }, "yes"],
        ["equal identities", { isSameIdentity: true }, "yes"],
        ["different identities", { isSameIdentity: false }, "no"],
        ["same", { word: "same" }, "yes"],
        ["moved", { word: "moved" }, "no"],
        ["else", {}, "unclear"],
      ],
    );
  });

  testNever(all, [
    [
      "is unclear where anything tells",
      (facts) => judgeClaim(facts) === "unclear",
      ({ isSamePlace, isSameIdentity, word, isOpaque, isSameMark }) =>
        isSamePlace || isOpaque || isSameIdentity !== undefined || word !== undefined || isSameMark !== undefined,
    ],
    [
      "goes by a word against two identities",
      (facts) => judgeClaim(facts) !== judgeClaim({ ...facts, word: undefined }),
      ({ isSameIdentity }) => isSameIdentity !== undefined,
    ],
    [
      "goes by a mark against a word",
      (facts) => judgeClaim(facts) !== judgeClaim({ ...facts, isSameMark: undefined }),
      ({ word }) => word !== undefined,
    ],
  ]);
});

describe("ours", () => {
  const all = combinations<OursFacts>({
    mark: ["none", "own", "another"],
    wasMarked: either,
    isLasting: either,
    isSameKey: known,
  });

  testLines(isOurs, all, [
    ["with a mark: the row's same mark, or own mark", { mark: "own" }, true],
    ["with a mark: another", { mark: "another" }, false],
    ["without: opaque or chosen id", { isLasting: true }, true],
    ["else with natural keys: the live key is the row's", { isSameKey: true }, true],
    ["else with natural keys: the live key is another", { isSameKey: false }, false],
    ["else: the row has no mark", { wasMarked: false }, true],
    ["all else", {}, false],
  ]);
});

describe("read of a known rule", () => {
  const all = combinations(knownValues).filter(isPossible);

  testLines(judgeRead, all, [
    ["weakly proven place; absent", { isWeak: true, isThere: false }, "cannot tell"],
    ["weakly proven place; not whole as known", { isWeak: true, isWhole: false }, "cannot tell"],
    ["absent", { isThere: false }, "gone"],
    ["ours", { isOurs: true }, "as live"],
    ["not ours", {}, "not ours"],
  ]);

  testNever(all, [
    ["believes what is not ours", (facts) => judgeRead(facts) === "as live", ({ isOurs }) => !isOurs],
    [
      "believes at a weakly proven place what is not whole",
      (facts) => judgeRead(facts) !== "cannot tell",
      ({ isWeak, isWhole }) => isWeak && !isWhole,
    ],
  ]);
});

describe("update of a known rule", () => {
  const all = combinations<UpdateFacts>({
    ...knownValues,
    claim: claims,
    isSameKeyDeclared: either,
    isThisRowsAlone: either,
    isAdopted: either,
  }).filter(isPossible);
  type Verdict = ReturnType<typeof judgeUpdate>;
  const writes = (facts: UpdateFacts): boolean => ["write", "take over"].includes(judgeUpdate(facts));

  testLines<UpdateFacts, Verdict>(judgeUpdate, all, [
    ["weakly proven place; absent", { isWeak: true, isThere: false }, "refused: cannot tell"],
    [
      "weakly proven place; not whole as known, and no adopt",
      { isWeak: true, isWhole: false, isAdopted: false },
      "refused: cannot tell",
    ],
    ["absent", { isThere: false }, "make anew"],
    ["claim unclear", { claim: "unclear" }, "refused: unclear"],
    ["claimed, both declare one natural key", { claim: "yes", isSameKeyDeclared: true }, "refused: two hold it"],
    ["claimed, else: this row's alone", { claim: "yes", isThisRowsAlone: true }, "refused: the other row's"],
    ["claimed, else", { claim: "yes" }, "make own"],
    ["ours", { isOurs: true }, "write"],
    ['not ours, adopt: "<id>"', { isAdopted: true }, "take over"],
    ["not ours", {}, "refused: not ours"],
  ]);

  testNever(all, [
    ["writes what is neither ours nor adopted", writes, ({ isOurs, isAdopted }) => !isOurs && !isAdopted],
    ["writes what may be another row's", writes, ({ claim }) => claim !== "no"],
    ["writes what is not there", writes, ({ isThere }) => !isThere],
    [
      "writes at a weakly proven place what is neither whole nor adopted",
      writes,
      ({ isWeak, isWhole, isAdopted }) => isWeak && !isWhole && !isAdopted,
    ],
    [
      "makes another at a weakly proven place that shows nothing of the rule",
      (facts) => ["make anew", "make own"].includes(judgeUpdate(facts)),
      ({ isWeak, isThere }) => isWeak && !isThere,
    ],
    ["takes over without the word", (facts) => judgeUpdate(facts) === "take over", ({ isAdopted }) => !isAdopted],
    [
      "needs adopt for what is ours, at a proven place",
      (facts) => judgeUpdate(facts) !== judgeUpdate({ ...facts, isAdopted: !facts.isAdopted }),
      ({ isOurs, isWeak }) => isOurs && !isWeak,
    ],
  ]);
});

describe("delete of a known rule", () => {
  const passing: Values<Pick<DeleteFacts, "other" | "hasMarks" | "isOthersMark">> = {
    other: [...claims, undefined],
    hasMarks: either,
    isOthersMark: either,
  };
  const all = combinations<DeleteFacts>({ ...knownValues, ...passing }).filter(isPossible);
  const isDeleted = (facts: DeleteFacts): boolean =>
    judgePassing(facts) === "goes on" && judgeDelete(facts) === "delete";

  describe("passing on", () => {
    testLines(judgePassing, combinations(passing), [
      ["no heard row has the ruleId", { other: undefined }, "goes on"],
      ["same place, opaque id, equal identities, same", { other: "yes" }, "passed on"],
      ["different identities, moved", { other: "no" }, "goes on"],
      ["no marks", { hasMarks: false }, "refused: unclear"],
      ["with marks: the live mark is that row's", { isOthersMark: true }, "passed on, said"],
      ["with marks: it is not", {}, "goes on"],
    ]);
  });

  testLines(judgeDelete, combinations(knownValues).filter(isPossible), [
    ["weakly proven place; absent", { isWeak: true, isThere: false }, "refused: cannot tell"],
    ["weakly proven place; not whole as known", { isWeak: true, isWhole: false }, "refused: cannot tell"],
    ["absent", { isThere: false }, "done"],
    ["ours", { isOurs: true }, "delete"],
    ["not ours", {}, "let go, said"],
  ]);

  testNever(all, [
    ["takes away what is not ours", isDeleted, ({ isOurs }) => !isOurs],
    ["takes away what another row has", isDeleted, ({ other }) => other === "yes"],
    [
      "takes away what another row may have, without a mark that tells",
      isDeleted,
      ({ other, hasMarks, isOthersMark }) => other === "unclear" && (!hasMarks || isOthersMark),
    ],
    ["takes away at a weakly proven place what is not whole", isDeleted, ({ isWeak, isWhole }) => isWeak && !isWhole],
    [
      "calls done at a weakly proven place what is not seen",
      (facts) => judgeDelete(facts) === "done",
      ({ isWeak }) => isWeak,
    ],
  ]);
});

describe("a listed rule, beside a resource that is to be made", () => {
  const all = combinations<ListedFacts>({
    isReplaced: either,
    claim: claims,
    isForeign: either,
    isSameKey: known,
    mark: ["none", "own", "our stack's", "a lost owner's", "another's"],
    isChosen: either,
    // A chosen id counts only without another's mark.
  }).filter(({ isChosen, mark }) => !isChosen || mark === "none" || mark === "own");

  testLines<ListedFacts, ListedVerdict>(judgeListed, all, [
    ["the one that this resource is replaced from", { isReplaced: true }, "passed over"],
    ["claimed, same natural key", { claim: "yes", isSameKey: true }, "refused: claimed"],
    ["claimed, other natural key or none", { claim: "yes" }, "passed over"],
    ["unclear, same natural key", { claim: "unclear", isSameKey: true }, "refused: unclear"],
    ["unclear, own mark", { claim: "unclear", mark: "own" }, "refused: unclear"],
    ["unclear, else", { claim: "unclear" }, "passed over"],
    ["the service's own, same natural key", { isForeign: true, isSameKey: true }, "refused: the service's own"],
    ["the service's own, other natural key or none", { isForeign: true }, "passed over"],
    ["own mark, other natural key", { mark: "own", isSameKey: false }, "passed over"],
    ["own mark", { mark: "own" }, "found"],
    ["this resource's chosen id, other natural key", { isChosen: true, isSameKey: false }, "passed over"],
    ["this resource's chosen id", { isChosen: true }, "found"],
    ["this resource's names and hash under another owner id", { mark: "a lost owner's" }, "refused: a lost owner's"],
    ["same natural key, the mark has our owner id", { isSameKey: true, mark: "our stack's" }, "move"],
    ["same natural key, it has not", { isSameKey: true }, "another's"],
    ["else", {}, "passed over"],
  ]);

  const isTakeable = (facts: ListedFacts): boolean => ["found", "move", "another's"].includes(judgeListed(facts));
  testNever(all, [
    ["is to be had where another row has it, or may have it", isTakeable, ({ claim }) => claim !== "no"],
    ["is to be had where it is the service's own", isTakeable, ({ isForeign }) => isForeign],
    ["is to be had where this resource is replaced from it", isTakeable, ({ isReplaced }) => isReplaced],
    [
      "is found by another's mark, or none and an id that is not chosen",
      (facts) => judgeListed(facts) === "found",
      ({ mark, isChosen }) => mark !== "own" && !isChosen,
    ],
    ["is found with another natural key", isTakeable, ({ isSameKey }) => isSameKey === false],
    [
      "is a move, or another's, without the same natural key",
      (facts) => ["move", "another's"].includes(judgeListed(facts)),
      ({ isSameKey }) => isSameKey !== true,
    ],
  ]);
});

describe("a create, the place proven, the list read", () => {
  interface Given {
    readonly listed: readonly FoundFacts[];
    readonly words: CreateWords;
  }

  /** What is listed, by its verdict, with each mark that it can have. */
  const kinds: readonly (readonly [ListedVerdict, MarkOfListed])[] = [
    ["passed over", "none"],
    ["found", "own"],
    ["found", "none"],
    ["move", "our stack's"],
    ["another's", "none"],
    ["another's", "another's"],
    ["refused: claimed", "our stack's"],
    ["refused: unclear", "own"],
    ["refused: the service's own", "none"],
    ["refused: a lost owner's", "a lost owner's"],
  ];
  /** A rule that is whole is equal, too. */
  const likeness = [
    { isEqual: false, isWhole: false },
    { isEqual: true, isWhole: false },
    { isEqual: true, isWhole: true },
  ];
  const rules = kinds.flatMap(([verdict, mark]) => likeness.map((like): FoundFacts => ({ verdict, mark, ...like })));
  const lists = [[], ...rules.map((one) => [one]), ...rules.flatMap((one) => rules.map((other) => [one, other]))];
  const all = lists.flatMap((listed) =>
    combinations<CreateWords>({ adopt: either, recover: either, hasNaturalKey: either, canUpdate: either }).flatMap(
      (each): Given[] => (isPossibleList(listed, each) ? [{ listed, words: each }] : []),
    ),
  );
  /** Without natural keys there are neither moves nor rules of others. */
  function isPossibleList(listed: readonly FoundFacts[], { hasNaturalKey }: CreateWords): boolean {
    return hasNaturalKey || listed.every(({ verdict }) => verdict !== "move" && verdict !== "another's");
  }

  const judged = ({ listed, words: given }: Given): CreateVerdict => judgeCreate(listed, given);
  const inWords = (verdict: CreateVerdict): string => (verdict.is === "take" ? `take: ${verdict.by}` : verdict.is);
  const of = ({ listed }: Given, verdict: ListedVerdict): FoundFacts[] =>
    listed.filter((each) => each.verdict === verdict);
  const has = (verdict: ListedVerdict) => (given: Given) => of(given, verdict).length > 0;
  const equals = (given: Given): FoundFacts[] => of(given, "found").filter(({ isEqual }) => isEqual);
  /** Exactly one: of several without natural keys, the equal ones count. */
  const oneFound = (given: Given): FoundFacts | undefined => {
    const found = of(given, "found");
    const counts = !given.words.hasNaturalKey && equals(given).length > 0 ? equals(given) : found;
    return counts.length === 1 ? counts[0] : undefined;
  };
  const isOneMove = (given: Given): boolean => of(given, "move").length === 1 && !has("another's")(given);
  const oneOthers = (given: Given): FoundFacts | undefined =>
    of(given, "another's").length === 1 && !has("move")(given) ? of(given, "another's")[0] : undefined;

  testLines<Given, string>((given) => inWords(judged(given)), all, [
    ["claimed, first", (given) => firstRefused(given) === "refused: claimed", "refused: claimed"],
    ["unclear, first", (given) => firstRefused(given) === "refused: unclear", "refused: unclear"],
    [
      "the service's own, first",
      (given) => firstRefused(given) === "refused: the service's own",
      "refused: the service's own",
    ],
    [
      "this resource's names under another owner id, first",
      (given) => firstRefused(given) !== undefined,
      "refused: a lost owner's",
    ],
    [
      "the same, and others that may be meant, recover",
      (given) =>
        has("refused: a lost owner's")(given) &&
        given.listed.some(
          (each, at) => at > 0 && each.verdict !== "passed over" && given.listed[0]?.verdict !== "passed over",
        ),
      "refused: several ours",
    ],
    ["the same, recover", has("refused: a lost owner's"), "take: recover"],
    [
      "one found, there is a natural key",
      (given) => oneFound(given) !== undefined && given.words.hasNaturalKey,
      "take: found",
    ],
    ["one found, whole as declared", (given) => oneFound(given)?.isEqual === true, "take: found"],
    ["one found, else", (given) => oneFound(given) !== undefined, "refused: may be renamed"],
    ["several found, still several", has("found"), "refused: several ours"],
    [
      "one move, none of another's, whole as declared, update operation",
      (given) => isOneMove(given) && of(given, "move")[0]?.isEqual === true && given.words.canUpdate,
      "take: move",
    ],
    [
      "adopt: true, the one rule with the natural key, no other owner's mark",
      (given) => given.words.adopt && oneOthers(given)?.mark === "none",
      "take: adopt",
    ],
    [
      "adopt: true, the one rule with the natural key, our owner id in its mark",
      (given) => given.words.adopt && isOneMove(given),
      "take: adopt",
    ],
    [
      "recover, the same, whole as declared",
      (given) => given.words.recover && oneOthers(given)?.mark === "none" && oneOthers(given)?.isWhole === true,
      "take: recover",
    ],
    ["other moves, another's", (given) => has("move")(given) || has("another's")(given), "refused: exists"],
    ["nothing", () => true, "make"],
  ]);

  /** The first refusal of the list; `recover` lets a lost owner's rule through. */
  function firstRefused({ listed, words: { recover } }: Given): ListedVerdict | undefined {
    const refused = listed.map(({ verdict }) => verdict).filter((verdict) => verdict.startsWith("refused: "));
    return refused.find((verdict) => !(recover && verdict === "refused: a lost owner's"));
  }

  const meant = (given: Given): FoundFacts | undefined => {
    const verdict = judged(given);
    return verdict.is === "make" ? undefined : given.listed[verdict.at];
  };
  const isTaken = (given: Given): boolean => judged(given).is === "take";

  testNever(all, [
    [
      "makes a rule where one stands in the way",
      (given) => judged(given).is === "make",
      ({ listed }) => listed.some(({ verdict }) => verdict !== "passed over"),
    ],
    [
      "takes without a word what has another owner's mark, or none and an id that is not chosen",
      (given) => isTaken(given) && ["another's", "refused: a lost owner's"].includes(meant(given)?.verdict ?? ""),
      (given) => !given.words.adopt && !given.words.recover,
    ],
    ["takes what has another owner's mark", isTaken, (given) => meant(given)?.mark === "another's"],
    [
      "takes what is passed over",
      (given) => isTaken(given) && meant(given)?.verdict === "passed over",
      ({ listed }) => listed.some(({ verdict }) => verdict === "passed over"),
    ],
    [
      "takes one where a rule is claimed, unclear or the service's own",
      isTaken,
      (given) => firstRefused(given) !== undefined,
    ],
    [
      "takes a move where nothing can write the own mark",
      (given) => inWords(judged(given)) === "take: move",
      (given) => !given.words.canUpdate,
    ],
    [
      "takes one of several that have the natural key",
      isTaken,
      ({ listed, words: { hasNaturalKey } }) =>
        hasNaturalKey && listed.length === 2 && listed.every(({ verdict }) => ["found", "move"].includes(verdict))
          ? listed[0]?.verdict === listed[1]?.verdict
          : false,
    ],
    [
      "points at a rule of another kind than it says",
      (given) => {
        const { is } = judged(given);
        return is !== meant(given)?.verdict;
      },
      (given) => firstRefused(given) !== undefined,
    ],
    [
      "decides by the order of the list",
      ({ listed, words: given }) => {
        const [there, back] = [judgeCreate(listed, given), judgeCreate(listed.toReversed(), given)];
        return inWords(there) !== inWords(back) || rule(there, listed) !== rule(back, listed.toReversed());
      },
      ({ listed }) => listed.filter(({ verdict }) => verdict.startsWith("refused: ")).length < 2 && isToldApart(listed),
    ],
  ]);

  /** The rule that is taken; a refusal may name either of two. */
  function rule(verdict: CreateVerdict, listed: readonly FoundFacts[]): FoundFacts | undefined {
    return verdict.is === "take" ? listed[verdict.at] : undefined;
  }

  function isToldApart([one, other]: readonly FoundFacts[]): boolean {
    return one !== other;
  }
});

describe("a take-over", () => {
  const all = combinations<TakeOverFacts>({
    isEqual: either,
    isNamed: either,
    hasOthersMark: either,
    canUpdate: either,
    isUnseen: either,
  });
  type Verdict = ReturnType<typeof judgeTakeOver>;

  testLines<TakeOverFacts, Verdict>(judgeTakeOver, all, [
    [
      "no update operation, adopt, bears another's mark",
      { canUpdate: false, isNamed: true, hasOthersMark: true },
      "refused: its mark stays",
    ],
    [
      "no update operation, adopt, different",
      { canUpdate: false, isNamed: true, isEqual: false },
      "refused: cannot change",
    ],
    ["equal, and declares what no reading shows", { isEqual: true, isUnseen: true, canUpdate: true }, "write"],
    ["equal, another's mark", { isEqual: true, hasOthersMark: true, canUpdate: true }, "mark"],
    ["equal", { isEqual: true }, "take as it is"],
    ["different, adopt", { isNamed: true }, "write"],
    ["different, found", {}, "into the state as live"],
  ]);

  const writes = (facts: TakeOverFacts): boolean => ["write", "mark"].includes(judgeTakeOver(facts));
  testNever(all, [
    ["writes without an update operation", writes, ({ canUpdate }) => !canUpdate],
    [
      "changes what differs, and no word names",
      (facts) => judgeTakeOver(facts) === "write",
      ({ isEqual, isNamed }) => !isEqual && !isNamed,
    ],
    [
      "writes what is equal, is shown, and bears no other's mark",
      writes,
      ({ isEqual, isUnseen, hasOthersMark }) => isEqual && !isUnseen && !hasOthersMark,
    ],
    [
      "leaves another's mark where it can write its own",
      (facts) => judgeTakeOver(facts) === "take as it is",
      ({ hasOthersMark, canUpdate }) => hasOthersMark && canUpdate,
    ],
  ]);
});

describe("the place", () => {
  interface Seen extends PlaceFacts {
    readonly witness: Witness;
  }
  const all = combinations<Seen>({
    isSameIdentity: known,
    isSamePlace: either,
    word: words,
    witness: ["strong", "weak", "none"],
  });
  const judge = ({ witness, ...facts }: Seen): PlaceVerdict => judgePlace(facts) ?? judgeWitness(witness, facts.word);

  testLines<Seen, PlaceVerdict>(judge, all, [
    ["an identity now and in the row: equal", { isSameIdentity: true }, "proven"],
    ["an identity now and in the row: different, moved", { isSameIdentity: false, word: "moved" }, "elsewhere"],
    ["an identity now and in the row: different, else", { isSameIdentity: false }, "refused: another identity"],
    ["no two identities to compare, and the remembered place is the same", { isSamePlace: true }, "proven"],
    ["a known rule is seen with its row's same mark, or under its opaque id", { witness: "strong" }, "proven"],
    ["same", { word: "same" }, "proven"],
    ["moved", { word: "moved" }, "elsewhere"],
    ["enough weak witnesses", { witness: "weak" }, "weakly proven"],
    ["else", {}, "refused: nothing tells"],
  ]);

  test("asks for witnesses only where neither identities nor the remembered place tell", () => {
    const asks = all.filter(({ witness: _, ...facts }) => judgePlace(facts) === undefined);
    expect(asks).toEqual(all.filter(({ isSameIdentity, isSamePlace }) => isSameIdentity === undefined && !isSamePlace));
  });

  testNever(all, [
    ["is elsewhere without moved", (facts) => judge(facts) === "elsewhere", ({ word }) => word !== "moved"],
    [
      "is proven by same against two identities",
      (facts) => judge(facts) !== judge({ ...facts, word: undefined }),
      ({ isSameIdentity, word }) => isSameIdentity !== undefined && word === "same",
    ],
    [
      "is proven where two identities differ",
      (facts) => judge(facts).endsWith("proven"),
      ({ isSameIdentity }) => isSameIdentity === false,
    ],
    [
      "is proven by nothing",
      (facts) => judge(facts).endsWith("proven"),
      ({ isSameIdentity, isSamePlace, witness, word }) =>
        isSameIdentity === undefined && !isSamePlace && witness === "none" && word !== "same",
    ],
  ]);

  describe("enough weak witnesses", () => {
    const signs = (weak: number, none: number): Sign[] => [
      ...Array.from({ length: weak }, () => "weak" as const),
      ...Array.from({ length: none }, () => "none" as const),
    ];

    test.each<[knownRules: number, enough: number]>([
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 3],
      [5, 3],
      [6, 4],
      [7, 4],
      [100, 51],
      [101, 51],
    ])("of %i known rules are %i", (knownRules, enough) => {
      for (let weak = 0; weak <= knownRules; weak += 1) {
        const expected = weak >= enough ? "weak" : "none";
        expect(witnessOf(signs(weak, knownRules - weak), true)).toBe(expected);
        expect(witnessOf(signs(weak, knownRules - weak).toReversed(), true)).toBe(expected);
        expect(witnessOf(signs(weak, knownRules - weak), false)).toBe("none");
      }
    });

    test("are never nothing", () => {
      expect(witnessOf([], true)).toBe("none");
      expect(witnessOf([], false)).toBe("none");
    });

    test("are not asked for where one rule is a strong one, whatever the others are", () => {
      for (const mayBeWeak of either)
        for (const weak of [0, 1, 5])
          for (const none of [0, 1, 5]) expect(witnessOf([...signs(weak, none), "strong"], mayBeWeak)).toBe("strong");
    });
  });
});

/**
 * The decisions of the model by its kinds of contracts: `M` marks, `N` natural key; ids `s` short, `o` opaque, `c` chosen
 * by us. A mark is none, the row's own bits (`m1`), one that this resource would write now (`m2`), or another (`x`).
 */
describe("as the model decides by contract", () => {
  type Contract = "s" | "o" | "c" | "Ns" | "No" | "Nc" | "Ms" | "Mo" | "Mc" | "MNs" | "MNo" | "MNc";
  type Mark = "-" | "m1" | "m2" | "x";
  const isOpaque = (contract: Contract): boolean => contract.endsWith("o");

  describe("whose the rule under a known id is", () => {
    test.each<[contracts: Contract[], row: Mark, live: Mark, key: "same key" | "another key", ours: boolean]>([
      [["s", "o", "c", "No", "Nc"], "-", "-", "another key", true],
      [["s", "o", "c", "Ns", "No", "Nc"], "-", "-", "same key", true],
      [["Ns"], "-", "-", "another key", false],
      [["Ms", "Mo", "Mc", "MNo", "MNc"], "-", "-", "another key", true],
      [["MNs"], "-", "-", "another key", false],
      [["MNs", "MNo", "MNc"], "-", "-", "same key", true],
      [["Ms"], "m1", "-", "same key", false],
      [["Mo", "Mc", "MNo", "MNc"], "m1", "-", "another key", true],
      [["MNs"], "m1", "-", "same key", true],
      [["MNs"], "m1", "-", "another key", false],
      [["Ms", "Mo", "Mc", "MNs", "MNo", "MNc"], "m1", "m1", "another key", true],
      [["Ms", "Mo", "Mc", "MNs", "MNo", "MNc"], "m1", "m2", "another key", true],
      [["Ms", "Mo", "Mc", "MNs", "MNo", "MNc"], "-", "m2", "another key", true],
      [["Ms", "Mo", "Mc", "MNs", "MNo", "MNc"], "x", "m2", "same key", true],
      [["Ms", "Mo", "Mc", "MNs", "MNo", "MNc"], "m1", "x", "same key", false],
      [["Ms", "Mo", "Mc", "MNs", "MNo", "MNc"], "-", "x", "same key", false],
      // Adopted, and the mark of another stack is still there.
      [["Ms", "Mo", "Mc", "MNs", "MNo", "MNc"], "x", "x", "another key", true],
    ])("%j: the row has %s, the rule has %s and %s: ours %s", (contracts, row, live, key, ours) => {
      for (const contract of contracts) {
        const isOwn = live === row || live === "m2";
        const facts: OursFacts = {
          mark: live === "-" ? "none" : isOwn ? "own" : "another",
          wasMarked: row !== "-",
          isLasting: !contract.endsWith("s"),
          isSameKey: contract.includes("N") ? key === "same key" : undefined,
        };
        expect([contract, isOurs(facts)]).toEqual([contract, ours]);
      }
    });
  });

  const short: readonly Contract[] = ["s", "c", "Ns", "Nc", "Ms", "Mc", "MNs", "MNc"];
  const marking: readonly Contract[] = ["Ms", "Mc", "MNs", "MNc"];
  const opaque: readonly Contract[] = ["o", "No", "Mo", "MNo"];
  type Places = "same place" | "other place" | "same merchant" | "other merchant";
  type Between = readonly [contracts: readonly Contract[], place: Places, word: PairWord | undefined];
  const between = (contract: Contract, place: Places, word: PairWord | undefined) => ({
    isSamePlace: place === "same place",
    isSameIdentity: place.endsWith("merchant") ? place === "same merchant" : undefined,
    word,
    isOpaque: isOpaque(contract),
  });

  describe("whether another resource's row holds the live rule", () => {
    test.each<[...Between, row: Mark, live: Mark, holds: ReturnType<typeof judgeClaim>]>([
      [[...short, ...opaque], "same place", undefined, "-", "-", "yes"],
      [[...short, ...opaque], "same place", "moved", "m1", "x", "yes"],
      [[...short, ...opaque], "same merchant", undefined, "-", "-", "yes"],
      [[...short, ...opaque], "same merchant", "moved", "m1", "x", "yes"],
      [[...short, ...opaque], "other merchant", "same", "m1", "m1", "no"],
      [[...short, ...opaque], "other place", "same", "m1", "x", "yes"],
      [[...short, ...opaque], "other place", "moved", "m1", "m1", "no"],
      [opaque, "other place", undefined, "m1", "x", "yes"],
      [short, "other place", undefined, "-", "x", "unclear"],
      [short, "other place", undefined, "-", "-", "unclear"],
      [marking, "other place", undefined, "m1", "m1", "yes"],
      [marking, "other place", undefined, "m1", "x", "no"],
      // A copy at another merchant has lost its mark there: it is another rule.
      [marking, "other place", undefined, "m1", "-", "no"],
    ])("%j, %s, word %s: the row has %s, the rule has %s: %s", (contracts, place, word, row, live, holds) => {
      for (const contract of contracts) {
        const isSameMark = row === "-" ? undefined : row === live;
        expect([contract, judgeClaim({ ...between(contract, place, word), isSameMark })]).toEqual([contract, holds]);
      }
    });
  });

  describe("whether two rows with one id are one rule", () => {
    test.each<[...Between, same: ReturnType<typeof judgeRows>]>([
      [[...short, ...opaque], "same place", "moved", "yes"],
      [opaque, "other place", undefined, "yes"],
      [opaque, "other place", "moved", "yes"],
      [opaque, "other merchant", undefined, "yes"],
      [short, "same merchant", "moved", "yes"],
      [short, "other merchant", "same", "no"],
      [short, "other place", "same", "yes"],
      [short, "other place", "moved", "no"],
      [short, "other place", undefined, "unclear"],
    ])("%j, %s, word %s: %s", (contracts, place, word, same) => {
      for (const contract of contracts)
        expect([contract, judgeRows(between(contract, place, word))]).toEqual([contract, same]);
    });
  });

  describe("where a row stands", () => {
    type Row = readonly [mark: Mark, live: "absent" | "whole" | "changed", mark: Mark];
    const sign = (contract: Contract, [row, live, now]: Row): Sign => {
      if (live === "absent") return "none";
      if (isOpaque(contract)) return "strong";
      if (row !== "-") return row === now ? "strong" : "none";
      return live === "whole" && now === "-" ? "weak" : "none";
    };

    test.each<[contracts: readonly Contract[], what: string, rows: Row[], witness: Witness]>([
      [opaque, "one of many is there, changed", [["-", "changed", "-"], ...many(["-", "absent", "-"], 5)], "strong"],
      [opaque, "none is there", many(["-", "absent", "-"], 3), "none"],
      [marking, "one has its mark, changed", [["m1", "changed", "m1"], ...many(["m1", "absent", "-"], 5)], "strong"],
      // A run that was killed at another merchant may have left such a mark.
      [marking, "one has a mark as it would be written now", [["m1", "whole", "m2"]], "none"],
      [marking, "all are whole, but for their marks", many(["m1", "whole", "-"], 3), "none"],
      [marking, "all are whole, and never had a mark", many(["-", "whole", "-"], 3), "weak"],
      [short, "one of one is whole", [["-", "whole", "-"]], "weak"],
      [short, "one of one is changed", [["-", "changed", "-"]], "none"],
      [
        short,
        "one of two is whole",
        [
          ["-", "whole", "-"],
          ["-", "absent", "-"],
        ],
        "none",
      ],
      [short, "two of three are whole", [["-", "changed", "-"], ...many(["-", "whole", "-"], 2)], "weak"],
      [short, "two of four are whole", [...many(["-", "absent", "-"], 2), ...many(["-", "whole", "-"], 2)], "none"],
    ])("%j, %s", (contracts, _, rows, witness) => {
      for (const contract of contracts) {
        const signs = rows.map((row) => sign(contract, row));
        expect([contract, witnessOf(signs, true)]).toEqual([contract, witness]);
        // Under another name or address weak witnesses tell nothing.
        expect([contract, witnessOf(signs, false)]).toEqual([contract, witness === "strong" ? "strong" : "none"]);
      }
    });

    function many(row: Row, count: number): Row[] {
      return Array.from({ length: count }, () => row);
    }
  });
});

/** The values that each fact can have. */
type Values<Facts> = { readonly [Name in keyof Facts]: readonly Facts[Name][] };

/** A line of a table of the specification: where it applies, and what is decided. The first that applies decides. */
type Line<Facts, Verdict> = readonly [
  line: string,
  when: Partial<Facts> | ((facts: Facts) => boolean),
  verdict: Verdict,
];

/** Returns every combination of facts. */
function combinations<Facts>(values: Values<Facts>): Facts[] {
  let all: Partial<Facts>[] = [{}];
  for (const name in values) all = all.flatMap((facts) => values[name].map((value) => ({ ...facts, [name]: value })));
  return all as Facts[];
}

/** Tests each line over all facts for which it is the first that applies, and that no facts are left over. */
function testLines<Facts extends object, Verdict>(
  judge: (facts: Facts) => Verdict,
  all: readonly Facts[],
  lines: readonly Line<Facts, Verdict>[],
): void {
  const first = Map.groupBy(all, (facts) => lines.find(([, when]) => applies(when, facts)));
  test.each(lines.map((line) => [`${line[0]}: ${String(line[2])}`, first.get(line) ?? [], line[2]] as const))(
    "%s",
    (_, facts, verdict) => {
      expect(facts).not.toEqual([]);
      const others = facts.flatMap((each) => (judge(each) === verdict ? [] : [{ ...each, verdict: judge(each) }]));
      expect(others.slice(0, 3)).toEqual([]);
    },
  );
  test("what no line covers does not exist", () => {
    expect(first.get(undefined)).toBeUndefined();
  });
}

function applies<Facts>(when: Line<Facts, unknown>[1], facts: Facts): boolean {
  if (typeof when === "function") return when(facts);
  for (const name in when) if (when[name] !== facts[name]) return false;
  return true;
}

/** Tests over all facts that nothing is done under a condition, and that both exist. */
function testNever<Facts>(
  all: readonly Facts[],
  rows: readonly (readonly [what: string, isDone: (facts: Facts) => boolean, when: (facts: Facts) => boolean])[],
): void {
  test.each(rows)("it never %s", (_, isDone, when) => {
    const meant = all.filter(when);
    expect(meant).not.toEqual([]);
    expect(meant.filter(isDone).slice(0, 3)).toEqual([]);
  });
}
