import { type Decision, ruleWords, type Semantics, shortWords } from "../meaning/index.ts";
import { growth } from "../meaning/proof/growth.ts";
import { printable, printableJson } from "../sdk/json/printable.ts";
import { type Allowances, allowancesOption } from "./base/allowances.ts";
import { baselinePath } from "./base/baseline.ts";
import { startOfRun } from "./base/host.ts";
import { ofStack, type PolicyFinding, stackPolicy } from "./base/rule-policy.ts";
import { semanticsOption } from "./base/semantics-file.ts";
import { type PolicySide, type PolicySideRule, sidesByMeaning, type TwoSides, whyNoSides } from "./base/two-sides.ts";

/**
 * A run does not widen the set of payments that the stack's rules accept: over all payments, by the contract's semantics. To narrow,
 * delete or reorder a rule that declines accepts more, as to widen one that accepts does. What is deployed stands in a baseline;
 * rules that the stack does not declare take no part.
 */
export const acceptedPayments = acceptedPaymentsAt(startOfRun);

/** Returns the policy by a clock, which says which allowances have ended. */
export function acceptedPaymentsAt(now: () => Date) {
  return stackPolicy({
    name: "accepted-payments",
    description:
      "The payments that the stack's own rules accept do not become more; rules that it does not declare take no part.",
    config: { baseline: baselinePath, semantics: semanticsOption, allowed: allowancesOption },
    idle: (config) => {
      // The open findings of an earlier check do not belong to this one.
      open.length = 0;
      return whyNoSides(config);
    },
    *check(rules, config, _, secret): Generator<PolicyFinding> {
      const compared = sidesByMeaning(rules, config, { now: now(), secret });
      if (compared === undefined) return;
      if ("finding" in compared) {
        yield compared.finding;
        return;
      }
      const { meaning, allowances } = compared;
      for (const sides of compared.sides) {
        const found = growth(sides.before, sides.after, meaning.semantics);
        if (found.kind === "wider") yield widerFinding(sides, found, { ...meaning, allowances });
        if (found.kind === "cannotShow") open.push(openFinding(sides, found.why));
      }
    },
  });
}

/** The findings of what the last check could not prove. The policy host runs one policy after the other. */
const open: PolicyFinding[] = [];

/**
 * Says where accepted-payments can show neither that more payments are accepted nor that none are. It has no configuration, and
 * advises: what cannot be shown may well be right.
 */
export const acceptedPaymentsShown = stackPolicy({
  name: "accepted-payments-shown",
  description: "It can be shown that the payments which the stack's own rules accept do not become more.",
  enforcementLevel: "advisory",
  config: {},
  *check() {
    yield* open;
  },
});

const allowedChanges = "changes by which no more payments are accepted, or their rules in allowed";

type Wider = Extract<ReturnType<typeof growth>, { kind: "wider" }>;

function widerFinding(
  sides: TwoSides,
  { witness, before, after }: Wider,
  { semantics, allowances }: { readonly semantics: Semantics; readonly allowances: Allowances },
): PolicyFinding {
  const rule = ruleOf(sides, before, after);
  const at = witness.at === undefined ? "" : ` at ${witness.at}`;
  const payment = sides.areSecretsKnown
    ? `such as ${shortWords(printableJson(witness.payment), mostOfPayment)}${at} (before: ${decisionWords(before, sides.before, semantics)}; now: ${decisionWords(after, sides.after, semantics)})`
    : "but no payment is shown, because secret-values does not run at its own level, and nobody knows what is secret";
  const ended = rule === undefined ? undefined : allowances.endedFor(rule);
  const late = ended === undefined ? "" : `; the allowance of ${printable(rule?.name ?? "")} ended on ${ended}`;
  return {
    rule: rule?.declared ?? "the stack",
    pointer: "",
    found: `more accepted payments${placeOf(sides)}, ${payment}${late}`,
    allowed: allowedChanges,
  };
}

/** Finds the changed rule behind a payment: the one that accepts it now, if that is new; else the one that did not accept it. */
function ruleOf({ before, after }: TwoSides, was: Decision, is: Decision): PolicySideRule | undefined {
  const [accepting] = is.kind === "decided" ? is.by : [];
  const [refusing] = was.kind === "decided" ? was.by : was.because;
  const accepts = accepting === undefined ? undefined : after.sources[accepting];
  const refused = refusing === undefined ? undefined : before.sources[refusing];
  // The rule that declined may still be declared, and decline less.
  const narrowed = after.sources.find(({ resource, key }) => resource === refused?.resource && key === refused.key);
  const isNew = accepting !== undefined && !before.texts.includes(after.texts[accepting] ?? "");
  return isNew ? accepts : (narrowed ?? refused);
}

function openFinding(sides: TwoSides, why: string): PolicyFinding {
  const unread = [sides.after, sides.before].flatMap(({ rules, sources }) =>
    rules.flatMap((reading, index) => (reading.kind === "unknown" ? [{ reading, rule: sources[index] }] : [])),
  );
  const [first] = unread;
  const more = unread.length > 1 ? `, and ${unread.length - 1} more` : "";
  const [fault] = first?.reading.faults ?? [];
  const place = fault === undefined || fault.at === "" ? "" : ` at ${fault.at}`;
  // The words of a fault can have a value in them.
  const words = fault === undefined || !sides.areSecretsKnown ? "" : ` (it ${fault.why})`;
  const reason =
    first === undefined ? why : `${printable(first.rule?.name ?? "")} cannot be read${place}${words}${more}`;
  return ofStack(`no proof${placeOf(sides)}, because ${reason}`, allowedChanges);
}

function placeOf({ connection }: TwoSides): string {
  return connection === "default" ? "" : ` over connection ${printable(connection)}`;
}

const mostOfPayment = 300;
const mostNames = 3;

/** Returns a decision in words: `decline by night-limit, which declines when amount > 500`. */
function decisionWords(decision: Decision, { rules, sources }: PolicySide, semantics: Semantics): string {
  const [outcome, by] =
    decision.kind === "decided"
      ? [decision.outcomes.join(" and "), decision.by]
      : [`unknown${decision.possible === undefined ? "" : ` (${decision.possible.join(" or ")})`}`, decision.because];
  if (by.length === 0) return `${printable(outcome)}, as no rule applies`;
  const names = by.slice(0, mostNames).map((index) => {
    const [rule, reading] = [sources[index], rules[index]];
    const words =
      reading === undefined || reading.kind === "unknown" ? "" : `, which ${shortWords(ruleWords(reading, semantics))}`;
    return `${printable(rule?.name ?? "")}${words}`;
  });
  const more = by.length > mostNames ? ` and ${by.length - mostNames} more` : "";
  return `${printable(outcome)} by ${names.join("; ")}${more}`;
}
