import { isJsonObject, type Json, valueAt } from "../sdk/json/index.ts";

/** A thing that the service's specification says of a field, and in which of its sections. */
export interface Documented {
  readonly field: string;
  readonly value: Json;
  readonly section: number;
}

/** All that the specification says of what a contract can say. Everything else is a gap. */
export const documented: readonly Documented[] = [
  { field: "operations.create.method", value: "POST", section: 4 },
  { field: "operations.create.path", value: "/api/v1/merchants/rules", section: 4 },
  { field: "operations.create.success", value: [201], section: 4 },
  { field: "operations.get.method", value: "GET", section: 4 },
  { field: "operations.get.path", value: "/api/v1/merchants/rules/{ruleId}", section: 4 },
  { field: "operations.get.success", value: [200], section: 4 },
  { field: "operations.delete.method", value: "DELETE", section: 4 },
  { field: "operations.delete.path", value: "/api/v1/merchants/rules", section: 4 },
  { field: "operations.delete.success", value: [200], section: 4 },
  { field: "operations.update.method", value: "PUT", section: 4 },
  { field: "operations.list.method", value: "GET", section: 4 },
  { field: "auth.token.method", value: "POST", section: 5 },
];

/** A thing that the specification leaves open, and that a contract may say. docs/contract.md has the same table. */
export interface Gap {
  /** The field that answers it, as messages about contracts write it. It is the gap's name. */
  readonly field: string;
  /** Other fields that answer it, too. `*` stands for every operation. */
  readonly also?: readonly string[];
  /** The field without which the question does not arise. */
  readonly needs?: string;
  /** True where `null` in the field is an answer: that there is no such thing. Default: it leaves the question open. */
  readonly canBeNone?: true;
  /** The question to ask of the service's documentation. */
  readonly question: string;
  /** The consequence of leaving it open. */
  readonly without: string;
}

/** All gaps, those first that cost most. */
export const gaps: readonly Gap[] = [
  {
    field: "operations.delete.identifyBy",
    question: "How does a delete name its rule?",
    without: "nothing can be deleted or replaced",
  },
  {
    field: "operations.list",
    question: "How are all rules listed?",
    without: "one GET per rule; a rule whose id was lost cannot be found",
  },
  {
    field: "operations.list.pagination",
    needs: "operations.list",
    question: "Does the list come in pages?",
    without: "an answer that says that there is more is an error",
  },
  {
    field: "operations.list.summaries",
    needs: "operations.list",
    question: "Do the items of the list have all fields of a rule?",
    without: "an item of which a GET shows more is an error",
  },
  {
    field: "operations.list.lagMs",
    needs: "operations.list",
    question: "How long may the list be behind?",
    without: "a look-up that finds nothing proves nothing",
  },
  {
    field: "operations.get.lagMs",
    question: "How long may a read of one rule be behind?",
    without: "a read that does not show a write is sent again after the list's lag, or a second",
  },
  {
    field: "operations.update",
    question: "How is a rule changed?",
    without: "a change replaces the rule",
  },
  {
    field: "rule.schema",
    question: "Which fields may a rule have?",
    without: "a preview does not check definitions",
  },
  {
    field: "rule.naturalKey",
    question: "Which field is unique among a merchant's rules?",
    without: "a rule whose id was lost cannot be found",
  },
  {
    field: "rule.owner",
    question: "Is there a field for a note of ours, which keeps a text of 200 characters as it is?",
    without: "the service cannot tell owners apart",
  },
  {
    field: "rule.transitions",
    question: "Are fields changed by requests of their own, such as activate or publish?",
    without: "a field is sent with the others",
  },
  {
    field: "rule.gone",
    question: "Do deleted rules still come in answers?",
    without: "they count as present",
  },
  {
    field: "rule.foreign",
    question: "Does the service have rules of its own?",
    without: "they are like any other rule",
  },
  {
    field: "rule.forms",
    question: 'Does it answer a value otherwise than it was sent, such as `10` as `"10.00"`?',
    without: "the write is the error `RULE_DIFFERS`",
  },
  {
    field: "rule.secret",
    question: "Which fields hold secrets?",
    without: "only what the program marks with `pulumi.secret` is secret",
  },
  {
    field: "rule.writeOnly",
    question: "Does it take fields that it does not show again, or shows masked?",
    without: "a write of such a field is the error `RULE_DIFFERS`",
  },
  {
    field: "rule.envelope",
    also: ["rule.id", "operations.create.bodyAt", "operations.create.fields", "operations.list.envelope"],
    question: "Does a body or an answer have the rule below another field?",
    without: "the body is the rule, and an answer has its fields at the root",
  },
  {
    field: "operations.create.headers",
    also: ["operations.*.headers"],
    question: "Does each request need a header of its own?",
    without: "only `Authorization` and JSON's own are sent",
  },
  {
    field: "auth.present",
    canBeNone: true,
    question: "How does a request carry the token?",
    without: "it is sent as `Authorization: Bearer`",
  },
  {
    field: "errors.message",
    also: ["errors.code", "errors.details"],
    question: "Where does an error say what went wrong?",
    without: "`/error/code`, `/error/message` and `/error/details` are looked at",
  },
  {
    field: "errors.notFound",
    also: ["errors.exists"],
    question: 'Does the service say "not there" or "exists already" otherwise than by 404 and 409?',
    without: "such an answer is a failure",
  },
  {
    field: "errors.failure",
    question: "Can a body say that something failed although the status is a success?",
    without: "the status alone says whether something was done",
  },
  {
    field: "limits.pageSize",
    needs: "operations.list",
    question: "Is there a largest page?",
    without: "200 rules are asked for",
  },
  {
    field: "auth.token",
    question: "Is a token obtained from a client id and a secret?",
    without: "the token itself is a setting",
  },
  {
    field: "auth.identity",
    question: "Can the service, the token or the client id say who the credentials are?",
    without: "only rules that are known can show that this is the right merchant",
  },
  {
    field: "idempotency",
    question: "Is there an idempotency key?",
    without: "a create whose answer was lost is not sent again",
  },
  {
    field: "operations.update.removal",
    canBeNone: true,
    needs: "operations.update",
    question: "How does an update remove a field of a rule?",
    without: "it goes away where the body does not have it; one that stays is the error `RULE_DIFFERS`",
  },
  {
    field: "operations.update.version",
    canBeNone: true,
    needs: "operations.update",
    question: "Can an update say which version of the rule it changes?",
    without: "the last write wins: what somebody changed since the last refresh is overwritten",
  },
  {
    field: "operations.update.id",
    needs: "operations.update",
    question: "Does a rule get another id when it is updated?",
    without: "it keeps its id, and an answer with another one is an error",
  },
  {
    field: "operations.create.identifyBy",
    question: "May the client choose a rule's id?",
    without: "the service chooses ids",
  },
];

/** Said where questions stay open. */
export const sandboxAdvice =
  "With a sandbox, `npx --no-install merchant-rules contract probe` measures most of them; `npx --no-install merchant-rules help probe` says how.";

/**
 * Returns the gaps that a contract leaves open: it has nothing in their fields, or a null that is no answer. A question that does not arise, such as
 * the pages of a list that there is not, or the lag of a `get` that is null, is not among them.
 * @param written the contract as its file has it, without the defaults
 */
export function openGaps(written: Json): Gap[] {
  const has = (field: string): boolean => (valuesAt(written, field.split(".")) ?? null) !== null;
  const isBelowNone = (field: string): boolean => valuesAt(written, field.split(".").slice(0, -1)) === null;
  return gaps.filter(
    ({ field, also = [], needs, canBeNone = false }) =>
      (needs === undefined ? !isBelowNone(field) : has(needs)) &&
      ![field, ...also].some(has) &&
      !(canBeNone && valuesAt(written, field.split(".")) === null),
  );
}

/** Returns the value of a field; of a field with `*` the first that is there. */
function valuesAt(written: Json, [first, ...rest]: readonly string[]): Json | undefined {
  if (first === undefined) return written;
  if (!isJsonObject(written)) return undefined;
  const below = first === "*" ? Object.values(written) : [valueAt(written, `/${first}`)];
  return below.flatMap((each) => (each === undefined ? [] : [valuesAt(each, rest)])).find((each) => each !== undefined);
}
