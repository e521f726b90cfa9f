import { plannedWords, type Word } from "../../provider/hooks/planned-changes.ts";
import { printable } from "../../sdk/json/printable.ts";

/** The names of all reports. */
export const reportNames = ["drift", "plan", "diff", "test", "explain", "simulate", "lint"] as const;
export type ReportName = (typeof reportNames)[number];

interface ReportKind {
  /** The beginning of its heading. */
  readonly title: string;
  /** The names of its sides, where it does not give them itself. */
  readonly sides: { readonly before: string; readonly after: string };
  /** Says that it has no findings. */
  readonly nothing: string;
  /** Behind the number of rules without a finding. */
  readonly unchanged: string;
  /** The same beside findings. Default: as without. */
  readonly others?: string;
}

export const reportKinds: Readonly<Record<ReportName, ReportKind>> = {
  drift: {
    title: "Drift of",
    sides: { before: "declared", after: "live" },
    nothing: "none",
    unchanged: "unchanged",
  },
  plan: {
    title: "Plan for",
    sides: { before: "now", after: "after up" },
    nothing: "nothing to do",
    unchanged: "unchanged",
  },
  diff: { title: "Difference of", sides: { before: "from", after: "to" }, nothing: "none", unchanged: "the same" },
  test: {
    title: "Test of",
    sides: { before: "expected", after: "found" },
    nothing: "as expected",
    unchanged: "passed",
  },
  explain: { title: "Decision of", sides: { before: "rule", after: "payment" }, nothing: "", unchanged: "rules" },
  simulate: { title: "Simulation of", sides: { before: "before", after: "after" }, nothing: "", unchanged: "rules" },
  lint: {
    title: "Lint of",
    sides: { before: "before", after: "after" },
    nothing: "no findings",
    unchanged: "rules",
    others: "other rules",
  },
};

/** The kinds of findings of lint. They are named here, so that no other report loads the proofs by which they are found. */
export const lintKinds = [
  "never-matches",
  "ended",
  "shadowed",
  "duplicate",
  "order-conflict",
  "catch-all",
  "ends-soon",
] as const;

/**
 * The kinds of findings of all reports. The order is that of reports: what is lost comes first, then what decides otherwise
 * than before, then the rest.
 */
export const changes = [
  "delete",
  "replace",
  "missing",
  "reset",
  "failed",
  "still-in-force",
  "only-in-from",
  "only-in-to",
  "changed",
  "undeclared",
  "update",
  "create",
  "adopt",
  "unmanaged",
  "anothers",
  "rename",
  ...lintKinds,
] as const;
export type Change = (typeof changes)[number];

/** The kinds of findings of those reports on which a pipeline decides. */
export const kindsOf = {
  drift: ["missing", "still-in-force", "changed", "undeclared", "unmanaged", "anothers"],
  plan: ["delete", "replace", "reset", "undeclared", "update", "create", "adopt", "unmanaged", "anothers", "rename"],
  diff: ["only-in-from", "only-in-to", "changed"],
  simulate: [],
  lint: lintKinds,
} as const satisfies Partial<Record<ReportName, readonly Change[]>>;

/** The words of each kind. Those of a diff name its sides. */
const words: Readonly<Record<Exclude<Change, "only-in-from" | "only-in-to">, Word>> = {
  ...plannedWords,
  missing: { symbol: "-", word: "missing", counted: "missing", weight: "loss" },
  reset: {
    symbol: "!",
    word: "edited by hand",
    title: "edited by hand since the last run: will be reset",
    counted: "edited by hand, to be reset",
    weight: "loss",
  },
  failed: { symbol: "x", word: "failed", counted: "failed", weight: "loss" },
  "still-in-force": { symbol: "!", word: "still in force", counted: "still in force", weight: "difference" },
  changed: { symbol: "~", word: "changed", counted: "changed", weight: "difference" },
  undeclared: {
    symbol: "+",
    word: "undeclared",
    title: "undeclared: fields that no program declares, and that came since the last write",
    counted: "with undeclared fields",
    weight: "difference",
  },
  unmanaged: { symbol: "?", word: "unmanaged", counted: "unmanaged", weight: "quiet" },
  anothers: {
    symbol: "@",
    word: "another's",
    title: "another's: the mark at the service names another stack",
    counted: "another's",
    weight: "quiet",
  },
  "never-matches": { symbol: "x", word: "never matches", counted: "never matching", weight: "loss" },
  ended: { symbol: "x", word: "ended", counted: "ended", weight: "difference" },
  shadowed: { symbol: "x", word: "shadowed", counted: "shadowed", weight: "loss" },
  duplicate: { symbol: "=", word: "duplicate", counted: "duplicate", weight: "difference" },
  "order-conflict": { symbol: "!", word: "order conflict", counted: "in conflict by their order", weight: "loss" },
  "catch-all": { symbol: "*", word: "catch-all", counted: "catch-all", weight: "quiet" },
  "ends-soon": { symbol: "!", word: "ends soon", counted: "ending soon", weight: "quiet" },
};

/** Returns the words of a kind of finding in a report with these sides. */
export function wordOf(change: Change, { sides }: { readonly sides: ReportKind["sides"] }): Word {
  if (change === "only-in-from") return onlyIn(sides.before, "<");
  if (change === "only-in-to") return onlyIn(sides.after, ">");
  return words[change];
}

function onlyIn(side: string, symbol: string): Word {
  const word = `only in ${printable(side, 40)}`;
  return { symbol, word, counted: word, weight: "difference" };
}
