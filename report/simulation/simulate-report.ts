import { fieldsIn } from "../../meaning/index.ts";
import type { PaymentColumn } from "../../meaning/payments/csv.ts";
import { type PaymentsRead, sentenceOf } from "../../meaning/payments/read-payments.ts";
import { type Json, valueAt } from "../../sdk/json/index.ts";
import { printableJson } from "../../sdk/json/printable.ts";
import { type SideMeaning, unknownRules } from "../meaning/meaning.ts";
import { type Report, reportOf, type Table } from "../model/report.ts";
import type { Simulation } from "./simulation.ts";
import {
  agreementTables,
  changeTable,
  flipTable,
  isFlip,
  labelTables,
  matrixTable,
  namesOf,
  pairsOf,
  ruleTable,
  unknownTable,
} from "./tables.ts";

export interface SimulateOptions {
  /** What reports call the payments: their file. */
  readonly payments: string;
  readonly read: PaymentsRead;
  /** The instant by which rules are in force, where that is not the payment's own. */
  readonly at?: string | undefined;
}

/** Reports what a run changes for payments: tables, with no value of a payment but where examples were kept. */
export function simulateReport(simulation: Simulation, options: SimulateOptions): Report {
  const { before, after } = simulation;
  const { actual, label } = after.semantics.payment;
  const unknown = unknownTable(simulation);
  return reportOf({
    report: "simulate",
    subject: `${options.payments} by ${after.name}`,
    rules: after.rules.length,
    unchanged: after.rules.length,
    findings: [],
    simulation: factsOf(simulation, options),
    about: headOf(simulation, options),
    warnings: unknownRules([...simulation.before.rules, ...simulation.after.rules]),
    tables: [
      ...(actual === null ? [] : agreementTables(simulation)),
      matrixTable(simulation),
      changeTable(simulation),
      ...(simulation.cells.some(isFlip) ? [flipTable(simulation)] : []),
      ruleTable(simulation),
      ...(label === null ? [] : labelTables(simulation)),
      ...(unknown === undefined ? [] : [unknown]),
      ...(simulation.examples.length === 0 ? [] : [exampleTable(simulation)]),
    ],
    notes: [...new Set([...before.notes, ...after.notes]), ...notesOf(simulation, options)],
  });
}

export function factsOf(simulation: Simulation, { read }: SimulateOptions): NonNullable<Report["simulation"]> {
  const { cells, payments, from, until } = simulation;
  const flipped = cells.filter(isFlip).reduce((sum, cell) => sum + cell.payments, 0);
  return {
    sha256: read.sha256,
    payments,
    badLines: read.badLines,
    ...(from === undefined || until === undefined ? {} : { from: `${from}Z`, until: `${until}Z` }),
    flipped,
    matrix: pairsOf(simulation).map(({ sums, ...pair }) => ({ ...pair, sums: Object.fromEntries(sums.entries()) })),
  };
}

/** Says what was read: payments, period and rules. */
export function headOf(simulation: Simulation, { payments: name, read, at }: SimulateOptions): string[] {
  const { from, until, payments, before, after } = simulation;
  const period = from === undefined || until === undefined ? "" : `, from ${from}Z to ${until}Z`;
  return [
    `Payments: ${payments} of ${name} (${read.form ?? "empty"}, SHA-256 ${read.sha256})${period}`,
    `Before: ${before.name}, ${rulesOf(before)}. After: ${after.name}, ${rulesOf(after)}${at === undefined ? "" : `. Rules in force at ${at}`}`,
  ];
}

export function notesOf(simulation: Simulation, { read }: SimulateOptions): string[] {
  const { payment } = simulation.after.semantics;
  const { withoutTime, withoutAmount, cells } = simulation;
  const isDeclined = cells.some(({ before, after }) => before.outcome === "decline" && after.outcome !== "decline");
  const shown = read.bad.map(sentenceOf).join("; ");
  const more = read.badLines - read.bad.length;
  return [
    ...(read.badLines === 0
      ? []
      : [
          `${read.badLines} ${read.badLines === 1 ? "line holds no payment and is" : "lines hold no payment and are"} left out: ${shown}${more > 0 ? `; and ${more} more` : ""}`,
        ]),
    ...(read.absent.length === 0 ? [] : [`The CSV has no column for ${read.absent.join(", ")}`]),
    ...(payment.time !== null && withoutTime > 0
      ? [
          `${withoutTime} ${withoutTime === 1 ? "payment has no time, and is" : "payments have no time, and are"} in no period`,
        ]
      : []),
    ...(payment.amount !== null && withoutAmount > 0
      ? [
          `${withoutAmount} ${withoutAmount === 1 ? "payment has no amount with a currency, and is" : "payments have no amount with a currency, and are"} in no sum`,
        ]
      : []),
    ...(isDeclined
      ? [
          "A payment that was declined has no later fate: whether it would have been fraud cannot be told by this history",
        ]
      : []),
  ];
}

/** Makes a table of payments whose outcome changes, with the fields that conditions name: for the eyes of who asked, on the spot. */
function exampleTable({ examples, before, after }: Simulation): Table {
  const { fields } = after.semantics.payment;
  const named = [...fieldsIn([...before.rules, ...after.rules].map(({ reading }) => reading))].sort();
  const rows = examples.map(({ number, payment, ...sides }) => [
    number,
    `${sides.before.outcome}, ${namesOf(sides.before, before)}`,
    `${sides.after.outcome}, ${namesOf(sides.after, after)}`,
    ...named.map((name): string => shown(valueAt(payment, fields[name]?.at ?? "") ?? null)),
  ]);
  return {
    title: "The first payments whose outcome changes: real values, not for others' eyes",
    columns: ["Payment", "Before", "After", ...named],
    rows,
  };
}

function shown(value: Json): string {
  return value === null ? "" : printableJson(value);
}

/** Returns the columns that are read of a CSV: fields that conditions name must be there, and what is only counted may. */
export function columnsFor(before: SideMeaning, after: SideMeaning): PaymentColumn[] {
  const { fields, amount, time, actual, label } = after.semantics.payment;
  const needed = fieldsIn([...before.rules, ...after.rules].map(({ reading }) => reading));
  const counted = [amount?.field, amount?.currency, time ?? undefined].filter((name) => name !== undefined);
  const columns = [...new Set([...needed, ...counted])].flatMap((name): PaymentColumn[] => {
    const field = fields[name];
    return field === undefined
      ? []
      : [{ name, at: field.at, type: field.type, list: field.list, isNeeded: needed.has(name) }];
  });
  const facts = [
    ...(actual === null ? [] : [{ name: "payment.actual", at: actual.at, isNeeded: false }]),
    ...(label === null ? [] : [{ name: "payment.label", at: label.at, isNeeded: false }]),
  ];
  // One place can have two uses.
  return [...columns, ...facts.filter(({ at }) => columns.every((column) => column.at !== at))];
}

function rulesOf({ rules }: SideMeaning): string {
  return rules.length === 1 ? "1 rule" : `${rules.length} rules`;
}
