import { join, relative, resolve, sep } from "node:path";
import { newOwnerId } from "../../provider/merchant/identity.ts";
import type { Place } from "../../provider/run/place.ts";
import { shownInputs } from "../../provider/settings/connection-settings.ts";
import type { RulePattern } from "../../report/files/rule-pattern.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { valueAt } from "../../sdk/json/index.ts";
import type { StackIdentity } from "../../stack/open/stack-identity.ts";
import { engineOf, type StackOptions } from "../stack.ts";
import { readIdentity, type StoredMemory } from "./connection.ts";
import type { ExportedRule } from "./exported-rule.ts";
import { type ImportFile, importOfRules, importOfSet } from "./import-file.ts";
import { nextSteps } from "./next-steps.ts";
import { keepOtherExports } from "./other-exports.ts";
import { ruleProgram, setProgram } from "./program.ts";
import { ruleFile, schemaText } from "./rule-file.ts";
import { type ReadRules, valueAtPath } from "./rules.ts";
import { secretsOf, withoutSecrets } from "./secrets.ts";
import { summary } from "./summary.ts";
import { otherRules, writeFiles } from "./write-files.ts";

const rulesFolder = "rules";
const schemaFile = "rule.schema.json";
const programFile = "rules.ts";
const importFile = "import.json";

/** What to write, and where. */
export interface ExportOptions extends StackOptions {
  readonly out: string;
  readonly as: "files" | "program";
  readonly connection?: string;
  readonly include: readonly RulePattern[];
  readonly exclude: readonly RulePattern[];
  readonly force: boolean;
}

/** The stack that is to manage the rules. */
export interface ExportInto {
  readonly identity: StackIdentity;
  /** What its state has already of whose and where its rules are. */
  readonly memory: StoredMemory;
}

/**
 * Writes rules as code.
 * @returns what was done and what to do next, for the user
 * @throws MerchantRulesError RULE_NOT_FOUND: there is no rule to write; SETTINGS_INVALID: files are in the way;
 * CONNECTION_FAILED: the credentials are somebody else's
 */
export async function writeExport(
  options: ExportOptions,
  read: ReadRules,
  place: Place,
  into: ExportInto | undefined,
): Promise<string[]> {
  const identity = into?.identity;
  const { rules } = read;
  const who = await readIdentity(place, into?.memory.connection);
  if (rules.length === 0) throw nothingToExport(read, place);
  const { connection, force } = options;
  const out = resolve(options.out);
  const isSet = options.as === "files";
  const secrets = secretsOf(rules, ({ definition }, path) => valueAtPath(definition, path));
  const imports = into === undefined ? undefined : await importOf(rules, options, place, into, who);
  const isCovered = (rule: ExportedRule): boolean => imports?.covers(rule) === true;
  const uncovered = rules.filter((rule) => !isCovered(rule));
  const parts = { rules, secrets, connection };
  const files = new Map<string, string>();
  if (isSet) {
    for (const [name, text] of ruleFiles(rules, place)) files.set(name, text);
    const folder =
      identity === undefined ? rulesFolder : slashed(relative(identity.programFolder, join(out, rulesFolder)));
    files.set(programFile, setProgram(parts, folder, uncovered.length === 0 ? undefined : adoption(rules, place)));
  } else
    files.set(
      programFile,
      ruleProgram(parts, (rule) => !isCovered(rule)),
    );
  const hasImport = imports !== undefined && imports.text !== "";
  if (hasImport) files.set(importFile, imports.text);
  if (force) {
    const isPart = options.include.length + options.exclude.length > 0;
    const beside = otherRules(out, isSet ? rulesFolder : undefined, files);
    const written = { file: programFile, text: files.get(programFile) ?? "" };
    keepOtherExports({ folder: out, rules, connection, isPart, others: beside }, importFile, written);
  }
  const others = writeFiles(out, files, isSet ? rulesFolder : undefined, force);
  const program = slashed(relative(identity?.programFolder ?? out, join(out, programFile)));
  const steps = nextSteps({
    engine: engineOf(options),
    folder: identity === undefined ? undefined : slashed(relative(process.cwd(), identity.folder)),
    stack: options.stack ?? identity?.stack,
    backend: options.backend,
    program: program.startsWith("..") ? program : `./${program}`,
    importFile:
      hasImport && identity !== undefined ? slashed(relative(identity.folder, join(out, importFile))) : undefined,
    adopts: uncovered.length > 0,
    secrets,
  });
  return [
    ...summary({ read, files: [...files.keys()], out: options.out, uncovered, others, identity, rulesFolder }),
    "",
    ...steps,
  ];
}

function ruleFiles(rules: readonly ExportedRule[], { contract }: Place): [string, string][] {
  const { schema } = contract.rule;
  const files = rules.map(({ key, definition, secrets }): [string, string] => [
    join(rulesFolder, `${key}.yaml`),
    ruleFile(withoutSecrets(definition, secrets), schema === null ? undefined : `../${schemaFile}`),
  ]);
  // Beside the folder: loadRules takes every JSON file in it for a rule.
  return schema === null ? files : [...files, [schemaFile, schemaText(schema)]];
}

async function importOf(
  rules: readonly ExportedRule[],
  { connection, as }: ExportOptions,
  place: Place,
  { identity, memory }: ExportInto,
  who: string | undefined,
): Promise<ImportFile> {
  const { project, stack } = identity;
  const encrypt = rules.some(({ secrets }) => secrets.length > 0) ? await identity.encrypter() : undefined;
  const { ownerId, names } = memory.owner ?? { ownerId: newOwnerId(), names: `${project}/${stack}` };
  const site = await place.here(ownerId);
  const into = {
    project,
    stack,
    connection,
    link: memory.connection?.link ?? { ownerId, names, site },
    site,
    isOwnerNew: memory.owner === undefined,
    made: memory.connection === undefined ? { shown: shownInputs(place.options), identity: who } : undefined,
    encrypt,
  };
  return as === "files" ? importOfSet(rules, into) : importOfRules(rules, into);
}

/** Returns the `adopt` of a set that takes its rules over: by their natural keys where all have one, else by their ids. */
function adoption(rules: readonly ExportedRule[], { contract }: Place): true | Record<string, string> {
  const { naturalKey } = contract.rule;
  const haveKeys =
    naturalKey !== null && rules.every(({ definition }) => (valueAt(definition, naturalKey) ?? null) !== null);
  return haveKeys ? true : Object.fromEntries(rules.map(({ key, ruleId }) => [key, ruleId]));
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}

function nothingToExport({ total, passedOver }: ReadRules, place: Place): MerchantRulesError {
  const { name, address } = place.options;
  const where = `${address}, connection "${name}"`;
  const reason =
    total === 0
      ? `the service has no rules (${where}); nothing was written`
      : `none of the ${total} rules of the service (${where}) is to be exported: ${passedOver.join("; ")}; nothing was written`;
  const advice =
    total === 0
      ? "check that address, credentials and parameters are those of the merchant that you mean"
      : "change --include and --exclude; a rule that other code manages is taken over by naming it: adopt";
  return new MerchantRulesError("RULE_NOT_FOUND", reason, { attempted: "export rules", advice });
}
