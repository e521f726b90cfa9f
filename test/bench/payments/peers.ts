import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { LogicEngine } from "json-logic-engine";
import type { Json, JsonObject } from "../../../sdk/json/index.ts";
import { processorSeconds } from "./processor-time.ts";
import { pointers, type WorkloadCondition, type WorkloadRule } from "./workload.ts";

/** The number of the rule that decides, from 0; -1 where none applies. */
export type Deciding = number;

/** What decided the first payments of a file, and how long it took. */
export interface PeerRun {
  /** Of the payments alone: what a peer needs once for its rules is `startSeconds`. */
  readonly seconds: number;
  readonly startSeconds: number;
  readonly deciding: readonly Deciding[];
}

/** Rules as functions that json-logic-engine compiles, asked one after another until one is true. */
export function byJsonLogic(rules: readonly WorkloadRule[], payments: readonly JsonObject[]): PeerRun {
  const engine = new LogicEngine();
  const start = processorSeconds();
  const compiled = rules.map(({ conditions }) => engine.build({ and: conditions.map(logicOf) }));
  const begun = processorSeconds();
  const deciding = payments.map((payment) => compiled.findIndex((applies) => applies(payment) === true));
  return { startSeconds: begun - start, seconds: processorSeconds() - begun, deciding };
}

function logicOf({ field, operator, value }: WorkloadCondition): Json {
  const own = { var: (pointers[field] ?? "").slice(1).replaceAll("/", ".") };
  const text = String(value);
  switch (operator) {
    case "over":
      return { ">": [own, Number(value)] };
    case "atLeast":
      return { ">=": [own, Number(value)] };
    case "under":
      return { "<": [own, Number(value)] };
    case "atMost":
      return { "<=": [own, Number(value)] };
    case "within": {
      const [from = 0, to = 0] = numbersIn(value);
      return { "<=": [from, own, to] };
    }
    case "is":
      return { "===": [own, text] };
    case "oneOf":
      return { in: [own, textsIn(value)] };
    case "begins":
      return { "===": [{ substr: [own, 0, text.length] }, text] };
    case "ends":
      return { "===": [{ substr: [own, -text.length] }, text] };
    case "has":
      return { in: [text, own] };
  }
}

/**
 * DuckDB on one core, in memory: one expression with a case a rule, over a table of the payments. Its optimizer is off, because it
 * takes seconds for so large an expression and finds nothing. The time of a tenth of the payments is what the expression takes to be
 * read, and the rest of them show what a payment takes.
 */
export async function byDuckDb(rules: readonly WorkloadRule[], file: string, count: number): Promise<PeerRun> {
  const database = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await database.connect();
  try {
    await connection.run("PRAGMA disable_optimizer");
    await connection.run(`CREATE TABLE payments AS ${paymentsIn(file)} LIMIT ${count}`);
    const sum = rules.map(({ conditions }, k) => `WHEN ${conditions.map(sqlOf).join(" AND ")} THEN ${k}`).join(" ");
    const ofFirst = (most: number): Promise<number> =>
      secondsOf(
        connection,
        `CREATE OR REPLACE TABLE decided AS SELECT number, CASE ${sum} ELSE -1 END AS rule FROM payments WHERE number < ${most}`,
      );
    const tenth = Math.floor(count / 10);
    const [ofTenth, ofAll] = [await ofFirst(tenth), await ofFirst(count)];
    const seconds = Math.max(0, ((ofAll - ofTenth) * count) / (count - tenth));
    const read = await connection.runAndReadAll("SELECT rule FROM decided ORDER BY number");
    const deciding = read.getColumns()[0]?.map(Number) ?? [];
    return { seconds, startSeconds: Math.max(0, ofAll - seconds), deciding };
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

async function secondsOf(connection: DuckDBConnection, sql: string): Promise<number> {
  const start = processorSeconds();
  await connection.run(sql);
  return processorSeconds() - start;
}

/** Numbers by as many digits as they are written with, so that they compare as decimals. */
function paymentsIn(file: string): string {
  const columns = [
    ...["amount: 'DECIMAL(18,2)'", "email: 'VARCHAR'", "card: 'STRUCT(country VARCHAR, bin VARCHAR)'"],
    ...[
      "riskScore: 'DECIMAL(18,3)'",
      "distanceKm: 'DECIMAL(18,1)'",
      "attempts: 'INTEGER'",
      "accountAgeDays: 'INTEGER'",
    ],
  ];
  const read = `read_json(${quoted(file)}, format = 'newline_delimited', columns = {${columns.join(", ")}})`;
  return `SELECT row_number() OVER () - 1 AS number, *, card.country AS country, card.bin AS bin FROM ${read}`;
}

function sqlOf({ field, operator, value }: WorkloadCondition): string {
  switch (operator) {
    case "over":
      return `${field} > ${value}`;
    case "atLeast":
      return `${field} >= ${value}`;
    case "under":
      return `${field} < ${value}`;
    case "atMost":
      return `${field} <= ${value}`;
    case "within":
      return `${field} BETWEEN ${numbersIn(value).join(" AND ")}`;
    case "is":
      return `${field} = ${quoted(String(value))}`;
    case "oneOf":
      return `${field} IN (${textsIn(value).map(quoted).join(", ")})`;
    case "begins":
      return `starts_with(${field}, ${quoted(String(value))})`;
    case "ends":
      return `suffix(${field}, ${quoted(String(value))})`;
    case "has":
      return `contains(${field}, ${quoted(String(value))})`;
  }
}

function numbersIn(value: WorkloadCondition["value"]): number[] {
  return typeof value === "object" ? value.map(Number) : [];
}

function textsIn(value: WorkloadCondition["value"]): string[] {
  return typeof value === "object" ? value.map(String) : [];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
