import type { Known } from "../decide/plan.ts";
import { type Mark, namesOf, newBits, type Owner, resourceHash } from "../merchant/mark.ts";
import type { Link } from "../merchant/site.ts";

/** A resource of the stack, as a run knows it. */
export interface Resource {
  /** A MerchantRule: its id is the rule's. */
  readonly isRule: boolean;
  /** Its names now; in a read or delete those of its outputs. */
  readonly owner: Owner;
  /** The same resource in this process, and no other. */
  readonly holder: string;
  /** What it takes from Owner and Connection; undefined where nobody has said it. */
  readonly link: Link | undefined;
  /** The explicit provider's name; "" for the default one. */
  readonly provider: string;
  /** The rules that its state knows, by key. */
  readonly known: Known;
  /** The rules of the resource that this one is to replace: its create knows no rule. */
  readonly replaced: Known;
  /** The name of a rule in messages, beside its id; a resource of one rule has no key to call it by. */
  readonly label: (key: string) => string | undefined;
  /** The words by which a program takes a rule over: `adopt: "<ruleId>"`. */
  readonly adopting: (key: string, ruleId: string) => string;
}

/** Which rule of which resource, as its mark says; undefined where nobody has said whose the resource is. */
export function hashOf({ link, owner, provider }: Resource, key: string): string | undefined {
  return link === undefined || owner === "" ? undefined : resourceHash(provider, owner, key);
}

/** The mark that this resource writes; a rule keeps its random bits for life. */
export function ownMark(of: Resource, key: string, bits: string = newBits()): Mark | undefined {
  const resource = hashOf(of, key);
  if (of.link === undefined || resource === undefined) return undefined;
  return { ownerId: of.link.ownerId, resource, bits, names: namesOf(of.owner, key) };
}

/** True of a mark that says this very resource and key, as this resource would write it now. */
export function isOwnMark(mark: Mark | undefined, of: Resource, key: string): boolean {
  return mark !== undefined && mark.ownerId === of.link?.ownerId && mark.resource === hashOf(of, key);
}
