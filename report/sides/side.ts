import { isUnknown } from "../../provider/host/wire.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import {
  hashIn,
  isBlind,
  isMask,
  type Json,
  type JsonObject,
  maskOf,
  segmentsOf,
  valueAt,
} from "../../sdk/json/index.ts";

/** A list of rules that can be compared with another one, or shown by itself. A `Report` says what was found. */
export interface RuleSide {
  /** In reports: `stack dev`, `rules`, `production`. */
  readonly name: string;
  /**
   * Where the rules come from: `program` as a preview says it declares them, `folder` as rule files do, `live` as the
   * service has them, `state` as the stack's state says that they were declared.
   */
  readonly kind: "program" | "folder" | "live" | "state";
  readonly rules: readonly SideRule[];
  /** The contract of a connection by its name; undefined where there is none. */
  readonly contractOf: (connection: string) => Contract | undefined;
  /** Facts of this side that a reader must know, such as rules that could not be read. */
  readonly notes: readonly string[];
}

/** A rule of a side. */
export interface SideRule {
  /** Its name for people: its natural key, where that is no secret, else its key, else its ruleId, else its resource. */
  readonly name: string;
  /** The resource that declares it, as `MerchantRuleSet all`. Absent on the sides `folder` and `live` where it is not known. */
  readonly resource?: string;
  /** Its key in a MerchantRuleSet or in a folder. Absent of a MerchantRule. */
  readonly key?: string;
  /** Absent of a rule that is not made yet, and in a folder. */
  readonly ruleId?: string;
  readonly connection: string;
  /**
   * Tells which rules of two sides are the same: equal exactly where their natural keys are. A keyed hash, as a natural key
   * may be secret: for no eye. Absent where the contract has no natural key, the rule has none, or it is not known here.
   */
  readonly identity?: string;
  /** Equal for the same resource and key of two stacks, as the marks at the service say. For no eye. */
  readonly place?: string;
  /**
   * The rule. A mask stands in the place of each secret (`isMask`; equal masks are equal secrets, but for those that are
   * `isBlind`); `withoutMasks` gives what may be printed. On the side `program` also the engine's text for a value that
   * is not known yet (`isUnknown`). Of a rule that is secret as a whole it is a mask itself.
   */
  readonly definition: JsonObject;
  /** The file that declares it, as the folder's path was given. Only where that is known. */
  readonly file?: string;
  /** The line of `file` at which the declaration begins. */
  readonly line?: number;
  /** The service does not have the rule yet, so that its place in the service's list is not known. */
  readonly isUnlisted?: true;
}

/** Returns what tells a rule from others by its natural key. @param definition in plain, or with masks; a key inside a masked object is not known */
export function identityOf(definition: Json | undefined, contract: Contract | undefined): Pick<SideRule, "identity"> {
  const { rule } = contract ?? {};
  if (rule === undefined || rule.naturalKey === null) return {};
  const value = valueAt(definition, rule.naturalKey);
  if (value === undefined || value === null || isUnknown(value) || isBlind(value)) return {};
  return { identity: hashIn(isMask(value) ? value : maskOf(value, rule, segmentsOf(rule.naturalKey))) };
}

/** Returns the name of a rule for people: its natural key, else the first of the others that is not empty. */
export function nameOfRule(
  definition: Json | undefined,
  contract: Contract | undefined,
  ...others: readonly (string | undefined)[]
): string {
  const own = contract === undefined ? undefined : naturalKeyText(definition, contract);
  return [own, ...others].find((name) => name !== undefined && name !== "") ?? "";
}
