import type { LintFigures } from "./lint.ts";
import type { Machine } from "./machine.ts";
import type { StepFigures } from "./measure.ts";
import type { DecidingFigures } from "./payments/deciding.ts";
import type { PolicyFigures } from "./policies.ts";
import type { ClientFigures } from "./sdk-against-undici.ts";
import type { RequestCounts } from "./steps.ts";
import type { SubjectName } from "./subjects.ts";

/** Everything that a run of the benchmark found; what `--output` writes. */
export interface Report {
  readonly rules: number;
  readonly machine: Machine;
  readonly steps: readonly StepFigures[];
  readonly sdkAgainstUndici: readonly ClientFigures[];
  readonly policies: readonly PolicyFigures[];
  readonly payments: readonly DecidingFigures[];
  readonly lint: readonly LintFigures[];
  readonly failures: readonly string[];
}

/** The report for a person: plain text. */
export function table({ rules, machine, steps, sdkAgainstUndici, policies, payments, lint }: Report): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  const size = `${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, ${machine.platform}`;
  const engineRows = steps.map((each) => [
    each.engine,
    each.subject,
    each.checkpoints,
    each.step,
    each.seconds.toFixed(2),
    ratio(each, against(each, steps, nothingLike(each))),
    ratio(each, against(each, steps, "dynamic.Resource × N")),
    ratio(each, inOtherEngine(each, steps)),
    ratio(each, ofOpenTofu(each, steps)),
    ratio(each, driftCheckOf(each, steps)),
    written(each.requests),
    each.allowed === undefined ? "" : written(each.allowed),
    each.stateBytesPerRule?.toFixed(0) ?? "",
    each.hostMemoryBytes === undefined ? "" : (each.hostMemoryBytes / 2 ** 20).toFixed(0),
  ]);
  const clientRows = sdkAgainstUndici.map((each) => [
    `${rules} ${each.operation}`,
    (each.sdkSeconds * 1000).toFixed(0),
    (each.undiciSeconds * 1000).toFixed(0),
    each.ratio.toFixed(2),
  ]);
  const policyRows = policies.map((each) => [
    each.subject,
    String(each.rules),
    each.checkSeconds.toFixed(2),
    each.wholeSeconds.toFixed(2),
    each.startSeconds.toFixed(2),
  ]);
  const section = (rows: readonly (readonly string[])[], ...more: readonly string[]): string[] =>
    rows.length > 1 ? ["", ...aligned(rows), ...(more.length > 0 ? ["", ...more] : [])] : [];
  return [
    `On ${size}; Node ${machine.node}, ${versions.join(", ")}`,
    ...(engineRows.length > 0 ? ["", `${rules} rules:`] : []),
    ...section(
      [engineHead, ...engineRows],
      "/do-nothing, /dynamic.Resource: the step's time by theirs on the same engine; /other engine: by the same subject's there;",
      "/OpenTofu: by that of OpenTofu with a generic REST provider; of merchant-rules drift by its drift check there.",
      "/drift check: merchant-rules drift by the engine's own. Host memory: the most that the provider host had.",
    ),
    ...section([["client", "SDK, ms", "bare undici, ms", "ratio"], ...clientRows]),
    ...section([
      ["policy pack", "rules", "its policies, seconds", "with host and protocol", "of which its start"],
      ...policyRows,
    ]),
    ...section(
      [paymentsHead, ...payments.map(paymentsRow)],
      "Seconds of a core for all payments. /parse: by JSON.parse alone. Once: before the first payment, what the rules take.",
      "The other libraries decided the payments in brackets, all by the same rules as this package, and their time is scaled.",
      "simulate: one process from start to end, which decides each payment before and after a change, by the clock; its time of a core and its memory.",
    ),
    ...section([
      ["merchant-rules lint", "whole command, seconds", "findings"],
      ...lint.map(({ rules: count, seconds, findings }) => [`${count} rules`, seconds.toFixed(2), String(findings)]),
    ]),
  ].join("\n");
}

const paymentsHead = [
  ...["payments", "bytes", "no rule applies", "rules", "JSON.parse", "decide", "/parse", "once"],
  ...["json-logic-engine", "once", "DuckDB", "once", "simulate", "of a core", "MiB"],
];

function paymentsRow(each: DecidingFigures): string[] {
  const { payments, rules, parseSeconds, decideSeconds, peers, whole } = each;
  return [
    String(payments),
    each.bytesPerPayment.toFixed(0),
    `${(100 * each.withoutRule).toFixed(0)} %`,
    ...[String(rules), parseSeconds.toFixed(2), decideSeconds.toFixed(2)],
    ...[(decideSeconds / parseSeconds).toFixed(2), each.startSeconds.toFixed(2)],
    ...peers.flatMap((peer) => [`${peer.decideSeconds.toFixed(1)} (${peer.payments})`, peer.startSeconds.toFixed(2)]),
    whole.seconds.toFixed(1),
    whole.processorSeconds?.toFixed(1) ?? "",
    whole.memoryBytes === undefined ? "" : (whole.memoryBytes / 2 ** 20).toFixed(0),
  ];
}

const engineHead = [
  ...["engine", "subject", "checkpoints", "step", "seconds", "/do-nothing", "/dynamic.Resource", "/other engine"],
  ...["/OpenTofu", "/drift check", "requests", "allowed", "state bytes a rule", "host memory, MiB"],
];

/** What the engine and the hosts do by themselves for the same. */
function nothingLike({ subject }: StepFigures): SubjectName {
  return subject === "MerchantRuleSet of texts" ? "do-nothing set of texts" : "do-nothing × N";
}

/** The same step of another subject on the same engine, with checkpoints written the same way. */
function against(row: StepFigures, rows: readonly StepFigures[], subject: SubjectName): StepFigures | undefined {
  if (row.subject === subject) return undefined;
  // A set is one resource, so that checkpoints are no matter to it: it stands against the faster way.
  const isFair = (other: StepFigures): boolean =>
    row.subject.startsWith("MerchantRuleSet") ? other.checkpoints !== "whole" : other.checkpoints === row.checkpoints;
  return rows.find(
    (each) => each.subject === subject && each.engine === row.engine && each.step === row.step && isFair(each),
  );
}

function inOtherEngine(row: StepFigures, rows: readonly StepFigures[]): StepFigures | undefined {
  // Runs with skipped checkpoints come first, and are what the local engine is to be compared with.
  return rows.find((each) => each.engine !== row.engine && each.subject === row.subject && each.step === row.step);
}

function ofOpenTofu(row: StepFigures, rows: readonly StepFigures[]): StepFigures | undefined {
  const name = row.step === "merchant-rules drift" ? "drift check" : row.step;
  const isElsewhere = row.engine === "opentofu" || row.subject === "MerchantRuleSet at WireMock";
  return isElsewhere ? undefined : rows.find((each) => each.engine === "opentofu" && each.step === name);
}

function driftCheckOf(row: StepFigures, rows: readonly StepFigures[]): StepFigures | undefined {
  if (row.step !== "merchant-rules drift") return undefined;
  const { engine, subject, checkpoints } = row;
  return rows.find(
    (each) =>
      each.step === "drift check" &&
      each.engine === engine &&
      each.subject === subject &&
      each.checkpoints === checkpoints,
  );
}

function ratio(row: StepFigures, other: StepFigures | undefined): string {
  return other === undefined ? "" : (row.seconds / other.seconds).toFixed(2);
}

function written(counts: RequestCounts): string {
  const parts = Object.entries(counts).map(([operation, count]) => `${count} ${operation}`);
  return parts.length === 0 ? "0" : parts.join(", ");
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
