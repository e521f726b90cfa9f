import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Decider, defineSemantics, readRules } from "../../../meaning/index.ts";
import { linesOf } from "../../../meaning/payments/lines.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { byDuckDb, byJsonLogic, type Deciding, type PeerRun } from "./peers.ts";
import { processorSeconds } from "./processor-time.ts";
import { type WholeCommand, wholeCommand } from "./whole-command.ts";
import { definitionOf, paymentLine, Random, semantics, type WorkloadRule, workloadRules } from "./workload.ts";

/** Payments that are decided by so many rules. Times are of a core, in seconds, for all payments. */
export interface DecidingFigures {
  readonly rules: number;
  readonly payments: number;
  readonly bytesPerPayment: number;
  /** `JSON.parse` of every line, and nothing else. */
  readonly parseSeconds: number;
  /** To decide the payments that were parsed. */
  readonly decideSeconds: number;
  /** Once, before the first payment. */
  readonly startSeconds: number;
  /** The share of the payments to which no rule applies, so that all were held against them. */
  readonly withoutRule: number;
  readonly peers: readonly PeerFigures[];
  readonly whole: WholeCommand;
}

interface PeerFigures {
  readonly name: "json-logic-engine" | "DuckDB";
  /** So many payments were decided, and the time is scaled to all. */
  readonly payments: number;
  readonly decideSeconds: number;
  readonly startSeconds: number;
}

/** A peer decides so many payments, and fewer where it would take minutes: so many times that a rule is held against a payment. */
const mostOfPeers = 100_000;
const mostHeldBy = { "json-logic-engine": 20_000_000, DuckDB: 100_000_000 } as const;

/**
 * Decides payments by each number of rules, here and with other libraries, and simulates a change of the rules.
 * @throws Error: a library decides a payment otherwise than this package
 */
export async function decidePayments(
  payments: number,
  numbersOfRules: readonly number[],
  signal: AbortSignal,
): Promise<DecidingFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), "payments-"));
  const file = join(folder, "payments.ndjson");
  try {
    writePayments(file, payments);
    const figures: DecidingFigures[] = [];
    for (const rules of numbersOfRules) {
      signal.throwIfAborted();
      figures.push(await decideBy(workloadRules(rules), file, payments, signal));
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function decideBy(
  rules: readonly WorkloadRule[],
  file: string,
  payments: number,
  signal: AbortSignal,
): Promise<DecidingFigures> {
  const few = (name: PeerFigures["name"]): number =>
    Math.min(payments, mostOfPeers, Math.ceil(mostHeldBy[name] / rules.length));
  const own = await byThisPackage(rules, file, few("DuckDB"), signal);
  const peer = (name: PeerFigures["name"], { seconds, startSeconds, deciding }: PeerRun): PeerFigures => {
    requireAgreement(name, deciding, own.first.slice(0, few(name)));
    return { name, payments: few(name), decideSeconds: (seconds * payments) / few(name), startSeconds };
  };
  return {
    ...own.figures,
    rules: rules.length,
    peers: [
      peer("json-logic-engine", byJsonLogic(rules, own.firstPayments.slice(0, few("json-logic-engine")))),
      peer("DuckDB", await byDuckDb(rules, file, few("DuckDB"))),
    ],
    whole: await wholeCommand(rules.length, file, signal),
  };
}

interface Own {
  readonly figures: Omit<DecidingFigures, "rules" | "peers" | "whole">;
  readonly firstPayments: readonly JsonObject[];
  readonly first: readonly Deciding[];
}

/** Parses and decides some payments after the others, so that what disturbs the one disturbs the other. */
async function byThisPackage(
  rules: readonly WorkloadRule[],
  file: string,
  few: number,
  signal: AbortSignal,
): Promise<Own> {
  const start = processorSeconds();
  const meaning = defineSemantics(semantics);
  const readings = rules.flatMap((rule) => readRules(definitionOf(rule), meaning));
  const unread = readings.find(({ kind }) => kind === "unknown");
  if (unread !== undefined) throw new Error(`a rule of the workload cannot be read: ${JSON.stringify(unread)}`);
  const decider = new Decider(readings, meaning);
  const startSeconds = processorSeconds() - start;
  const [firstPayments, first]: [JsonObject[], Deciding[]] = [[], []];
  let [payments, bytes, parseSeconds, decideSeconds, withoutRule] = [0, 0, 0, 0, 0];
  for await (const { texts } of linesOf(createReadStream(file, { highWaterMark: chunkBytes }))) {
    signal.throwIfAborted();
    const lines = texts.filter((text) => typeof text === "string" && text !== "").map(String);
    const begun = processorSeconds();
    const parsed = lines.map((line): JsonObject => JSON.parse(line));
    const half = processorSeconds();
    const decisions = parsed.map((payment) => decider.decide(payment));
    decideSeconds += processorSeconds() - half;
    parseSeconds += half - begun;
    const deciding = decisions.map((decision): Deciding => {
      if (decision.kind === "unknown") throw new Error("a payment of the workload has no known decision");
      return decision.by[0] ?? -1;
    });
    payments += lines.length;
    bytes += lines.reduce((sum, line) => sum + line.length + 1, 0);
    withoutRule += deciding.filter((rule) => rule === -1).length;
    const room = few - first.length;
    first.push(...deciding.slice(0, room));
    firstPayments.push(...parsed.slice(0, room));
  }
  const shares = { bytesPerPayment: bytes / payments, withoutRule: withoutRule / payments };
  return { figures: { payments, ...shares, parseSeconds, decideSeconds, startSeconds }, firstPayments, first };
}

function requireAgreement(name: string, theirs: readonly Deciding[], ours: readonly Deciding[]): void {
  const at = ours.findIndex((rule, index) => theirs[index] !== rule);
  if (theirs.length === ours.length && at === -1) return;
  throw new Error(
    `${name} decides payment ${at + 1} by rule ${theirs[at]}, and this package by rule ${ours[at]} (of ${theirs.length} and ${ours.length})`,
  );
}

const chunkBytes = 65_536;

function writePayments(file: string, count: number): void {
  const random = new Random(7);
  const descriptor = openSync(file, "w");
  try {
    for (let k = 0; k < count; k += 1000) {
      const lines = Array.from({ length: Math.min(1000, count - k) }, (_, index) => paymentLine(k + index, random));
      writeSync(descriptor, `${lines.join("\n")}\n`);
    }
  } finally {
    closeSync(descriptor);
  }
}
