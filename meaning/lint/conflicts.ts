import { beats } from "../evaluate/decide.ts";
import { keyOf } from "../language/values.ts";
import { type Box, intersection } from "../proof/box.ts";
import { cover } from "../proof/cover.ts";
import { type Witness, witnessOf } from "../proof/witness.ts";
import type { LintFinding, LintResult } from "./finding.ts";
import { type Examined, evaluated, type Subject } from "./shown.ts";

/** A rule is compared with no more rules of the same number. */
const mostOthers = 1000;
const mostPieces = 200;

/**
 * Finds rules with the same number in the order and different outcomes, where the semantics do not say which of them wins: pairs that
 * share a payment which no rule before them decides. Of each rule only the first such pair is reported.
 */
export function conflictsOf(subject: Subject): Pick<LintResult, "notExamined"> & { readonly findings: LintFinding[] } {
  const { rules, semantics, certain } = subject;
  const findings: LintFinding[] = [];
  const notExamined: LintResult["notExamined"][number][] = [];
  if (semantics.wins.by !== "order" || semantics.wins.order?.equal !== "unknown") return { findings, notExamined };
  const groups = Map.groupBy(rules, ({ rule: { order } }) => (order === undefined ? "" : keyOf(order)));
  for (const [number, group] of groups) {
    if (number === "") continue;
    for (const [place, one] of group.entries()) {
      const others = group.slice(place + 1).filter(({ rule: { outcome } }) => outcome !== one.rule.outcome);
      const [own = []] = [certain.get(one.index)];
      for (const other of others.slice(0, mostOthers)) {
        const shared = own.flatMap((box) =>
          (certain.get(other.index) ?? []).flatMap((each) => intersection(box, each) ?? []),
        );
        const witness = shared.length === 0 ? undefined : shownBy(one, other, shared, subject);
        if (witness === undefined) continue;
        const about = { others: [one.index], because: [], untold: [], witness };
        findings.push({ kind: "order-conflict", rule: other.index, ...about });
        break;
      }
      if (others.length > mostOthers)
        notExamined.push({ rule: one.index, why: "too many rules have its number in the order" });
    }
  }
  return { findings, notExamined };
}

/** Returns a payment to which both rules apply and which no rule before them decides; undefined where none was found. */
function shownBy(one: Examined, other: Examined, shared: readonly Box[], subject: Subject): Witness | undefined {
  const { around, semantics, space } = subject;
  const { wins } = semantics;
  const open = cover(
    shared,
    (point) => {
      for (const found of around.around(point)) if (beats(found.owner.candidate, one.candidate, wins)) return found;
      return undefined;
    },
    space,
    mostPieces,
  );
  if (open.kind !== "open") return undefined;
  return witnessOf([open.box], space, (made) => {
    const { decision, rules } = evaluated(made, [one.rule, other.rule], semantics);
    return decision.kind === "unknown" && rules.every(({ applies }) => applies === "true");
  });
}
