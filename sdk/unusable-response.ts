/** A success whose response is not as the contract says. */
export class UnusableResponse extends Error {
  /** True where the response was not whole, so that the same request may bring a better one. */
  readonly isCut: boolean;
  /** What to do about it, where that is known. */
  readonly advice: string | undefined;
  /** True where the response has no id at `rule.id`. */
  readonly isWithoutId: boolean;

  constructor(
    reason: string,
    {
      isCut = false,
      advice,
      isWithoutId = false,
    }: { isCut?: boolean; advice?: string | undefined; isWithoutId?: boolean } = {},
  ) {
    super(reason);
    this.isCut = isCut;
    this.advice = advice;
    this.isWithoutId = isWithoutId;
  }
}
