import type { Contract } from "../../sdk/contract/index.ts";
import type { PlaceParts } from "./fingerprint.ts";

/** The settings of a connection, as far as they say where it leads. */
export interface PlaceOptions extends PlaceParts {
  /** The connection's name; an explicit provider's, where that is the connection. */
  readonly name: string;
  /** The explicit provider's name; "" for the default one. */
  readonly provider: string;
  readonly contract: Contract;
  /** The service's address: scheme, host, port and prefix, without a slash at the end. */
  readonly address: string;
  /** The values of the contract's parameters as people may see them: one that may be a secret is `(secret)`. */
  readonly shownParameters: Readonly<Record<string, string>>;
  /**
   * The setting `identity`: who the credentials must be. Where the contract has no `auth.identity` nobody can ask, and it is
   * believed. Undefined: not set.
   */
  readonly identity: string | undefined;
}
