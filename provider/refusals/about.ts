import type { Contract } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { Known } from "../decide/plan.ts";
import type { Site } from "../merchant/site.ts";

/** A rule that is to be made, as far as a refusal speaks of it. */
export interface About {
  readonly definition: JsonObject;
  readonly key: string;
  /** `create rule limit-1`. */
  readonly attempted: string;
  /** The id that it is to have, where the client chooses ids. */
  readonly ruleId?: string;
  /** A rule that is there and that the list after the create leaves out. */
  readonly leftOut?: string | undefined;
  readonly of: {
    readonly isRule: boolean;
    readonly known: Known;
    readonly replaced: Known;
    readonly link: { readonly ownerId: string } | undefined;
    readonly label: (key: string) => string | undefined;
    readonly adopting: (key: string, ruleId: string) => string;
  };
  readonly place: Where;
}

/** The place of such a rule. */
export interface Where {
  readonly contract: Contract;
  readonly live: {
    canSearch(definition: JsonObject): boolean;
    naturalKeyOf(definition: JsonObject): string | undefined;
  };
  readonly paper: { isGone(ruleId: string): boolean };
  readonly audits: { hasSaidWithoutId(): boolean };
  site(ownerId: string | undefined): Site;
}
