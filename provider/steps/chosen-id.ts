import { createHash } from "node:crypto";
import type { LiveRule } from "../../sdk/client/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { Making } from "../run/making.ts";
import { hashOf } from "../run/resource.ts";

/** The id that a rule is to have where the client chooses it, and the rule that has it already. */
export interface Chosen {
  readonly ruleId: string;
  readonly existing?: LiveRule;
}

/** The most ids of one rule that may be taken by other rules or by deleted ones. */
const mostTaken = 100;

/**
 * The id of a rule that is to be made, derived from owner id, resource and key: whoever makes the rule again finds it by
 * one GET, whatever became of the first request. An id that another rule has, as after a move, or a deleted one, is passed
 * over for the next. Undefined where the service chooses ids.
 * @throws MerchantRulesError RULE_CONFLICT: all of them are taken, or a delete of this run may yet take the rule;
 * SETTINGS_INVALID: nobody has said whose the rule is
 */
export async function chosenId(making: Making): Promise<Chosen | undefined> {
  const { of, key, place, attempted, definition } = making;
  const { identifyBy, idFormat } = place.contract.operations.create;
  if (identifyBy === null) return undefined;
  const resource = hashOf(of, key);
  if (of.link === undefined || resource === undefined) throw nobodys(attempted);
  const wanted = place.live.naturalKeyOf(definition);
  const when = making.sent !== undefined ? "refused" : making.isDue ? "due" : "early";
  for (let turn = 0; turn < mostTaken; turn += 1) {
    const ruleId = idOf(`${of.link.ownerId}.${resource}.${turn}`, idFormat);
    if (place.claims.isKnownToOther(ruleId, of, key) || place.claims.others(ruleId, of, key).length > 0) continue;
    const sight = await place.live.lookForId({ ruleId, definition }, of.label(key), when);
    if (sight.is === "absent" && sight.isDead !== true) {
      if (place.paper.mayBeDeletedYet(ruleId)) throw mayBeDeleted(ruleId, attempted);
      return { ruleId };
    }
    if (sight.is === "absent") continue;
    if (wanted === undefined || place.live.naturalKeyOf(sight.rule) === wanted)
      return { ruleId, existing: { ruleId, rule: sight.rule } };
  }
  const reason = `its first ${mostTaken} ids are taken by other rules or deleted ones`;
  throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice: "declare it under another key or name" });
}

/** A text as an id: a UUID of version 5 (RFC 9562), or 32 hexadecimal digits. */
function idOf(name: string, format: string): string {
  return format.replace(/\{(uuid|hex)\}/, (_, form) => (form === "uuid" ? uuidOf(name) : digest("sha256", name)));
}

/** Any UUID: names are only unique within one. */
const namespace = Buffer.from("8f0c1d1e6b5b4a6e9a52b1f9f2c4d7a3", "hex");

function uuidOf(name: string): string {
  const hash = digest("sha1", Buffer.concat([namespace, Buffer.from(name)]));
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `5${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}

function digest(algorithm: "sha1" | "sha256", data: string | Buffer): string {
  return createHash(algorithm).update(data).digest("hex").slice(0, 32);
}

/** A service that carries a request out after its client has given it up would delete the new rule for the old one. */
function mayBeDeleted(ruleId: string, attempted: string): MerchantRulesError {
  const reason = `its id is that of rule ${ruleId}, which this run deleted. One delete request got no answer: carried out late, it would delete the new rule`;
  return new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice: "run again, which makes it" });
}

function nobodys(attempted: string): MerchantRulesError {
  const reason =
    "the contract has the client choose ids (operations.create.identifyBy), and nothing says whose the rule is";
  const advice =
    "declare it by the class MerchantRule or MerchantRuleSet of this package, which register the connection that ids are derived from";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { attempted, advice });
}
