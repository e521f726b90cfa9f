import type * as pulumi from "@pulumi/pulumi";
import { type Output, output, secret } from "@pulumi/pulumi/output.js";
import { getConfig } from "@pulumi/pulumi/runtime/config.js";
import { getStackResource } from "@pulumi/pulumi/runtime/stack.js";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { isJsonObject, type JsonObject, rounded, withValueAt } from "../../sdk/json/index.ts";
import type { Session } from "../hooks/session.ts";
import type { Place } from "../run/place.ts";

/** A rule as it is at the service, managed by anybody or by nobody. */
export interface LiveMerchantRule<Rule extends object = JsonObject> {
  /** The service's id of the rule. */
  readonly ruleId: string;
  /** The whole rule, with what the service adds to it. */
  readonly rule: Rule;
}

/** Which rules: those that a connection reaches. */
export interface ListMerchantRulesArgs {
  /** The connection by which the service is reached, by its name in settings. Default: `default`. */
  readonly connection?: string | undefined;
}

/** Which rule: by its id, or by the value of its natural key (contract `rule.naturalKey`); one of the two. */
export interface GetMerchantRuleArgs extends ListMerchantRulesArgs {
  /** The service's id of the rule. */
  readonly ruleId?: string | undefined;
  /** The value that the rule has at the contract's `rule.naturalKey`. */
  readonly naturalKey?: string | number | undefined;
}

/**
 * Reads one rule, in a preview too. A change in the same run is not seen.
 * @throws MerchantRulesError RULE_NOT_FOUND; RULE_CONFLICT: several rules have the natural key; UNSUPPORTED_BY_CONTRACT:
 * by natural key without `operations.list` or `rule.naturalKey`; and whatever a request can fail with. Where nobody
 * catches it, the program ends with its message and without a stack trace.
 */
export async function getMerchantRule<Rule extends object = JsonObject>(
  args: GetMerchantRuleArgs,
): Promise<LiveMerchantRule<Rule>> {
  return await reading(args, async (place) => {
    const { ruleId, naturalKey } = args;
    if ((ruleId === undefined) === (naturalKey === undefined || naturalKey === ""))
      throw new MerchantRulesError("RULE_INVALID", "it takes either ruleId or naturalKey", {
        attempted: "getMerchantRule",
        advice: "give one of the two, and not an empty one",
      });
    const found =
      ruleId === undefined ? await readByNaturalKey(naturalKey ?? "", place) : await readById(ruleId, place);
    if (found !== undefined) return claimed<Rule>(found);
    const which = ruleId === undefined ? `with the natural key ${JSON.stringify(naturalKey)}` : ruleId;
    throw new MerchantRulesError("RULE_NOT_FOUND", "the service has no such rule", {
      attempted: `read rule ${which}`,
      advice: "check the name and the connection; `listMerchantRules()` shows the rules that there are",
    });
  });
}

/** Reads as {@link getMerchantRule}, of values that may be outputs. With `rule.secret` in the contract, the result is a secret. */
export function getMerchantRuleOutput<Rule extends object = JsonObject>(
  args: { readonly [Key in keyof GetMerchantRuleArgs]: pulumi.Input<GetMerchantRuleArgs[Key]> },
): Output<LiveMerchantRule<Rule>> {
  return output(args).apply((known) => guarded(known, getMerchantRule<Rule>(known)));
}

/**
 * Reads every rule but those that are the service's own or count as deleted (contract `rule.foreign`, `rule.gone`), in
 * the order of their ids; in a preview too.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: the contract has no `operations.list`; else as getMerchantRule
 */
export async function listMerchantRules<Rule extends object = JsonObject>(
  args: ListMerchantRulesArgs = {},
): Promise<LiveMerchantRule<Rule>[]> {
  return await reading(args, async (place) => {
    demand(place, "operations.list", "list the rules");
    const rules = (await place.live.allWhole()).filter(({ rule }) => !place.live.isForeign(rule));
    return rules.sort((a, b) => (a.ruleId < b.ruleId ? -1 : 1)).map((live) => claimed<Rule>(live));
  });
}

/** Reads as {@link listMerchantRules}, of values that may be outputs. With `rule.secret` in the contract, the result is a secret. */
export function listMerchantRulesOutput<Rule extends object = JsonObject>(
  args: { readonly connection?: pulumi.Input<string | undefined> } = {},
): Output<LiveMerchantRule<Rule>[]> {
  return output(args).apply((known) => guarded(known, listMerchantRules<Rule>(known)));
}

/**
 * One for the whole run of a program: one token, one limiter and one reading of the list. Several runs in one process, as
 * in tests, each have a stack of their own. Programs that read nothing load nothing.
 */
const sessions = new WeakMap<object, Promise<Session>>();

function sessionOfProgram(): Promise<Session> {
  return getOrMake(sessions, getStackResource() ?? sessions, async () => {
    const { Session } = await import("../hooks/session.ts");
    return new Session({ config: getConfig, environment: process.env, folder: process.cwd() });
  });
}

async function reading<T>(
  { connection = "default" }: ListMerchantRulesArgs,
  read: (place: Place) => Promise<T>,
): Promise<T> {
  const here = await sessionOfProgram();
  try {
    return await read(here.place(connection));
  } catch (error) {
    // Pulumi prints only the message of an error that has this mark.
    throw isMerchantRulesError(error) ? Object.assign(here.explain(error), { __pulumiRunError: true }) : error;
  }
}

async function readById(ruleId: string, place: Place): Promise<LiveMerchantRule | undefined> {
  const sight = await place.live.look({ ruleId, definition: {} }, undefined, "fresh");
  return sight.is === "present" ? { ruleId, rule: sight.rule } : undefined;
}

async function readByNaturalKey(value: string | number, place: Place): Promise<LiveMerchantRule | undefined> {
  const attempted = `read the rule with the natural key ${JSON.stringify(value)}`;
  demand(place, "operations.list", attempted);
  const wanted = withValueAt({}, demand(place, "rule.naturalKey", attempted), value);
  const found = isJsonObject(wanted) ? await place.live.find(wanted, undefined) : [];
  if (found.length < 2) return found[0];
  const ids = found.map(({ ruleId }) => ruleId).join(", ");
  throw new MerchantRulesError("RULE_CONFLICT", `${found.length} rules have its natural key: ${ids}`, {
    attempted,
    advice: "read the one that you mean by its ruleId",
  });
}

/** Returns the list's path, or the natural key's pointer. @throws UNSUPPORTED_BY_CONTRACT: the contract lacks it */
function demand({ contract }: Place, what: "operations.list" | "rule.naturalKey", attempted: string): string {
  const value = what === "operations.list" ? contract.operations.list?.path : contract.rule.naturalKey;
  if (value !== undefined && value !== null) return value;
  throw new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", `the contract has no ${what}`, {
    attempted,
    advice: `describe ${what} in the contract, as your service has it`,
  });
}

/** Returns a rule as the type that the program claims for it, as it does of its own definitions. */
function claimed<Rule extends object>({ ruleId, rule }: LiveMerchantRule): LiveMerchantRule<Rule> {
  return { ruleId, rule: rounded(rule) as unknown as Rule };
}

async function guarded<T>({ connection = "default" }: ListMerchantRulesArgs, read: Promise<T>): Promise<T> {
  const value = await read;
  const isSecret = (await sessionOfProgram()).place(connection).contract.rule.secret.length > 0;
  return isSecret ? (secret(value) as unknown as T) : value;
}
