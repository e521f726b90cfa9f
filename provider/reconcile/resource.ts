import type { ConnectionId } from "./identity.ts";
import { type Mark, type Owner, placeOf } from "./mark.ts";
import type { Known } from "./plan.ts";
import type { MarkOfRule } from "./whose.ts";

/** Another stack, by its name (`project/stack`) and the owner ids of its rules. */
export interface StackIdentity {
  readonly name: string;
  readonly ownerIds: ReadonlySet<string>;
}

/** A resource of the stack, as the reconciler needs to know it. */
export interface Resource {
  /** A MerchantRule: its id is the rule's, so that only the engine can give it another rule. */
  readonly isRule: boolean;
  /** Its names, for people. */
  readonly owner: Owner;
  /** The same resource in this process, and no other. */
  readonly holder: string;
  /** The id of its connection now; undefined where nobody has said it: in a refresh it may be read later. */
  readonly connection: ConnectionId | undefined;
  /** Owner ids by which a rule is this resource's: those of its connection now and of its own inputs and outputs. */
  readonly ownerIds: ReadonlySet<string>;
  /**
   * The stack that wrote its outputs, where that is not this one by any name: the state was copied, and the owner ids in
   * the outputs are that stack's.
   */
  readonly copiedFrom: StackIdentity | undefined;
  /** The identity of the credentials with which its outputs were written (a hash). */
  readonly identity: string | undefined;
  /** The rules that its state knows, by key. */
  readonly known: Known;
  /** The name of a rule in messages, beside its id; a resource of one rule has no key to call it by. */
  readonly label: (key: string) => string | undefined;
  /** The words by which a program takes a rule over: `adopt: "<ruleId>"`. */
  readonly adopting: (key: string, ruleId: string) => string;
}

/** Whose a live rule is to a resource, by its mark. */
export function whoseIs(mark: Mark | undefined, { ownerIds }: Pick<Resource, "ownerIds">): MarkOfRule {
  if (mark === undefined) return "none";
  return ownerIds.has(mark.ownerId) ? "ours" : "another's";
}

/** True of a mark by which a rule is seen to be the one that the state knows: this stack's, or that of a copied state. */
export function isOfState(mark: Mark | undefined, { ownerIds, copiedFrom }: Resource): boolean {
  return mark !== undefined && (ownerIds.has(mark.ownerId) || copiedFrom?.ownerIds.has(mark.ownerId) === true);
}

/**
 * True where the rules that the state knows were made as another identity than the connection's of now. Then they stand
 * elsewhere, and a rule with the same id here is another one.
 */
export function isElsewhere({ connection, identity }: Pick<Resource, "connection" | "identity">): boolean {
  return identity !== undefined && connection?.identity !== undefined && connection.identity !== identity;
}

/** True of a mark that says this very resource and key. */
export function isOwnMark(mark: Mark | undefined, { owner, ownerIds }: Resource, key: string): boolean {
  return mark !== undefined && ownerIds.has(mark.ownerId) && mark.place === placeOf(owner, key);
}
