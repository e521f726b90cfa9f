import { createHash } from "node:crypto";
import type { Contract } from "../../sdk/contract/index.ts";
import { isJsonObject, type JsonObject, valueAt, withValueAt } from "../../sdk/json/index.ts";

/**
 * A resource of a stack by its names, for people: `project/stack/path`. The path is what its URN has behind the stack: its name,
 * behind the types of the components around it.
 */
export type Owner = string;

/** The mark that the service keeps with a rule (contract `rule.owner`): `<owner id>.<place> <names>`. */
export interface Mark {
  /** Whose the rule is: the owner id of a connection. */
  readonly ownerId: string;
  /** Which resource and key, as {@link placeOf}. */
  readonly place: string;
  /** `project/stack/resource#key`, for people. Nothing is decided by it but what a lost state's rules may be. */
  readonly names: string;
}

/** The stack of a resource, `project/stack`; undefined where nobody has said its names. */
export function stackOf(owner: Owner): string | undefined {
  return owner === "" ? undefined : owner.split("/", 2).join("/");
}

/** The names of a resource of a stack. */
export function ownerOf(project: string, stack: string, path: string): Owner {
  return [project, stack, path].join("/");
}

/** Which rule of which resource: a hash of the resource's path in the stack and of the rule's key, never cut short. */
export function placeOf(owner: Owner, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([pathIn(owner), key]))
    .digest("hex")
    .slice(0, 16);
}

/** The mark of a rule; `names` in printable ASCII and at most 160 bytes, so that the whole is at most 200. */
export function markOf(ownerId: string, owner: Owner, key: string): Mark {
  const [project = "", stack = ""] = owner.split("/", 2);
  const resource = pathIn(owner).split("::").at(-1) ?? "";
  const names = [bounded(project, 36), bounded(stack, 36), bounded(resource, 40)].join("/");
  return { ownerId, place: placeOf(owner, key), names: key === "" ? names : `${names}#${bounded(key, 45)}` };
}

/** A mark as the service keeps it. What decides comes first, so that a service that cuts texts cuts the names. */
export function markText({ ownerId, place, names }: Mark): string {
  return `${ownerId}.${place} ${names}`;
}

/** The mark of a live rule. What has not a mark's form is none: people may write into the same field. */
export function markIn(rule: JsonObject, contract: Contract): Mark | undefined {
  const { owner } = contract.rule;
  const text = owner === null ? undefined : valueAt(rule, owner.at);
  if (typeof text !== "string") return undefined;
  const [, ownerId, place, names = ""] = /^([0-9a-f]{20})\.([0-9a-f]{16})(?: (.*))?$/is.exec(text) ?? [];
  if (ownerId === undefined || place === undefined) return undefined;
  return { ownerId: ownerId.toLowerCase(), place: place.toLowerCase(), names };
}

/** A definition as it is sent: with the mark, where the contract has a place for one. */
export function marked(definition: JsonObject, mark: Mark | undefined, { rule }: Contract): JsonObject {
  if (rule.owner === null || mark === undefined) return definition;
  const sent = withValueAt(definition, rule.owner.at, markText(mark));
  return isJsonObject(sent) ? sent : definition;
}

/** A resource in messages. */
export function named(owner: Owner | undefined): string {
  return owner === undefined || owner === "" ? "another resource" : `resource "${owner}"`;
}

/** The key in a mark; of a long one the beginning and a hash. */
export function keyIn({ names }: Mark): string {
  const [, key = ""] = names.split("#");
  try {
    return decodeURIComponent(key);
  } catch {
    // People write marks, too: what decodes to nothing is no key of ours.
    return key;
  }
}

/** The names in a mark without the key: who the rule's owner is, for people. */
export function ownerIn({ names }: Mark): Owner {
  return names.split("#")[0] ?? names;
}

function pathIn(owner: Owner): string {
  return owner.split("/").slice(2).join("/");
}

/** A text in printable ASCII without `#`; one that is too long ends with a hash of the whole. */
function bounded(text: string, mostBytes: number): string {
  const plain = encodeURI(text.toWellFormed()).replaceAll("%20", " ").replaceAll("#", "%23");
  if (plain.length <= mostBytes) return plain;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${plain.slice(0, mostBytes - hash.length - 1)}~${hash}`;
}
