import type { MerchantRulesError } from "../../sdk/errors.ts";
import { fieldsAdded } from "../../sdk/json/added-fields.ts";
import { defined } from "../../sdk/json/index.ts";
import { isWholeAsKnown, seenAs, undeclaredOf } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { markIn } from "../merchant/mark.ts";
import { notAsSent } from "../refusals/audit.ts";
import type { Audit } from "../run/audits.ts";
import type { Place } from "../run/place.ts";
import type { Finding, Sent } from "../run/sent.ts";
import { noted, type Task } from "../run/task.ts";
import type { Outcome } from "./outcome.ts";

/** The outcomes of a hook by what was seen after its requests: done is what a reading shows. */
export async function audited(outcomes: readonly Outcome[], at: Omit<Task, "key">): Promise<Outcome[]> {
  const audit = await at.place.audits.end(at.of);
  const sent = Map.groupBy(audit.own, ({ write }) => write.key);
  const seen = outcomes.map((outcome) =>
    (sent.get(outcome.key) ?? []).reduce((known, each) => seenTo(known, each, { ...at, key: outcome.key }), outcome),
  );
  return audit.error === undefined ? seen : withHarm(seen, audit, audit.error, at);
}

function seenTo(outcome: Outcome, sent: Sent, task: Task): Outcome {
  const { finding = { verdict: "unread", rule: undefined }, isAnswered, known } = sent;
  const { verdict } = finding;
  const isAsSent = verdict === "as sent" || verdict === "not listed";
  if (outcome.error !== undefined) {
    const isDone = isAsSent && !isAnswered && outcome.error.outcomeUnknown && known !== undefined;
    if (!isDone) return outcome;
    const { isOld: _, wanted: __, ...rest } = outcome;
    return { ...rest, known };
  }
  if (verdict === "as sent")
    return outcome.known === undefined || finding.rule === undefined || sent.kind === "delete"
      ? outcome
      : {
          ...outcome,
          known: { ...outcome.known, ...undeclaredOf(finding.rule, outcome.known.definition, task.place) },
        };
  const { of, key, place } = task;
  const label = of.label(key);
  const attempted = `${sent.kind} rule ${label === undefined ? sent.ruleId : `${label} (id ${sent.ruleId})`}`;
  const about = { attempted, write: sent, rule: finding.rule, unread: finding.unread, contract: place.contract };
  const error = notAsSent(verdict, about);
  if (isAsSent) return { ...outcome, error };
  const now = asSeen(sent, finding, task);
  if (now === undefined) return { ...outcome, error };
  if (verdict !== "missing") place.paper.remember(now.ruleId, finding.rule ?? undefined);
  return sent.kind === "delete" && outcome.known !== undefined
    ? { ...outcome, left: now, error }
    : { ...outcome, known: now, error };
}

/** The row of a rule that was not seen as it was sent: as it is, or in doubt. */
function asSeen(
  { write: { row }, known = row, before, sent }: Sent,
  { verdict, rule }: Finding,
  task: Task,
): KnownRule | undefined {
  if (known === undefined) return undefined;
  if (rule === undefined) return { ...known, doubt: fieldsAdded(before ?? {}, sent), isSealed: true };
  const isBefore = verdict === "as before" || verdict === "still there";
  const both = { ...before, ...known.definition };
  const by = isBefore ? (row?.definition ?? both) : verdict === "keeps fields" ? both : known.definition;
  const { mark: _, ...rest } = known;
  return {
    ...rest,
    ...(isBefore && row?.isTaken ? { isTaken: true as const } : {}),
    ...defined({ undeclared: row?.undeclared }),
    ...noted(markIn(rule, task.place.contract), task),
    definition: seenAs(rule, by, task.place),
    ...(verdict === "otherwise" || verdict === "lacks fields" ? {} : { isSealed: true as const }),
  };
}

/** Other rules are not as they were: those of this resource enter its state as they are, and it remembers the others. */
function withHarm(
  outcomes: readonly Outcome[],
  { own, harm }: Audit,
  error: MerchantRulesError,
  { place }: Omit<Task, "key">,
): Outcome[] {
  const seen = new Map(harm.map(({ ruleId, rule }) => [ruleId, rule]));
  const harmed = outcomes.map((outcome) => {
    const { known, ...rest } = outcome;
    if (known === undefined || !seen.has(known.ruleId)) return outcome;
    const rule = seen.get(known.ruleId);
    return rule === undefined
      ? rest
      : { ...outcome, known: { ...known, definition: seenAs(rule, known.definition, place) } };
  });
  const ownIds = new Set(outcomes.flatMap(({ known }) => known?.ruleId ?? []));
  const others = [...seen.keys()].filter((ruleId) => !ownIds.has(ruleId));
  const at = Math.max(
    0,
    harmed.findIndex(({ key }) => key === own.at(-1)?.write.key),
  );
  return harmed.map((outcome, index) => {
    if (index !== at) return outcome;
    const whole = outcome.error?.with({ lines: [...outcome.error.lines, `  ${error.message}`] }) ?? error;
    return { ...outcome, error: whole, ...(others.length === 0 ? {} : { harmed: others }) };
  });
}

/** Those of harmed rules that are not by now as their rows say; of one whose row was not heard nobody can tell. */
export async function stillHarmed(ids: readonly string[], place: Place): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = Map.groupBy(place.claims.ofStates(), ({ row }) => row.ruleId);
  const isHarmed = await Promise.all(
    ids.map(async (ruleId) => {
      const [noted] = rows.get(ruleId) ?? [];
      if (noted === undefined) return true;
      const written = place.paper.written(ruleId);
      if (written === null) return false;
      const row = written === undefined ? noted.row : { ...noted.row, definition: written };
      const sight = await place.live.get(row, noted.of.label(noted.key));
      return sight.is === "absent" || !isWholeAsKnown(sight.rule, row, place);
    }),
  );
  return ids.filter((_, at) => isHarmed[at]);
}
