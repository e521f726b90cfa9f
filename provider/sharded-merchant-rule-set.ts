import { createHash } from "node:crypto";
import type * as pulumi from "@pulumi/pulumi";
import { RunError } from "@pulumi/pulumi/errors.js";
import { all, Output } from "@pulumi/pulumi/output.js";
import { ComponentResource } from "@pulumi/pulumi/resource.js";
import { isPlainObject, type JsonObject } from "../sdk/rules/json.ts";
import { MerchantRuleSet, type MerchantRuleSetArgs } from "./merchant-rule-set.ts";
import { groupInput } from "./registration.ts";

/**
 * The arguments of very many rules. With `onUnmanaged` the last set that a run comes to looks for all of them, so
 * that `fail` may come after other sets were written.
 */
export interface ShardedMerchantRuleSetArgs<Definition extends object = JsonObject>
  extends Omit<MerchantRuleSetArgs<Definition>, "allowEmpty"> {
  /**
   * The number of sets to spread the rules over, 1 to 1,000; one for every 500 rules is enough. A rule's key alone decides
   * which set it is in. A change makes new sets, which take the rules over. Where the contract has `operations.list`,
   * `rule.naturalKey` and `rule.owner`, that writes nothing. Without an owner it needs `adopt: true` for that run. Without
   * a list every rule is created anew before the old one is deleted, and a service that refuses two alike refuses it.
   */
  shards: number;
  /** Allows that there are no rules at all. Default: false: then an empty folder is refused. One set may be empty always. */
  allowEmpty?: boolean | undefined;
}

const mostShards = 1000;

/**
 * Many thousands of rules: a component that spreads them over several `MerchantRuleSet`s, so that neither the engine
 * nor the provider host has to hold all of them in one message. Adding, changing or removing a key touches that rule
 * alone; renaming one is a removal and an addition, which is why it is best done in a run that does not change the rule too.
 *
 * @throws pulumi.RunError when `shards` is not a number of sets, there are no rules, or a definition holds something that is not JSON.
 */
export class ShardedMerchantRuleSet<Definition extends object = JsonObject> extends ComponentResource {
  /** The definitions by key, as they were declared, or as they were seen by the last refresh. */
  readonly rules: pulumi.Output<Record<string, Definition | string>>;
  /** The service's identifiers of the rules, by key. */
  readonly ruleIds: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: ShardedMerchantRuleSetArgs<Definition>, opts?: pulumi.ComponentResourceOptions) {
    super("merchant-rules:index:ShardedMerchantRuleSet", name, {}, opts);
    const { shards, rules, adopt, allowEmpty, ...others } = args;
    if (!Number.isInteger(shards) || shards < 1 || shards > mostShards)
      throw new RunError(`${name}: shards is ${shards}; a whole number from 1 to ${mostShards} is needed`);
    const adopts = spread(adopt, shards);
    const declared = allowEmpty === true ? rules : demandRules(name, rules);
    const sets = spread(declared, shards).map(
      (part, shard) =>
        // Their number is in their names: of another number all sets are new, and the engine creates before it deletes.
        new MerchantRuleSet<Definition>(
          `${name}-${shard + 1}-of-${shards}`,
          { ...others, rules: part, adopt: adopts[shard], allowEmpty: true, ...groupInput(name, shards) },
          { parent: this },
        ),
    );
    this.rules = merged(sets.map((set) => set.rules));
    this.ruleIds = merged(sets.map((set) => set.ruleIds));
    // Nothing is registered: the state would hold every rule once more.
    this.registerOutputs({});
  }
}

/** The set, from 0, to which a key belongs. Never changes, for a rule that moves is a rule that is written. */
export function shardOf(key: string, shards: number): number {
  return createHash("sha256").update(key).digest().readUIntBE(0, 6) % shards;
}

/** The rules themselves. @throws pulumi.RunError: there are none, at once or when they are known */
function demandRules<T>(name: string, rules: T): T;
function demandRules(name: string, rules: unknown): unknown {
  if (Output.isInstance(rules)) return rules.apply((known) => demandRules(name, known));
  if (rules instanceof Promise) return rules.then((known) => demandRules(name, known));
  if (typeof rules !== "object" || rules === null || !isPlainObject(rules) || Object.keys(rules).length > 0)
    return rules;
  throw new RunError(
    `${name}: rules is empty, which deletes every rule of its sets. Check where the rules are read from; if there are to be none, set allowEmpty: true`,
  );
}

/** The entries by the sets that they belong to; what has none is left as it is, for the sets to refuse or to use whole. */
function spread<T>(value: T, shards: number): T[];
function spread(value: unknown, shards: number): unknown[] {
  const each = <T>(take: (shard: number) => T): T[] => Array.from({ length: shards }, (_, shard) => take(shard));
  if (Output.isInstance(value)) {
    const parts = value.apply((known) => spread(known, shards));
    return each((shard) => parts.apply((all) => all[shard]));
  }
  if (value instanceof Promise) {
    const parts = value.then((known) => spread(known, shards));
    return each((shard) => parts.then((all) => all[shard]));
  }
  if (typeof value !== "object" || value === null || !isPlainObject(value)) return each(() => value);
  const parts = Map.groupBy(Object.entries(value), ([key]) => shardOf(key, shards));
  return each((shard) => Object.fromEntries(parts.get(shard) ?? []));
}

function merged<T>(parts: pulumi.Output<Record<string, T>>[]): pulumi.Output<Record<string, T>> {
  return all(parts).apply((known): Record<string, T> => Object.assign({}, ...known));
}
