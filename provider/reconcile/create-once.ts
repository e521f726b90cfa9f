import { randomUUID } from "node:crypto";
import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { differences, isEqual, type JsonObject, pathOf, project } from "../../sdk/rules/index.ts";
import { creator } from "./holders.ts";
import type { LiveRules } from "./live-rules.ts";
import type { DeclaredRule, KnownRule } from "./plan.ts";

/**
 * Makes a declared rule exist exactly once. Looks before it creates, where the contract allows it:
 * an earlier run may have created the rule and been stopped before it could write that down.
 * @throws MerchantRulesError RULE_CONFLICT: another rule has its natural key; RULE_OUTCOME_UNKNOWN: the rule may exist.
 */
export function createOnce(declared: DeclaredRule, live: LiveRules, label?: string): Promise<KnownRule> {
  return live.exclusively(declared.definition, async () => {
    const { definition, adopt } = declared;
    if (typeof adopt === "string")
      return takeOver(await named(adopt, definition, live, label), definition, live, label);
    if (adopt === true && !live.canSearch(definition)) throw cannotSearch(live, label);
    const existing = await live.search(definition);
    return existing === undefined ? create(declared, live, label) : settle(existing, declared, live, label);
  });
}

async function create(declared: DeclaredRule, live: LiveRules, label: string | undefined): Promise<KnownRule> {
  const { definition } = declared;
  const idempotencyKey = live.contract.idempotency === null ? {} : { idempotencyKey: randomUUID() };
  try {
    return {
      ruleId: await live.create(definition, { ...idempotencyKey, ...(label === undefined ? {} : { label }) }),
      definition,
    };
  } catch (error) {
    if (!isMerchantRulesError(error) || !(error.outcomeUnknown || error.code === "RULE_CONFLICT")) throw error;
    return afterLostAnswer(error, declared, live, label);
  }
}

/** The service may or may not have created the rule. Only the service knows, so it is asked. */
async function afterLostAnswer(
  error: MerchantRulesError,
  declared: DeclaredRule,
  live: LiveRules,
  label: string | undefined,
): Promise<KnownRule> {
  if (!live.canSearch(declared.definition)) {
    if (!error.outcomeUnknown) throw error;
    const missing = live.contract.operations.list === null ? "no list operation" : "no natural key that this rule has";
    throw new MerchantRulesError(
      "RULE_OUTCOME_UNKNOWN",
      `${error.reason}; the rule may exist now, and the contract has ${missing} to look it up by`,
      {
        attempted: `create rule${label === undefined ? "" : ` ${label}`}`,
        ...(error.exchange === undefined ? {} : { exchange: error.exchange }),
        outcomeUnknown: true,
        advice:
          'look at the service whether the rule is there. If it is, declare it with adopt: "<its ruleId>"; if it is not, run again. ' +
          "Describing operations.list with rule.naturalKey, or idempotency, in the contract makes this safe by itself",
        cause: error,
      },
    );
  }
  const found = await live.search(declared.definition, { fresh: true });
  if (found !== undefined && error.outcomeUnknown && isAsDeclared(found, declared.definition, live)) {
    live.holders.claim(found.ruleId, creator);
    return { ruleId: found.ruleId, definition: declared.definition };
  }
  if (found !== undefined) return settle(found, declared, live, label);
  if (!error.outcomeUnknown) throw error;
  throw error.with({
    advice:
      "no rule with its natural key is to be seen at the service, so run again: it is looked up once more before it is created",
  });
}

/** A rule with this natural key exists already. */
async function settle(
  existing: LiveRule,
  declared: DeclaredRule,
  live: LiveRules,
  label: string | undefined,
): Promise<KnownRule> {
  const { definition, adopt } = declared;
  const { ruleId } = existing;
  if (live.holders.isHeld(ruleId)) {
    throw new MerchantRulesError(
      "RULE_CONFLICT",
      `rule ${ruleId} has the same natural key (${live.contract.rule.naturalKey}) and is managed by another resource of this stack`,
      {
        attempted: `create rule${label === undefined ? "" : ` ${label}`}`,
        advice: `give one of the two another ${live.contract.rule.naturalKey}, or declare the rule once. Where the other has just been changed to be another rule, run again`,
      },
    );
  }
  if (adopt === true || isAsDeclared(existing, definition, live)) return takeOver(existing, definition, live, label);
  throw new MerchantRulesError(
    "RULE_CONFLICT",
    `rule ${ruleId} has the same natural key (${live.contract.rule.naturalKey}) and differs at ${differingPaths(existing, definition, live)}`,
    {
      attempted: `create rule${label === undefined ? "" : ` ${label}`}`,
      advice: `to take this rule over and make it as declared, add adopt: "${ruleId}"; to keep it, declare yours under another ${live.contract.rule.naturalKey}`,
    },
  );
}

/** Makes an existing rule the declared one: nothing to do when it is, an update when it differs. */
async function takeOver(
  existing: LiveRule,
  definition: JsonObject,
  live: LiveRules,
  label: string | undefined,
): Promise<KnownRule> {
  const { ruleId } = existing;
  const differs = !isAsDeclared(existing, definition, live);
  if (differs && live.contract.operations.update === null) {
    throw new MerchantRulesError(
      "UNSUPPORTED_BY_CONTRACT",
      `rule ${ruleId} differs at ${differingPaths(existing, definition, live)}, and the contract has no update operation`,
      {
        attempted: `take over rule ${label ?? ruleId}`,
        advice:
          "declare the rule as it is at the service first, take it over, and change it then (the change replaces it)",
      },
    );
  }
  // Held before it is changed: of two that take it over at once, the one that is refused must not have written.
  const takeover = randomUUID().slice(0, 8);
  live.holders.claim(ruleId, takeover);
  try {
    if (differs) await live.update(ruleId, definition, label);
  } catch (error) {
    live.holders.release(ruleId);
    throw error;
  }
  live.presence.seen();
  return { ruleId, definition, takeover };
}

async function named(ruleId: string, known: JsonObject, live: LiveRules, label: string | undefined): Promise<LiveRule> {
  if (live.holders.isHeld(ruleId)) {
    throw new MerchantRulesError("RULE_CONFLICT", `rule ${ruleId} is managed by another resource of this stack`, {
      attempted: `take over rule ${label ?? ruleId}`,
      advice: "declare the rule once. Where the other resource was only renamed to this one, remove adopt",
    });
  }
  try {
    return await live.client.get(ruleId, { known, ...(label === undefined ? {} : { label }) });
  } catch (error) {
    if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
    throw error.with({
      attempted: `take over rule ${label ?? ruleId}`,
      reason: `rule ${ruleId}, which adopt names, is not there`,
      advice: "correct the id; or remove adopt, and the rule is created",
    });
  }
}

function isAsDeclared(existing: LiveRule, definition: JsonObject, live: LiveRules): boolean {
  return isEqual(project(existing.rule, definition, live.contract.rule), definition, live.contract.rule);
}

/** Paths alone: values may be secret. */
function differingPaths(existing: LiveRule, definition: JsonObject, live: LiveRules): string {
  const seen = project(existing.rule, definition, live.contract.rule);
  const paths = differences(seen, definition, live.contract.rule).map(({ path }) => pathOf(path));
  return paths.length > 10 ? `${paths.slice(0, 10).join(", ")} and ${paths.length - 10} more` : paths.join(", ");
}

function cannotSearch({ contract }: LiveRules, label: string | undefined): MerchantRulesError {
  const { naturalKey } = contract.rule;
  const gap = contract.operations.list === null ? "operations.list" : "rule.naturalKey";
  const isInContract = contract.operations.list !== null && naturalKey !== null;
  return new MerchantRulesError(
    isInContract ? "RULE_INVALID" : "UNSUPPORTED_BY_CONTRACT",
    isInContract
      ? `adopt: true looks the rule up by its natural key, and the definition has none at ${naturalKey}`
      : `adopt: true looks the rule up by its natural key, which needs ${gap} in the contract`,
    {
      attempted: `take over rule${label === undefined ? "" : ` ${label}`}`,
      advice: isInContract
        ? `declare ${naturalKey}, or name the rule: adopt: "<ruleId>"`
        : `describe ${gap} in the contract, or name the rule: adopt: "<ruleId>"`,
    },
  );
}
