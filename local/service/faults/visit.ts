import type { Merchant } from "../merchants.ts";
import type { ServedResponse } from "../refusal.ts";
import type { IncomingRequest } from "../request.ts";
import type { ServedOperation } from "../request-log.ts";
import type { Twist } from "../serve-request.ts";

/** A request on one of the contract's operations, not yet carried out. */
export interface Visit {
  readonly operation: Exclude<ServedOperation, "unknown">;
  readonly request: IncomingRequest;
  /** The rule that the path names. */
  readonly ruleId: string | undefined;
  /** The merchant that the request is for; the first one for a request that is not admitted. */
  readonly merchant: Merchant;
  /** Resolves when the client closes the connection. */
  clientLeft(): Promise<void>;
  /** Carries the request out, by default as the contract says. Never throws: a refusal is a response. */
  serve(twist?: Twist): ServedResponse;
}

/** The outcome of a request: a response, and its way to the connection. */
export type Reply =
  | { readonly send: "whole"; readonly response: ServedResponse }
  /** The fault had nothing to do to this response, and counts as not injected. */
  | { readonly send: "unharmed"; readonly response: ServedResponse }
  /** Status and headers of the whole, half of the body, then the connection is reset or ended. */
  | { readonly send: "half"; readonly response: ServedResponse; readonly ending: "reset" | "end" }
  /** Blanks follow the body up to `bytes`. */
  | { readonly send: "padded"; readonly response: ServedResponse; readonly bytes: number; readonly declared: boolean }
  /** The connection is closed without a byte. */
  | { readonly send: "nothing" };
