import type { Finding, Report } from "../model/report.ts";
import { factsOf, headOf, notesOf, type SimulateOptions } from "./simulate-report.ts";
import type { Cell, Counted, Simulation } from "./simulation.ts";
import { changeTable, isFlip, shareOf, sumText, talliesBy, unknownTable } from "./tables.ts";

/**
 * Returns a plan with what it changes for payments: each outcome before and after in front, and a line under each rule that
 * changes. Counts and sums, and no value of a payment.
 */
export function withPayments(plan: Report, simulation: Simulation, options: SimulateOptions): Report {
  const unknown = unknownTable(simulation);
  return {
    ...plan,
    simulation: factsOf(simulation, options),
    about: [...plan.about, ...headOf(simulation, options)],
    findings: plan.findings.map((finding) => {
      const line = lineOf(finding, simulation);
      return line === undefined ? finding : { ...finding, details: [...(finding.details ?? []), line] };
    }),
    tables: [
      { ...changeTable(simulation), isFirst: true },
      ...plan.tables,
      ...(unknown === undefined ? [] : [unknown]),
    ],
    notes: [...new Set([...simulation.before.notes, ...plan.notes]), ...notesOf(simulation, options)],
  };
}

/** Says what changes by a rule: `of 84,120 payments 312 go from accept to decline (0.37 %, EUR 41,200)`; undefined of a rule that is on no side. */
function lineOf(finding: Finding, simulation: Simulation): string | undefined {
  const { before, after, cells, payments } = simulation;
  const [own, made] = [before, after].map(
    ({ rules }) =>
      new Set([...rules.keys()].filter((index) => finding.resource !== undefined && isOf(finding, rules[index]?.rule))),
  );
  if (own === undefined || made === undefined || own.size + made.size === 0) return undefined;
  const isBy = ({ by }: Counted, indexes: ReadonlySet<number>): boolean => by.some((index) => indexes.has(index));
  const touched = cells.filter((cell) => isBy(cell.before, own) || isBy(cell.after, made));
  const flips = talliesBy(touched.filter(isFlip), (cell) => `from ${cell.before.outcome} to ${cell.after.outcome}`);
  const decided = (indexes: ReadonlySet<number>, side: (cell: Cell) => Counted): number =>
    touched.reduce((sum, cell) => sum + (side(cell).isKnown && isBy(side(cell), indexes) ? cell.payments : 0), 0);
  const told = [...flips].map(([way, { payments: count, sums }]) => {
    const amounts = [shareOf(count, payments), sumText(sums, simulation)].filter((text) => text !== "");
    return `${counted(count)} ${count === 1 ? "goes" : "go"} ${way} (${amounts.join(", ")})`;
  });
  const sides = `it decides ${counted(decided(own, (cell) => cell.before))} before and ${counted(decided(made, (cell) => cell.after))} after`;
  return `of ${counted(payments)} payments ${told.length === 0 ? "none of this rule has another outcome" : told.join(", ")}; ${sides}`;
}

function counted(count: number): string {
  return count.toLocaleString("en");
}

function isOf({ resource, key }: Finding, rule: { resource?: string; key?: string } | undefined): boolean {
  return rule !== undefined && rule.resource === resource && rule.key === key;
}
