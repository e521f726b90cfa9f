import { createHash } from "node:crypto";
import type { Contract } from "../../sdk/contract/index.ts";
import { isJsonObject, type JsonObject, valueAt, withValueAt } from "../../sdk/rules/index.ts";

/**
 * Who holds a rule: `project/stack/resource`, in ASCII and of at most 138 bytes. The mark that the service keeps with a
 * rule (contract `rule.owner`) is the owner, `#`, and the rule's key: at most 200 bytes.
 */
export type Owner = string;

/** The owner that a resource of a stack is. */
export function ownerOf(project: string, stack: string, resource: string): Owner {
  return [bounded(project, 40), bounded(stack, 40), bounded(resource, 56)].join("/");
}

/** Whose mark a live rule has; undefined where it has none, or the contract has no place for one. */
export function markedOwner(rule: JsonObject, contract: Contract): Owner | undefined {
  const { owner } = contract.rule;
  const mark = owner === null ? undefined : valueAt(rule, owner.at);
  return typeof mark === "string" && mark !== "" ? mark.split("#")[0] : undefined;
}

/** The definition as it is sent: with the mark, where the contract has a place for it. */
export function marked(definition: JsonObject, owner: Owner, key: string, { rule }: Contract): JsonObject {
  if (rule.owner === null || owner === "") return definition;
  // A resource of one rule has no keys.
  const mark = key === "" ? owner : `${owner}#${bounded(key, 61)}`;
  const sent = withValueAt(definition, rule.owner.at, mark);
  return isJsonObject(sent) ? sent : definition;
}

/** Whether two owners are of one stack. */
export function isSameStack(one: Owner, other: Owner): boolean {
  const stackOf = (owner: Owner): string => owner.split("/", 2).join("/");
  return stackOf(one) === stackOf(other);
}

/** What messages call an owner. */
export function named(owner: Owner | undefined): string {
  return owner === undefined || owner === "" ? "another resource" : `resource "${owner}"`;
}

/** A text in printable ASCII without `#`; one that is too long ends with a hash of the whole. */
function bounded(text: string, mostBytes: number): string {
  const plain = encodeURI(text.toWellFormed()).replaceAll("%20", " ").replaceAll("#", "%23");
  if (plain.length <= mostBytes) return plain;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${plain.slice(0, mostBytes - hash.length - 1)}~${hash}`;
}
