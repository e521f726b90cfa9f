import type { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { OwnVerdict, Write } from "../decide/audit.ts";
import type { KnownRule } from "../decide/plan.ts";
import type { Claimant } from "./claims.ts";

/** A request that is to be sent. */
export interface ToSend extends Pick<Write, "sent" | "before" | "mark"> {
  readonly kind: Write["kind"];
  readonly ruleId: string | undefined;
  /** Requests of one group do the same: the first of them goes alone. Default: the kind. */
  readonly group?: string;
  readonly of: Claimant;
  readonly key: string;
  /** The row before; undefined: of a create. */
  readonly row: KnownRule | undefined;
  /** The row as it is when the request is done; undefined: of a delete. */
  readonly known: KnownRule | undefined;
}

/** What a reading has shown of an own rule. */
export interface Finding {
  readonly verdict: OwnVerdict;
  /** Undefined: it is not there, or could not be read. */
  readonly rule: JsonObject | undefined;
  /** Why it could not be read. */
  readonly unread?: MerchantRulesError;
}

/** A request of this run, as far as it is known by now. */
export class Sent implements Write {
  readonly write: ToSend;
  ruleId: string | undefined;
  formerId: string | undefined;
  sent: JsonObject;
  known: KnownRule | undefined;
  isAnswered = false;
  /** Nothing was asked of the service after all, or it has refused it. */
  isVoid = false;
  endedAt: number | undefined;
  finding: Finding | undefined;

  constructor(write: ToSend) {
    this.write = write;
    this.ruleId = write.ruleId;
    this.sent = write.sent;
    this.known = write.known;
  }

  /** The rule that it has made, or made of the one before. */
  is(known: KnownRule): void {
    if (this.write.ruleId !== undefined && this.write.ruleId !== known.ruleId) this.formerId = this.write.row?.ruleId;
    this.ruleId = known.ruleId;
    this.known = known;
    this.isAnswered = true;
    this.finding = undefined;
  }

  /** Nothing is left of it. */
  void(): void {
    this.isVoid = true;
  }

  get kind(): Write["kind"] {
    return this.write.kind;
  }

  get before(): JsonObject | undefined {
    return this.write.before;
  }

  get mark(): string | undefined {
    return this.write.mark;
  }
}

/** The ids that a request may have changed. */
export function idsOf({ ruleId, formerId }: Sent): string[] {
  return [ruleId, formerId].filter((id) => id !== undefined);
}

/** True of what a reading has shown, but for what it may show otherwise by the next one. */
export function isSettled(finding: Finding | undefined): boolean {
  return finding !== undefined && finding.verdict !== "as before" && finding.verdict !== "not listed";
}

/** What the request does, as all others of its group. */
export function groupOf({ group, kind }: ToSend): string {
  return group ?? kind;
}
