/** Credentials as requests carry them. */
export interface Presented {
  /** Names and values by turns; none where the contract presents none. */
  readonly headers: readonly string[];
  /** The token in them; undefined where the contract presents none. */
  readonly token: string | undefined;
}

/** Gives requests their credentials. */
export interface TokenSource {
  /** Returns the credentials to present now. @throws MerchantRulesError of the token operation */
  current(): Presented | Promise<Presented>;
  /** Returns the credentials to present after `refused` brought a 401; undefined when there are no others. */
  renewed(refused: Presented): Promise<Presented> | undefined;
  /** Notes that credentials got another status than 401. */
  accepted(presented: Presented): void;
}
