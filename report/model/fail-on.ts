import type { Change } from "./kinds.ts";
import type { Report } from "./report.ts";

/** A condition under which a command fails: `delete`, `changed>3`, `flips>0.5%`, `accept->decline>100`. */
export interface FailOn {
  readonly text: string;
  readonly of:
    | { readonly kind: Change | "any" }
    /** Payments whose outcome changes; undefined: from, or to, any. */
    | { readonly from: string | undefined; readonly to: string | undefined };
  /** It strikes above this. Default: 0. */
  readonly above: { readonly number: number; readonly isShare: boolean };
}

const form = /^(?<what>.+?)(?:>(?<number>\d+(?:\.\d+)?)(?<share>%)?)?$/;

/**
 * Reads a condition: a kind of finding, `any`, `flips` or `<outcome>-><outcome>` (`*` is any), and behind it `>` with a number
 * or a share in percent.
 * @param kinds those of the report
 * @returns undefined: it is none
 */
export function failOnIn(text: string, kinds: readonly Change[]): FailOn | undefined {
  const pair = /^(?<from>[^>]+)->(?<to>[^>]+?)(?<rest>>\d+(?:\.\d+)?%?)?$/.exec(text)?.groups;
  const {
    what = "",
    number = "0",
    share,
  } = form.exec(pair === undefined ? text : `pair${pair.rest ?? ""}`)?.groups ?? {};
  const above = { number: Number(number), isShare: share !== undefined };
  const outcome = (word = "*"): string | undefined => (word === "*" ? undefined : word);
  if (pair !== undefined) return { text, of: { from: outcome(pair.from), to: outcome(pair.to) }, above };
  if (what === "flips") return { text, of: { from: undefined, to: undefined }, above };
  const kind = what === "any" ? what : kinds.find((each) => each === what);
  return kind === undefined ? undefined : { text, of: { kind }, above };
}

/** Decides whether a condition is about payments. */
export function isOfPayments({ of }: FailOn): boolean {
  return !("kind" in of);
}

/** Says which conditions strike: `flips>0.5%: 312 of 84,120 (0.37 %)`. */
export function struck(conditions: readonly FailOn[], report: Report): string[] {
  return conditions.flatMap(({ text, of, above }) => {
    const [found, all] = "kind" in of ? [findingsOf(of.kind, report), report.rules] : paymentsOf(of, report);
    const isAbove = above.isShare ? found * 100 > above.number * all : found > above.number;
    if (!isAbove) return [];
    const part = all === 0 ? `${found}` : `${found} of ${all} (${((found * 100) / all).toFixed(2)} %)`;
    return [`${text}: ${part}`];
  });
}

function findingsOf(kind: Change | "any", { counts, findings }: Report): number {
  return kind === "any" ? findings.length : (counts[kind] ?? 0);
}

function paymentsOf(
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  { simulation }: Report,
): [found: number, all: number] {
  const { matrix = [], payments = 0 } = simulation ?? {};
  const moved = matrix.filter(
    ({ before, after }) => before !== after && (from ?? before) === before && (to ?? after) === after,
  );
  return [moved.reduce((sum, pair) => sum + pair.payments, 0), payments];
}
