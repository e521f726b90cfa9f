import type { LiveRule } from "../../sdk/client/index.ts";
import { differences, differsUnseen, fieldsShown, isEqual, type JsonObject, type Path } from "../../sdk/json/index.ts";
import { markId, markIn } from "../merchant/mark.ts";
import { hasFormerFields, isAsDeclared, isWhole, naturalKeyIn, ownFields, type Spoken, seenAs } from "./live-rule.ts";

/**
 * What a run must have seen, as tables: what was written and what a reading shows, a verdict out. Nothing here asks the
 * service. A response is a claim; only a reading that began after the write ended is a proof.
 */

/** What a request asks of one rule. A transition is one of the contract's `rule.transitions`. */
export type WriteKind = "create" | "update" | "delete" | "transition";

/** A request of this run, and what the service should hold for it. */
export interface Write {
  readonly kind: WriteKind;
  /** The id that the rule has after it; undefined: of a create that was not answered. */
  readonly ruleId: string | undefined;
  /** The id before an update that gave another. */
  readonly formerId?: string | undefined;
  /** The definition as the service should have it now; of a delete as it was known. */
  readonly sent: JsonObject;
  /** The rule before, as far as `sent` and the row speak of it; undefined: there was none. */
  readonly before: JsonObject | undefined;
  /** What decides in the mark that was sent; undefined: none was. */
  readonly mark: string | undefined;
  /** False: its response was lost, or is not as the contract says. */
  readonly isAnswered: boolean;
}

/** What a reading shows under an id: a rule, none, or undefined where it was not looked. */
export type AtId = (ruleId: string) => JsonObject | null | undefined;

export type OwnVerdict =
  | "as sent"
  /** A read shows it as sent, and the list does not by now: nothing tells of others. */
  | "not listed"
  /** At every path that differs it is as before the write. */
  | "as before"
  | "otherwise"
  /** A declared top-level field is not there. */
  | "lacks fields"
  | "missing"
  /** A deleted one, or the old id of an update that gave a new one. */
  | "still there"
  | "without its mark"
  /** It still has what was declared before and is no more. */
  | "keeps fields"
  | "unread";

/** One own rule, as a reading shows it. In each table the first line that applies decides. */
export function judgeOwn(write: Write, at: AtId, place: Spoken): OwnVerdict {
  const { kind, ruleId, formerId, sent, before, mark } = write;
  const rule = ruleId === undefined ? undefined : at(ruleId);
  if (rule === undefined) return "unread";
  if (kind === "delete") return rule === null ? "as sent" : "still there";
  if (rule === null) return "missing";
  if (formerId !== undefined && at(formerId)) return "still there";
  // No reading shows whether a service that did not answer has taken it.
  if (!write.isAnswered && before !== undefined && differsUnseen(before, sent, place.contract.rule)) return "unread";
  if (isAsDeclared(rule, sent, place)) {
    const found = markIn(rule, place.contract);
    if (mark !== undefined && place.contract.rule.owner !== null && (found && markId(found)) !== mark)
      return "without its mark";
    return kind === "update" && before !== undefined && hasFormerFields(rule, before, sent, place)
      ? "keeps fields"
      : "as sent";
  }
  if (before !== undefined && isAsBefore(rule, before, sent, place)) return "as before";
  return fieldsShown(sent, place.contract.rule).some((name) => !Object.hasOwn(rule, name))
    ? "lacks fields"
    : "otherwise";
}

/** True where all that differs from what was sent is as it was before. */
function isAsBefore(rule: JsonObject, before: JsonObject, sent: JsonObject, place: Spoken): boolean {
  const by = place.contract.rule;
  const whole = { ...before, ...sent };
  const changed = differences(seenAs(rule, whole, place), seenAs(before, whole, place), by).filter(
    // A null and no field at all are the same.
    (each) => (each.before ?? null) !== null || (each.after ?? null) !== null,
  );
  const wanted = differences(seenAs(rule, sent, place), sent, by);
  return wanted.every(({ path }) => !changed.some((each) => begins(each.path, path) || begins(path, each.path)));
}

function begins(path: Path, start: Path): boolean {
  return start.every((segment, at) => path[at] === segment);
}

/** The verdicts after which nothing more is sent: the first request of a kind has shown what the others would do. */
export function isToStop(verdict: OwnVerdict, { isAnswered }: Pick<Write, "isAnswered">): boolean {
  switch (verdict) {
    case "as sent":
    case "not listed":
    case "as before":
    case "unread":
      return false;
    case "otherwise":
    case "lacks fields":
    case "keeps fields":
      return true;
    default:
      return isAnswered;
  }
}

/** What happened to a rule that this run has not written, between two readings. */
export interface OtherChange {
  readonly ruleId: string;
  readonly what:
    | "gone"
    /** It has lost a top-level field. */
    | "lost fields"
    /** It has by now all that one of the writes changed, and had it not before. */
    | "took the change"
    /** It is new, and has the mark, the natural key or the whole of what was sent. */
    | "double"
    | "changed";
  /** By what this run wrote meanwhile, as far as a reading tells. */
  readonly isHarm: boolean;
}

/** What was written from one reading to the next. */
export interface Window {
  readonly writes: readonly Write[];
  /** Ids of what was written and not seen since, or may yet be changed by a request under way or of no known outcome. */
  readonly notJudged: ReadonlySet<string>;
  /** What creates under way, or of no known outcome, have sent: a new rule like these is theirs. */
  readonly awaited: readonly Pick<Write, "sent" | "mark">[];
}

/** The rules that nothing asked for a change of, by two readings: those before, and what the later one has at all. */
export function judgeOthers(
  before: Iterable<LiveRule>,
  { at, news }: { readonly at: AtId; readonly news: Iterable<LiveRule> },
  { writes, notJudged, awaited }: Window,
  place: Spoken,
): OtherChange[] {
  const isOther = ({ ruleId }: LiveRule): boolean => !notJudged.has(ruleId);
  const kinds = new Set(writes.map(({ kind }) => kind));
  const areUpdates = kinds.has("update") || kinds.has("transition");
  const mayDouble = areUpdates || kinds.has("create");
  const found: OtherChange[] = [];
  for (const other of before) {
    const now = at(other.ruleId);
    if (now === undefined || !isOther(other)) continue;
    const what = changeOf(other.rule, now, writes, place);
    if (what === undefined) continue;
    const isHarm = {
      gone: areUpdates || kinds.has("delete"),
      "lost fields": areUpdates,
      "took the change": mayDouble,
      changed: false,
    }[what];
    found.push({ ruleId: other.ruleId, what, isHarm });
  }
  if (!mayDouble) return found;
  const sent = writes.filter(({ kind }) => kind !== "delete");
  const own = new Set(writes.map(({ ruleId }) => ruleId));
  for (const live of news) {
    if (own.has(live.ruleId) || !isOther(live) || awaited.some((each) => isLike(live.rule, each, place))) continue;
    if (sent.some((each) => isLike(live.rule, each, place)))
      found.push({ ruleId: live.ruleId, what: "double", isHarm: true });
  }
  return found;
}

function changeOf(before: JsonObject, now: JsonObject | null, writes: readonly Write[], place: Spoken) {
  if (now === null) return "gone";
  const by = place.contract.rule;
  if (now === before || isEqual(ownFields(now, place), ownFields(before, place), by)) return undefined;
  if (fieldsShown(ownFields(before, place), by).some((name) => !Object.hasOwn(now, name))) return "lost fields";
  const hasTaken = writes.some((write) => {
    const change = changeIn(write, place);
    return change !== undefined && isAsDeclared(now, change, place) && !isAsDeclared(before, change, place);
  });
  return hasTaken ? "took the change" : "changed";
}

/** The top-level fields that a write changed; undefined where there are none. */
function changeIn({ kind, sent, before = {} }: Write, place: Spoken): JsonObject | undefined {
  if (kind === "delete") return undefined;
  const by = place.contract.rule;
  const names = new Set(differences(seenAs(before, sent, place), sent, by).map(({ path }) => String(path[0])));
  return names.size === 0 ? undefined : Object.fromEntries(Object.entries(sent).filter(([name]) => names.has(name)));
}

/** True of a rule that is as one write made it: by the very mark, the natural key, or else the whole. */
function isLike(rule: JsonObject, { sent, mark }: Pick<Write, "sent" | "mark">, place: Spoken): boolean {
  const found = markIn(rule, place.contract);
  if (found !== undefined && mark !== undefined) return markId(found) === mark;
  const key = naturalKeyIn(sent, place);
  return key === undefined ? isWhole(rule, sent, place) : naturalKeyIn(rule, place) === key;
}
