import { hash } from "node:crypto";
import { type Contract, idPointers } from "../../sdk/contract/index.ts";
import {
  asWritten,
  canonical,
  isEqual,
  type Json,
  type JsonObject,
  segmentsOf,
  valueAt,
  withFieldAt,
  withoutValueAt,
  withoutWriteOnly,
  withValueAt,
} from "../../sdk/json/index.ts";
import type { StoredRule } from "./store.ts";
import { inStoredForm } from "./stored-form.ts";

/** The look and the standing of a rule in requests and responses, by the contract's `rule`. */
export type RuleShape = ReturnType<typeof ruleShape>;

export function ruleShape({ rule, operations }: Contract, answers: "id" | "rule") {
  const { naturalKey, changedBy, changedAt, envelope } = rule;
  const { version = null } = operations.update ?? {};
  const versionAt = version !== null && "at" in version ? version.at : undefined;
  const idAt = idPointer(rule);
  const [idField = "id", ...further] = segmentsOf(idAt);
  const own = [idAt, "/createdAt", "/updatedAt", versionAt ?? idAt, changedBy ?? idAt, changedAt ?? idAt];
  const managed = [...new Set(own)];
  const unversioned = ({ ruleId, definition: sent, createdAt, updatedAt }: StoredRule): Json => {
    const definition = withoutWriteOnly(inStoredForm(sent, rule), rule);
    if (further.length === 0) return { [idField]: ruleId, ...definition, createdAt, updatedAt };
    return withValueAt({ ...definition, createdAt, updatedAt }, idAt, ruleId);
  };
  const document = (stored: StoredRule): Json => {
    const versioned =
      versionAt === undefined ? unversioned(stored) : withValueAt(unversioned(stored), versionAt, versionOf(stored));
    const timed = changedAt === null ? versioned : withValueAt(versioned, changedAt, stored.updatedAt);
    return changedBy === null ? timed : withValueAt(timed, changedBy, onlyUser);
  };
  const response = (stored: StoredRule): Json => withValueAt({}, envelope, document(stored));
  return {
    /** Makes an item of a list: the id of a rule, its definition but for `rule.writeOnly`, when it was made and changed. */
    document,
    /** Makes an item of a list of summaries: the id and the natural key of a rule. */
    summary: ({ ruleId, definition }: StoredRule): Json => {
      const key = naturalKey === null ? undefined : valueAt(inStoredForm(definition, rule), naturalKey);
      return withValueAt(
        naturalKey === null || key === undefined ? {} : withValueAt({}, naturalKey, key),
        idAt,
        ruleId,
      );
    },
    /** Makes the body of a response about one rule: its `document` in the contract's envelope. */
    response,
    /** Makes the body of the response to a create or update: as `response`, or the id alone. */
    written: (stored: StoredRule): Json =>
      answers === "rule" ? response(stored) : withValueAt({}, envelope, withValueAt({}, idAt, stored.ruleId)),
    /** Makes the body of the response to a delete: the id, where it is known. The seed gives it no fields (section 4). */
    deleted: (ruleId?: string): Json =>
      withValueAt(
        {},
        envelope,
        ruleId === undefined ? { deleted: true } : withValueAt({ deleted: true }, idAt, ruleId),
      ),
    /** Returns the pointers of what only the service may set, and a definition sets. */
    managedIn: (definition: JsonObject) => managed.filter((pointer) => valueAt(definition, pointer) !== undefined),
    /** Returns a definition without what only the service may set. */
    withoutManaged: (definition: JsonObject) => managed.reduce(withoutValueAt, definition),
    ...standing(rule, document),
  };
}

/** Returns how rows stand, by the contract's `rule.gone` and `rule.foreign`. */
function standing(rule: Contract["rule"], document: (stored: StoredRule) => Json) {
  const [mark] = rule.gone;
  const matches =
    (rows: Contract["rule"]["gone"]) =>
    (stored: StoredRule): boolean => {
      if (rows.length === 0) return false;
      const shown = document(stored);
      return rows.some(({ at, is }) => {
        const value = valueAt(shown, at);
        return value !== undefined && is.some((each) => isEqual(each, value, rule, segmentsOf(at)));
      });
    };
  return {
    /** Decides whether a rule was deleted, and is still kept and shown. */
    isGone: matches(rule.gone),
    /** Decides whether a rule is the service's own, which no client may change. */
    isForeign: matches(rule.foreign),
    /** Returns a definition as a delete leaves it; undefined where the contract has no `rule.gone`, so that no row is kept. */
    whenDeleted: (definition: JsonObject): JsonObject | undefined => {
      const [value] = mark?.is ?? [];
      return mark === undefined || value === undefined ? undefined : withFieldAt(definition, mark.at, value);
    },
  };
}

/** Returns the version of a rule: a string that differs where the rule does. */
export function versionOf({ definition }: StoredRule): string {
  return hash("sha256", canonical(definition, asWritten)).slice(0, 16);
}

/** Everybody who writes here, as the contract's `rule.changedBy` shows it. */
const onlyUser = "local";

/**
 * Returns the pointer to a rule's id, within the rule. Clients look for each pointer within the envelope, then in the whole
 * response; a pointer that begins with the envelope means the latter.
 */
export function idPointer(rule: Pick<Contract["rule"], "id" | "envelope">): string {
  const { envelope } = rule;
  const first = idPointers(rule).find((pointer) => pointer !== "") ?? "/id";
  return envelope !== "" && first.startsWith(`${envelope}/`) ? first.slice(envelope.length) : first;
}
