import { fittingForms } from "../../sdk/contract/fitting-forms.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { defined, fieldsShown, formerFields, type JsonObject, pathOf } from "../../sdk/json/index.ts";
import type { OtherChange, OwnVerdict, Write } from "../decide/audit.ts";
import { listed, pathsOf } from "../decide/live-rule.ts";

/** An own rule that a reading does not show as it was sent. */
interface About {
  readonly attempted?: string;
  readonly write: Write;
  /** The rule as it was read; undefined: it is not there, or could not be read. */
  readonly rule: JsonObject | undefined;
  readonly unread?: MerchantRulesError | undefined;
  readonly contract: Contract;
}

/** The error of a rule that was written, and that is not seen as it was sent. */
export function notAsSent(verdict: Exclude<OwnVerdict, "as sent">, about: About): MerchantRulesError {
  const { attempted, write, rule, unread, contract } = about;
  const { kind, ruleId, formerId, sent } = write;
  const paths = rule === undefined ? "" : pathsOf(rule, sent, { contract });
  const error = (code: "RULE_DIFFERS" | "SERVICE_FAILED", reason: string, advice: string, outcomeUnknown = false) =>
    new MerchantRulesError(code, reason, { ...defined({ attempted }), advice, outcomeUnknown });
  switch (verdict) {
    case "as before":
      return error(
        "RULE_DIFFERS",
        `the service said that it is done, and a read still shows ${paths} as before`,
        waysOut(about),
      );
    case "lacks fields": {
      const lost = listed(fieldsShown(sent, contract.rule).filter((name) => !Object.hasOwn(rule ?? {}, name)));
      const how = kind === "create" ? `the service keeps the rule without ${lost}` : `the rule has lost ${lost} by it`;
      return error("RULE_DIFFERS", how, waysOut(about));
    }
    case "otherwise":
      return error(
        "RULE_DIFFERS",
        `the service keeps another rule than the declared one: it differs at ${paths}`,
        waysOut(about),
      );
    case "missing":
      return error(
        "SERVICE_FAILED",
        `the service said that it is done, and neither a read nor the list shows rule ${ruleId}`,
        `run again, which looks first; if it stays, see what the service answers when it fails (errors.failure of the contract), and whether rule.id is the id that operations.get takes`,
        true,
      );
    case "still there":
      if (kind === "delete")
        return error(
          "SERVICE_FAILED",
          "the service answered that the rule is deleted, but a read still finds it",
          "run again; if it stays, see whether operations.delete.path and operations.delete.identifyBy in the contract are right, whether the service is slow to show it (operations.list.lagMs, operations.get.lagMs), keeps deleted rules (rule.gone) or says in a body that it failed (errors.failure)",
          true,
        );
      return error(
        "SERVICE_FAILED",
        `the service made another rule of it, and rule ${formerId} is still there`,
        `delete rule ${formerId} at the service; if it is a deleted one, describe that in rule.gone of the contract. Then correct operations.update (method, path, identifyBy, bodyAt, id) in the contract`,
      );
    case "without its mark":
      return error(
        "RULE_DIFFERS",
        `the service does not keep the mark of the rule's owner as it was sent, at ${contract.rule.owner?.at} (rule.owner)`,
        "name a field in rule.owner.at that keeps a text of 200 characters as it is; or leave rule.owner out, and delete the marks at the service",
      );
    case "keeps fields":
      return error(
        "RULE_DIFFERS",
        `the rule still has ${formerIn(about)}, declared before and no more`,
        waysToRemove(contract),
      );
    case "not listed":
      return error(
        "SERVICE_FAILED",
        `a read shows that it is done, but ${isNotListed}, so nobody can tell whether other rules were changed`,
        lookAtAll,
      );
    case "unread":
      return error("SERVICE_FAILED", `written, not verified: ${unread?.reason ?? isNotListed}`, lookAtAll, true);
  }
}

const isNotListed = "the list does not show by now what this run has written";
const lookAtAll =
  "run `pulumi up --refresh`, which looks at what there is; if it stays, set operations.list.lagMs in the contract to the time by which the list is behind, or correct operations.list (query) where it leaves rules out";

function formerIn({ write: { before = {}, sent }, rule = {}, contract }: About): string {
  return listed(formerFields(rule, before, sent, contract.rule).map((path) => pathOf(path)));
}

/** The ways on where a field stays that is declared no more: by what the service's documentation says. */
function waysToRemove({ operations: { update } }: Contract): string {
  const none = "none, where no update removes a field: the rule is then replaced";
  const others = update?.removal === null ? none : `null, where the body is to have it as null; ${none}`;
  return `see in the service's documentation how an update removes a field, and say so in operations.update.removal of the contract (${others}), or declare it again. Then run again`;
}

/** The ways out where the service keeps something else: it would be so again at every run. */
function waysOut({ write: { kind, sent }, rule = {}, contract }: About): string {
  const operation = kind === "create" ? "create" : "update";
  const { forms, unordered, missing, isPart } = fittingForms(rule, sent, contract);
  const entries = [
    ...(forms.length === 0 ? [] : [`rule.forms: [${forms.join(", ")}]`]),
    ...(unordered.length === 0 ? [] : [`rule.unordered: [${unordered.join(", ")}]`]),
  ];
  const others = entries.length === 0 ? "these fields" : "the other fields";
  const byHand = `declare ${others} as the service keeps them (\`pulumi preview --diff\` shows how); if the service lost them, correct operations.${operation} in the contract (${operation === "update" ? "body, " : ""}bodyAt), or where its answers have the rule (rule.envelope); if it changes them by requests of their own, such as activate or publish, name these in rule.transitions; if it takes them and does not show them again, name them in rule.writeOnly`;
  const byDefault = `where the service leaves out what is a default, say so in the contract: add { at, default } to rule.forms (${listed(missing)})`;
  return [
    ...(entries.length === 0
      ? []
      : [`say in the contract that the service stores the same in another form: add ${entries.join(" and ")}`]),
    ...(missing.length === 0 ? [] : [byDefault]),
    ...(isPart || missing.length > 0 ? [byHand] : []),
  ].join("; ");
}

const what: Readonly<Record<OtherChange["what"], readonly [one: string, many: string]>> = {
  gone: ["is gone by now", "are gone by now"],
  "lost fields": ["has lost fields", "have lost fields"],
  "took the change": ["has by now what was sent", "have by now what was sent"],
  double: ["is new and like what was sent", "are new and like what was sent"],
  changed: ["has changed", "have changed"],
};

/** `rules 7, 8 are gone by now, rule 9 has lost fields`. */
function shownOf(changes: readonly OtherChange[]): string {
  const groups = [...Map.groupBy(changes, (change) => change.what)].map(([kind, those]) => {
    const ids = listed(those.map(({ ruleId }) => ruleId));
    return those.length === 1 ? `rule ${ids} ${what[kind][0]}` : `rules ${ids} ${what[kind][1]}`;
  });
  return groups.join(", ");
}

/** Other rules are not as they were, by what this run sent or by somebody at this moment. */
export function harmed(
  changes: readonly OtherChange[],
  { kind, ruleId }: Pick<Write, "kind" | "ruleId">,
): MerchantRulesError {
  const reason = `beside rule ${ruleId}, ${shownOf(changes)}; nothing else was written`;
  const operation = {
    create: "operations.create (path, bodyAt)",
    update: "operations.update (method, path, identifyBy, bodyAt, id)",
    transition: "rule.transitions (path)",
    delete: "operations.delete.identifyBy",
  }[kind];
  return new MerchantRulesError("SERVICE_FAILED", reason, {
    attempted: `${kind} rule ${ruleId}`,
    advice: `look at these rules. If somebody changed them at this moment, run \`pulumi up --refresh\`. If the service did it, correct ${operation} in the contract before anything else is written; then run \`pulumi up --refresh\`, which makes again what is missing`,
  });
}

/** Other resources' rules that an earlier run has changed are not yet as their states know them. */
export function harmedBefore(ids: readonly string[]): MerchantRulesError {
  const reason = `an earlier run wrote this resource's rules, and changed by it others of this stack: ${listed(ids)}. They are not as their resources' states know them`;
  const advice =
    "look at these rules; then run `pulumi up --refresh`, which sees them as they are and makes them as declared";
  return new MerchantRulesError("RULE_DIFFERS", reason, { attempted: "see that nothing else was changed", advice });
}

/** A sentence about rules that others changed while this run wrote. */
export function othersChanged(changes: readonly OtherChange[]): string {
  return `while this run wrote, ${shownOf(changes)}: by somebody else, or by the service itself`;
}

/** What is not sent after a request that did something else. */
export function notSentAfter(
  kind: Write["kind"],
  ruleId: string | undefined,
  { reason, advice }: MerchantRulesError,
): MerchantRulesError {
  const which = ruleId === undefined ? "a create" : `the ${kind} of rule ${ruleId}`;
  const why = `not sent, because ${which} did something else than it was to do: ${reason}`;
  return new MerchantRulesError("NOT_TRIED", why, defined({ advice }));
}

/** What is not sent after a create whose response had no id. */
export function notSent({ advice }: MerchantRulesError): MerchantRulesError {
  const reason = "not sent, because the answer to a create of this run has no id where the contract says (rule.id)";
  return new MerchantRulesError("NOT_TRIED", reason, { advice });
}
