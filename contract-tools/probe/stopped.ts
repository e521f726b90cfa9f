/** The probe ends before its end: nothing more is tried, and what it made is cleaned up as far as is known to be safe. */
export class Stopped extends Error {
  /** The next step of the user. */
  readonly advice: string;

  constructor(reason: string, advice: string) {
    super(reason);
    this.advice = advice;
  }
}
