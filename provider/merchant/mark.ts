import { createHash, randomBytes } from "node:crypto";
import type { Contract } from "../../sdk/contract/index.ts";
import { isJsonObject, type JsonObject, valueAt, withValueAt } from "../../sdk/json/index.ts";

/**
 * A resource of a stack by its names, for people: `project/stack/path`. The path is what its URN has behind the stack: its name,
 * behind the types of the components around it.
 */
export type Owner = string;

/**
 * The mark that the service keeps with a rule (contract `rule.owner`): `<owner id>.<resource>.<bits> <names>`. The first three
 * decide, and are never cut.
 */
export interface Mark {
  /** The stack whose the rule is: 32 hexadecimal digits. */
  readonly ownerId: string;
  /** Which resource and key, as {@link resourceHash}: 16 hexadecimal digits. */
  readonly resource: string;
  /** 64 random bits of the rule's own, for life: 16 hexadecimal digits. */
  readonly bits: string;
  /** `project/stack/resource#key`, for people. Nothing is decided by it but what a lost state's rules may be. */
  readonly names: string;
}

/** What decides in a mark, as one text. Two marks are the same where these are. */
export function markId({ ownerId, resource, bits }: Mark): string {
  return `${ownerId}.${resource}.${bits}`;
}

/** The stack of a resource, `project/stack`; undefined where nobody has said its names. */
export function stackOf(owner: Owner): string | undefined {
  return owner === "" ? undefined : owner.split("/", 2).join("/");
}

/** The names of a resource of a stack. */
export function ownerOf(project: string, stack: string, path: string): Owner {
  return [project, stack, path].join("/");
}

/**
 * Which rule of which resource: a hash of the explicit provider's name, the resource's path in the stack and the rule's key.
 * @param provider "" for the default provider
 */
export function resourceHash(provider: string, owner: Owner, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([provider, pathIn(owner), key]))
    .digest("hex")
    .slice(0, 16);
}

/** The random bits of a rule that is about to be made. */
export function newBits(): string {
  return randomBytes(8).toString("hex");
}

/** The names of a mark, in printable ASCII and at most 132 bytes, so that the whole is at most 199. */
export function namesOf(owner: Owner, key: string): string {
  const [project = "", stack = ""] = owner.split("/", 2);
  const resource = pathIn(owner).split("::").at(-1) ?? "";
  const names = [bounded(project, 30), bounded(stack, 30), bounded(resource, 34)].join("/");
  return key === "" ? names : `${names}#${bounded(key, 35)}`;
}

/** A mark as the service keeps it. What decides comes first, so that a service that cuts texts cuts the names. */
export function markText(mark: Mark): string {
  return `${markId(mark)} ${mark.names}`;
}

/** The mark of a live rule. What has not a mark's form is none: people may write into the same field. */
export function markIn(rule: JsonObject, contract: Contract): Mark | undefined {
  const { owner } = contract.rule;
  return owner === null ? undefined : parsedMark(valueAt(rule, owner.at));
}

/** The mark in a text; undefined where it is none. */
export function parsedMark(text: unknown): Mark | undefined {
  const found = /^([0-9a-f]{32})\.([0-9a-f]{16})\.([0-9a-f]{16})(?: (.*))?$/is.exec(
    typeof text === "string" ? text : "",
  );
  const [, ownerId, resource, bits, names = ""] = found ?? [];
  if (ownerId === undefined || resource === undefined || bits === undefined) return undefined;
  return {
    ownerId: ownerId.toLowerCase(),
    resource: resource.toLowerCase(),
    bits: bits.toLowerCase(),
    names,
  };
}

/** A person's text in the field of the marks; undefined where there is none, or a mark. */
export function personsText(rule: JsonObject, contract: Contract): string | undefined {
  const { owner } = contract.rule;
  const text = owner === null ? undefined : valueAt(rule, owner.at);
  if (text === undefined || text === null || text === "" || parsedMark(text) !== undefined) return undefined;
  return typeof text === "string" ? text : JSON.stringify(text);
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

/** A resource's path in its stack, as its URN has it. */
export function pathIn(owner: Owner): string {
  return owner.split("/").slice(2).join("/");
}

/** A text in printable ASCII without `#`; one that is too long ends with a hash of the whole. */
function bounded(text: string, mostBytes: number): string {
  const plain = encodeURI(text.toWellFormed()).replaceAll("%20", " ").replaceAll("#", "%23");
  if (plain.length <= mostBytes) return plain;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${plain.slice(0, mostBytes - hash.length - 1)}~${hash}`;
}
