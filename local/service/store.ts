import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { openDatabase } from "./database.ts";

/** A rule as it is kept. */
export interface StoredRule {
  /** Rises with every rule that is made; never used twice. Lists go by it. */
  readonly sequence: number;
  readonly ruleId: string;
  readonly definition: JsonObject;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The row of a rule. */
export interface RuleEntry {
  readonly ruleId: string;
  readonly definition: JsonObject;
  /** The canonical string of the contract's natural key, when the rule has one. */
  readonly naturalKey: string | undefined;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The response that an idempotency key stands for. */
export interface StoredResponse {
  /** Tells the request from any other under the same key. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

/** Rules in the order of their making, to be listed page by page. */
export interface RuleList {
  /** Returns the rules after a sequence; at most `limit`, or all for -1. */
  after(sequence: number, limit: number): StoredRule[];
  /** Returns the rules after the first `offset`; at most `limit`. */
  from(offset: number, limit: number): StoredRule[];
}

/**
 * The rules, in one SQLite file. Nothing is held in memory between calls, so that two services may share a file.
 * Every call is done when it returns; {@link RuleStore.transaction} makes several of them one.
 */
export class RuleStore implements RuleList {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #watchers: ((ruleId: string) => void)[] = [];

  /** @throws MerchantRulesError SETTINGS_INVALID when the file cannot be used, saying why. */
  constructor(file: string) {
    this.#database = openDatabase(file);
    this.#statements = prepare(this.#database);
  }

  /** Runs `work` as one transaction: all of it is written, or, when it throws or is to be rolled back, nothing. */
  transaction<T>(work: () => T, ending: "commit" | "rollback" = "commit"): T {
    this.#statements.begin.run();
    try {
      const result = work();
      this.#statements[ending].run();
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#statements.rollback.run();
      throw error;
    }
  }

  /** Calls `watcher` with the id of every rule that this store inserts, replaces or removes from now on, once that is done. */
  watch(watcher: (ruleId: string) => void): void {
    this.#watchers.push(watcher);
  }

  find(ruleId: string): StoredRule | undefined {
    return optional(this.#statements.find.get(ruleId), ruleOf);
  }

  /** Finds the id of a rule, other than `except`, that holds a natural key. */
  holderOf(naturalKey: string, except = ""): string | undefined {
    return optional(this.#statements.holder.get(naturalKey, except), (row) => text(row, "rule_id"));
  }

  insert({ ruleId, definition, naturalKey, at }: RuleEntry): void {
    this.#statements.insert.run(ruleId, JSON.stringify(definition), naturalKey ?? null, at, at);
    this.#tell(ruleId);
  }

  /** Replaces a rule. Returns whether there was one. */
  replace({ ruleId, definition, naturalKey, at }: RuleEntry): boolean {
    const { changes } = this.#statements.replace.run(JSON.stringify(definition), naturalKey ?? null, at, ruleId);
    return this.#changed(ruleId, changes);
  }

  /** Removes a rule. Returns whether there was one. */
  remove(ruleId: string): boolean {
    return this.#changed(ruleId, this.#statements.remove.run(ruleId).changes);
  }

  /** The highest sequence that was ever used; 0 before the first rule. */
  get lastSequence(): number {
    return optional(this.#statements.lastSequence.get(), (row) => number(row, "seq")) ?? 0;
  }

  after(sequence: number, limit: number): StoredRule[] {
    return this.#statements.after.all(sequence, limit).map(ruleOf);
  }

  /** Returns the rules before a sequence, the youngest first; at most `limit`. */
  before(sequence: number, limit: number): StoredRule[] {
    return this.#statements.before.all(sequence, limit).map(ruleOf);
  }

  from(offset: number, limit: number): StoredRule[] {
    return this.#statements.from.all(limit, offset).map(ruleOf);
  }

  /** Finds the response that was kept under an idempotency key since `since` (milliseconds). */
  responseOf(key: string, since: number): StoredResponse | undefined {
    return optional(this.#statements.response.get(key, since), (row) => ({
      fingerprint: text(row, "fingerprint"),
      status: number(row, "status"),
      body: text(row, "body"),
    }));
  }

  /** Keeps a response under an idempotency key, from `at` (milliseconds) on. */
  keepResponse(key: string, { fingerprint, status, body }: StoredResponse, at: number): void {
    this.#statements.keepResponse.run(key, fingerprint, status, body, at);
  }

  /** Drops the responses that were kept before `since` (milliseconds). */
  forgetResponses(since: number): void {
    this.#statements.forgetResponses.run(since);
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #changed(ruleId: string, changes: number | bigint): boolean {
    if (Number(changes) === 0) return false;
    this.#tell(ruleId);
    return true;
  }

  #tell(ruleId: string): void {
    for (const watcher of this.#watchers) watcher(ruleId);
  }
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: DatabaseSync) {
  const sql = (statement: string): StatementSync => database.prepare(statement);
  const columns = "sequence, rule_id, definition, created_at, updated_at";
  return {
    begin: sql("BEGIN IMMEDIATE"),
    commit: sql("COMMIT"),
    rollback: sql("ROLLBACK"),
    find: sql(`SELECT ${columns} FROM rules WHERE rule_id = ?`),
    holder: sql("SELECT rule_id FROM rules WHERE natural_key = ? AND rule_id <> ? ORDER BY sequence LIMIT 1"),
    insert: sql("INSERT INTO rules (rule_id, definition, natural_key, created_at, updated_at) VALUES (?, ?, ?, ?, ?)"),
    replace: sql("UPDATE rules SET definition = ?, natural_key = ?, updated_at = ? WHERE rule_id = ?"),
    remove: sql("DELETE FROM rules WHERE rule_id = ?"),
    lastSequence: sql("SELECT seq FROM sqlite_sequence WHERE name = 'rules'"),
    after: sql(`SELECT ${columns} FROM rules WHERE sequence > ? ORDER BY sequence LIMIT ?`),
    before: sql(`SELECT ${columns} FROM rules WHERE sequence < ? ORDER BY sequence DESC LIMIT ?`),
    from: sql(`SELECT ${columns} FROM rules ORDER BY sequence LIMIT ? OFFSET ?`),
    response: sql("SELECT fingerprint, status, body FROM answers WHERE key = ? AND kept_at >= ?"),
    keepResponse: sql(
      "INSERT OR REPLACE INTO answers (key, fingerprint, status, body, kept_at) VALUES (?, ?, ?, ?, ?)",
    ),
    forgetResponses: sql("DELETE FROM answers WHERE kept_at < ?"),
  };
}

type Row = Record<string, SQLOutputValue>;

function optional<T>(row: Row | undefined, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row);
}

function ruleOf(row: Row): StoredRule {
  const definition: Json = JSON.parse(text(row, "definition"));
  return {
    sequence: number(row, "sequence"),
    ruleId: text(row, "rule_id"),
    definition: isJsonObject(definition) ? definition : damaged("definition"),
    createdAt: text(row, "created_at"),
    updatedAt: text(row, "updated_at"),
  };
}

function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : damaged(column);
}

function number(row: Row, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : damaged(column);
}

function damaged(column: string): never {
  throw new Error(`the data file is damaged: column ${column} holds something else`);
}
