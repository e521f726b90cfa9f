/** A success whose response is not as the contract says. */
export class UnusableResponse extends Error {
  /** True where the response was not whole, so that the same request may bring a better one. */
  readonly isCut: boolean;
  /** What to do about it, where that is known. */
  readonly advice: string | undefined;
  /** True where the response has no id at `rule.id`. */
  readonly isWithoutId: boolean;
  /** True where the response is about another rule than the request. */
  readonly isOfOther: boolean;

  constructor(reason: string, more: Partial<Omit<UnusableResponse, keyof Error>> = {}) {
    super(reason);
    this.isCut = more.isCut ?? false;
    this.advice = more.advice;
    this.isWithoutId = more.isWithoutId ?? false;
    this.isOfOther = more.isOfOther ?? false;
  }
}
