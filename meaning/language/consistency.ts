import { type Issue, shownAt } from "../../sdk/files/described-file.ts";
import type { Path } from "../../sdk/json/walk.ts";
import type { Semantics } from "./schema.ts";
import type { Operator } from "./schema-conditions.ts";
import type { Missing } from "./schema-payment.ts";
import { outcomeNames, type ValueType } from "./schema-words.ts";
import { readValue } from "./values.ts";

/** Notes an issue if the condition is true; what was found is the value at the path. */
type RefuseIf = (isWrong: boolean, path: Path, allowed: string) => void;

/** Finds the places where fields that are right on their own cannot work together; none when the semantics can work. */
export function inconsistencies(semantics: Semantics): Issue[] {
  const issues: Issue[] = [];
  const refuseIf: RefuseIf = (isWrong, path, allowed) => {
    if (isWrong) issues.push({ path, found: shownAt(semantics, path), allowed });
  };
  for (const check of [checkOperators, checkGroups, checkFields, checkMissing, checkForce, checkOutcomes, checkWins])
    check(semantics, refuseIf);
  return issues;
}

function checkOperators({ applies }: Semantics, refuseIf: RefuseIf): void {
  const check = (operators: Readonly<Record<string, Operator>>, at: Path): void => {
    for (const [word, { is, ends, ignoresCase }] of Object.entries(operators)) {
      refuseIf(
        is === "between" && ends === null,
        [...at, word, "ends"],
        "both, lower, upper or none, because between needs it",
      );
      refuseIf(is !== "between" && ends !== null, [...at, word, "ends"], "nothing, because only between has ends");
      const isOfTexts = !["between", "exists", "absent", "inCidr"].includes(is);
      refuseIf(
        ignoresCase !== null && !isOfTexts,
        [...at, word, "ignoresCase"],
        `nothing, because ${is} is not of texts`,
      );
    }
  };
  check(applies.operators, ["applies", "operators"]);
  for (const [index, shape] of applies.conditions.entries()) {
    const at = ["applies", "conditions", index];
    check(shape.operators ?? {}, [...at, "operators"]);
    const fixed = "is" in shape.operator ? shape.operator.is : undefined;
    refuseIf(
      fixed === "between",
      [...at, "operator", "is"],
      "another comparison, or a word of applies.operators, because between needs ends",
    );
    const needsWords = fixed === undefined && Object.keys(shape.operators ?? applies.operators).length === 0;
    refuseIf(
      needsWords,
      ["applies", "operators"],
      "at least one word, because a shape of applies.conditions has words",
    );
    const hasOperand =
      "nameIn" in shape.operator || [shape.value, shape.valueList, shape.valueField].some((place) => place !== null);
    const needsNone = fixed === "exists" || fixed === "absent";
    refuseIf(
      !hasOperand && !needsNone,
      [...at, "value"],
      "a pointer, because comparisons have an operand there, in valueList or in valueField",
    );
    refuseIf(
      "nameIn" in shape.operator && shape.value !== null,
      [...at, "value"],
      "null, because operator.nameIn says where the operand is",
    );
  }
}

function checkGroups({ applies: { groups } }: Semantics, refuseIf: RefuseIf): void {
  const seen = new Set<string>();
  for (const kind of ["all", "any", "not"] as const)
    for (const [index, name] of groups[kind].entries()) {
      refuseIf(seen.has(name), ["applies", "groups", kind, index], "a name that no other group has");
      seen.add(name);
    }
}

/** Checks that every place that names a payment's field names an existing one, of the type that it needs. */
function checkFields({ payment }: Semantics, refuseIf: RefuseIf): void {
  const check = (name: string | undefined, type: ValueType, path: Path): void => {
    if (name === undefined) return;
    const field = Object.hasOwn(payment.fields, name) ? payment.fields[name] : undefined;
    refuseIf(
      field?.type !== type || field.list,
      path,
      `the name of a field in payment.fields of the type ${type}, no list`,
    );
  };
  check(payment.amount?.field, "decimal", ["payment", "amount", "field"]);
  check(payment.amount?.currency, "text", ["payment", "amount", "currency"]);
  check(payment.time ?? undefined, "instant", ["payment", "time"]);
  for (const [name, field] of Object.entries(payment.fields))
    refuseIf(
      field.ignoresCase === true && field.type !== "text",
      ["payment", "fields", name, "ignoresCase"],
      "nothing, because the field is no text",
    );
}

/** Checks that a value for a missing field is of the field's type. */
function checkMissing({ payment, missing }: Semantics, refuseIf: RefuseIf): void {
  for (const [name, field] of Object.entries(payment.fields)) {
    const fits = (given: Missing): boolean =>
      typeof given === "string" || (!field.list && readValue(given.value, field.type) !== undefined);
    const of = `${field.list ? "a list of " : ""}${field.type}`;
    if (field.missing !== null)
      refuseIf(
        !fits(field.missing),
        ["payment", "fields", name, "missing"],
        `unknown, comparisonFalse or the value of ${of}${field.list ? ", which cannot be given" : ""}`,
      );
    else
      refuseIf(
        !fits(missing),
        ["missing"],
        `what every field can have; ${name} is ${of}, so give payment.fields.${name}.missing`,
      );
  }
}

function checkForce({ force, payment }: Semantics, refuseIf: RefuseIf): void {
  const hasBounds = force.from !== null || force.until !== null;
  refuseIf(
    hasBounds && force.clock === "payment" && payment.time === null,
    ["payment", "time"],
    "the name of an instant in payment.fields, because force.clock is payment; or force.clock: now",
  );
  for (const [index, value] of (force.enabled?.isNot ?? []).entries())
    refuseIf(
      force.enabled?.is.includes(value) ?? false,
      ["force", "enabled", "isNot", index],
      "a value that does not mean enabled",
    );
}

function checkOutcomes({ outcome, wins, payment }: Semantics, refuseIf: RefuseIf): void {
  const known: readonly string[] = [...outcomeNames, ...outcome.others];
  const allowed = `an outcome: ${known.join(", ")}; or one that outcome.others names`;
  const check = (name: string | null, path: Path): void =>
    refuseIf(name !== null && !known.includes(name) && !outcome.named, path, allowed);
  for (const [word, name] of Object.entries(outcome.words)) check(name, ["outcome", "words", word]);
  for (const [word, name] of Object.entries(payment.actual?.words ?? {}))
    check(name, ["payment", "actual", "words", word]);
  for (const [index, name] of wins.precedence.entries()) check(name, ["wins", "precedence", index]);
  check(outcome.without, ["outcome", "without"]);
  check(wins.none, ["wins", "none"]);
  const says = Object.keys(outcome.words).length > 0 || outcome.named || outcome.without !== null;
  refuseIf(!says, ["outcome", "words"], "at least one word, or outcome.named, or outcome.without");
}

function checkWins({ wins, outcome }: Semantics, refuseIf: RefuseIf): void {
  refuseIf(
    wins.by === "order" && wins.order === null,
    ["wins", "order"],
    "where the number is, because wins.by is order",
  );
  refuseIf(wins.by !== "order" && wins.order !== null, ["wins", "order"], `null, because wins.by is ${wins.by}`);
  const needsPrecedence = wins.by === "precedence" || wins.order?.equal === "precedence";
  const given = new Set([...Object.values(outcome.words), ...(outcome.without === null ? [] : [outcome.without])]);
  const lacking = [...given].filter((name) => !wins.precedence.includes(name));
  refuseIf(needsPrecedence && lacking.length > 0, ["wins", "precedence"], `a list that has ${lacking.join(", ")}, too`);
  for (const [index, name] of wins.precedence.entries())
    refuseIf(wins.precedence.indexOf(name) !== index, ["wins", "precedence", index], "each outcome once");
}
