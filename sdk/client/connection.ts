import type { Contract } from "../contract/schema.ts";

/** One way to one merchant's rules: where, how, as whom. Credentials live here and nowhere else. */
export interface Connection {
  /** `default`, or the name under which settings hold it; stands in error messages. */
  readonly name: string;
  /** The service's address, without the paths of the contract: https, or http on loopback. */
  readonly baseUrl: string;
  readonly contract: Contract;
  /** Values of the contract's parameters, by name. */
  readonly parameters: Readonly<Record<string, string>>;
  /** A token as it is, or what the contract's token operation needs; none where the contract presents none. */
  readonly credentials: Credentials;
}

export type Credentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "client"; readonly clientId: string; readonly clientSecret: string };
