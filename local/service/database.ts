import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { reasonOf } from "../../sdk/json/json.ts";

/** Marks a file as one of this service's (`PRAGMA application_id`): "MRLS". */
const applicationId = 0x4d524c53;
const formatVersion = 1;

const schema = `
  CREATE TABLE rules (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    rule_id TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL,
    natural_key TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX rules_by_natural_key ON rules (natural_key) WHERE natural_key IS NOT NULL;
  CREATE TABLE answers (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    kept_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX answers_by_age ON answers (kept_at);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
`;

/**
 * Opens the data file, making it when there is none; `:memory:` keeps nothing.
 * @throws MerchantRulesError SETTINGS_INVALID: a folder, not a database, another program's, not writable.
 */
export function openDatabase(file: string): DatabaseSync {
  const reason = whyUnusable(file);
  if (reason !== undefined) throw refused(file, reason);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec("PRAGMA busy_timeout = 2000");
    const wasNew = number(database, "SELECT count(*) AS value FROM sqlite_schema") === 0;
    const marked = number(database, "SELECT application_id AS value FROM pragma_application_id") === applicationId;
    if (!wasNew && !marked) throw refused(file, "it is a database of another program");
    const version = number(database, "SELECT user_version AS value FROM pragma_user_version");
    const formats = `format ${version}; this one reads ${formatVersion}`;
    if (version > formatVersion) throw refused(file, `a newer version of this package wrote it (${formats})`);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    makeTables(database);
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof MerchantRulesError) throw cause;
    throw refused(file, reasonOf(cause), cause);
  }
}

/** Makes the tables, and proves so that the file can be written; of two services that open a new file at once, one makes them. */
function makeTables(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  const isNew = number(database, "SELECT count(*) AS value FROM sqlite_schema") === 0;
  if (isNew) database.exec(schema);
  else database.exec(`PRAGMA user_version = ${formatVersion}`);
  database.exec("COMMIT");
}

const magic = "SQLite format 3\u0000";

/** Returns why a file cannot be used. SQLite's own words ("unable to open database file") do not say which of these it is. */
function whyUnusable(file: string): string | undefined {
  if (file === "") return "its name is empty";
  if (file === ":memory:") return undefined;
  const folder = dirname(file);
  if (!existsSync(folder)) return `the folder ${folder} does not exist`;
  if (!existsSync(file)) return undefined;
  try {
    const status = statSync(file);
    if (status.isDirectory()) return "it is a folder";
    if (!status.isFile()) return "it is not a regular file";
    return status.size === 0 || startsLike(file, magic) ? undefined : "it is not a SQLite database";
  } catch (error) {
    return reasonOf(error);
  }
}

function startsLike(file: string, text: string): boolean {
  const descriptor = openSync(file, "r");
  try {
    const start = Buffer.alloc(text.length);
    readSync(descriptor, start);
    return start.toString("latin1") === text;
  } finally {
    closeSync(descriptor);
  }
}

function number(database: DatabaseSync, query: string): number {
  return Number(database.prepare(query).get()?.value);
}

function refused(file: string, reason: string, cause?: unknown): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", reason, {
    attempted: `use data file ${file}`,
    advice: "name a file that this service made, or one that does not exist yet in a folder that can be written",
    cause,
  });
}
