import { hash } from "node:crypto";
import type { Contract } from "../../sdk/contract/index.ts";
import {
  asWritten,
  canonical,
  type Json,
  type JsonObject,
  segmentsOf,
  valueAt,
  withoutValueAt,
  withValueAt,
} from "../../sdk/json/index.ts";
import type { StoredRule } from "./store.ts";
import { inStoredForm } from "./stored-form.ts";

/** The look of a rule in requests and responses, by the contract's `rule`. */
export interface RuleShape {
  /** Makes an item of a list: the id of a rule, its definition as declared, when it was made and changed. */
  document(rule: StoredRule): Json;
  /** Makes an item of a list of summaries: the id and the natural key of a rule. */
  summary(rule: StoredRule): Json;
  /** Makes the body of a response about one rule: its {@link RuleShape.document} in the contract's envelope. */
  response(rule: StoredRule): Json;
  /** Makes the body of the response to a create or update: as {@link RuleShape.response}, or the id alone. */
  written(rule: StoredRule): Json;
  /** Makes the body of the response to a delete: the id, where it is known. The seed gives it no fields (section 4). */
  deleted(ruleId?: string): Json;
  /** Returns the pointers of what only the service may set, and a definition sets. */
  managedIn(definition: JsonObject): string[];
  /** Returns a definition without what only the service may set. */
  withoutManaged(definition: JsonObject): JsonObject;
}

export function ruleShape({ rule, operations }: Contract, answers: "id" | "rule"): RuleShape {
  const { version = null } = operations.update ?? {};
  const versionAt = version !== null && "at" in version ? version.at : undefined;
  const idAt = idPointer(rule);
  const [idField = "id", ...further] = segmentsOf(idAt);
  const { changedBy, changedAt } = rule;
  const own = [idAt, "/createdAt", "/updatedAt", versionAt ?? idAt, changedBy ?? idAt, changedAt ?? idAt];
  const managed = [...new Set(own)];
  const document = (stored: StoredRule): Json => {
    const versioned =
      versionAt === undefined ? unversioned(stored) : withValueAt(unversioned(stored), versionAt, versionOf(stored));
    const timed = changedAt === null ? versioned : withValueAt(versioned, changedAt, stored.updatedAt);
    return changedBy === null ? timed : withValueAt(timed, changedBy, onlyUser);
  };
  const unversioned = ({ ruleId, definition: sent, createdAt, updatedAt }: StoredRule): Json => {
    const definition = inStoredForm(sent, rule);
    if (further.length === 0) return { [idField]: ruleId, ...definition, createdAt, updatedAt };
    return withValueAt({ ...definition, createdAt, updatedAt }, idAt, ruleId);
  };
  const response = (stored: StoredRule): Json => withValueAt({}, rule.envelope, document(stored));
  const deleted = (ruleId: string | undefined): Json =>
    ruleId === undefined ? { deleted: true } : withValueAt({ deleted: true }, idAt, ruleId);
  const summary = ({ ruleId, definition }: StoredRule): Json => {
    const { naturalKey } = rule;
    const key = naturalKey === null ? undefined : valueAt(inStoredForm(definition, rule), naturalKey);
    const named = naturalKey === null || key === undefined ? {} : withValueAt({}, naturalKey, key);
    return withValueAt(named, idAt, ruleId);
  };
  return {
    document,
    summary,
    response,
    written:
      answers === "rule" ? response : ({ ruleId }) => withValueAt({}, rule.envelope, withValueAt({}, idAt, ruleId)),
    deleted: (ruleId) => withValueAt({}, rule.envelope, deleted(ruleId)),
    managedIn: (definition) => managed.filter((pointer) => valueAt(definition, pointer) !== undefined),
    withoutManaged: (definition) => managed.reduce(withoutValueAt, definition),
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
export function idPointer({ id, envelope }: Contract["rule"]): string {
  const first = id.find((pointer) => pointer !== "") ?? "/id";
  return envelope !== "" && first.startsWith(`${envelope}/`) ? first.slice(envelope.length) : first;
}
