import { readFileSync } from "node:fs";
import { ruleType, setType } from "../../provider/host/types.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { definitionOf, field, isJsonArray, isJsonObject, type Json, mapJson, type Path } from "../../sdk/json/index.ts";
import { reasonOf, whyNotJson } from "../../sdk/json/json.ts";
import { printable } from "../../sdk/json/printable.ts";
import { optionalPath } from "./configuration.ts";
import { callersFile, withPlainStack } from "./host.ts";
import { ofStack } from "./rule-policy.ts";

/** The option that names the baseline, for policies that compare with it. */
export const baselinePath = optionalPath.describe(
  "A file that `pulumi stack export --file` has written before the run; from the folder in which pulumi was started",
);

export interface DeployedRule {
  /** Its key in the set, or the name of its MerchantRule. */
  readonly key: string;
  /** The name of its resource. */
  readonly resource: string;
  readonly connection: string;
  /** The definition; null in the place of each secret that cannot be read. */
  readonly definition: Json;
  /** The paths of these. */
  readonly sealed: readonly Path[];
  /** The paths of secrets that can be read, because the export shows them. */
  readonly open: readonly Path[];
}

export interface Baseline {
  readonly rules: readonly DeployedRule[];
  /** Finds the rules with a key: of the resource if it has one, else of any resource of the connection. */
  find(connection: string, resource: string, key: string): readonly DeployedRule[];
}

/** Kept, because the policy host asks once for each resource. */
const read = new Map<string, Baseline>();

/**
 * Reads the deployed rules from a file that `pulumi stack export` has written, or from a state file of the file
 * backend. The engine tells a policy neither what a run removes, nor what was there before. For the path see {@link callersFile}.
 *
 * Each file is read once in a run. Secrets are ciphertext, unless `--show-secrets` was given; those are not compared.
 * @throws MerchantRulesError SETTINGS_INVALID: there is no such file, it is no state, or it is another stack's
 */
export function readBaseline(path: string): Baseline {
  const file = callersFile(path);
  return getOrMake(read, file, () => baselineOf(rulesIn(stateIn(file), file)));
}

/** The note of a policy that needs a baseline and has none. */
export const noBaseline =
  "no baseline is configured: write one with `pulumi stack export --file baseline.json` before the run, and name it";

/** The finding where the baseline shows nothing: it would let pass the removal of everything that it does not show. */
export const emptyBaseline = ofStack(
  "a baseline without rules",
  "the stack's state before this run (`pulumi stack export --file`), or, in the first run of a stack, allowed: true",
);

function baselineOf(rules: readonly DeployedRule[]): Baseline {
  const idOf = (connection: string, key: string): string => JSON.stringify([connection, key]);
  const byKey = Map.groupBy(rules, ({ connection, key }) => idOf(connection, key));
  return {
    rules,
    find(connection, resource, key) {
      const all = byKey.get(idOf(connection, key)) ?? [];
      const own = all.filter((rule) => rule.resource === resource);
      return own.length > 0 ? own : all;
    },
  };
}

function stateIn(file: string): Json {
  try {
    return parsed(readFileSync(file, "utf8"), file, "it");
  } catch (error) {
    if (isMerchantRulesError(error)) throw error;
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw unreadable(file, isMissing ? "there is no such file" : reasonOf(error));
  }
}

function rulesIn(state: Json, file: string): DeployedRule[] {
  const checkpoint = at(state, "checkpoint");
  const deployment =
    at(state, "deployment") ?? (checkpoint === undefined ? undefined : (at(checkpoint, "latest") ?? {}));
  if (!isJsonObject(deployment)) throw unreadable(file, "it is not the state of a stack");
  const resources = field(deployment, "resources") ?? [];
  if (!isJsonArray(resources)) throw unreadable(file, "its resources are not a list");
  for (const resource of resources) demandThisStack(textAt(resource, "urn"), file);
  return resources.flatMap((resource) => rulesOf(resource, file));
}

/** Throws where a resource is another stack's: compared with that, every rule would be new, or removed. */
function demandThisStack(urn: string | undefined, file: string): void {
  const { PULUMI_NODEJS_STACK: stack, PULUMI_NODEJS_PROJECT: project } = process.env;
  const [, ofStack, ofProject] = /^urn:pulumi:(.*?)::(.*?)::/s.exec(urn ?? "") ?? [];
  if (stack === undefined || project === undefined || (ofStack === stack && ofProject === project)) return;
  const whose = urn === undefined ? "has a resource without a urn" : `is of stack ${ofStack} of project ${ofProject}`;
  throw unreadable(file, `it ${whose}, and this is stack ${stack} of project ${project}`);
}

function rulesOf(resource: Json, file: string): DeployedRule[] {
  const type = textAt(resource, "type");
  const outputs = at(resource, "outputs");
  // A resource that still has to be deleted after a replacement is declared no more.
  if ((type !== ruleType && type !== setType) || outputs === undefined || at(resource, "delete") === true) return [];
  const name = (textAt(resource, "urn") ?? "").split("::").slice(3).join("::");
  const connection = textAt(outputs, "connection") ?? "default";
  const { value, sealed, open } = opened(at(outputs, type === ruleType ? "definition" : "rules") ?? {}, file);
  if (type === ruleType)
    return [{ key: name, resource: name, connection, definition: definitionOf(value), sealed, open }];
  const isSealed = sealed.some((path) => path.length === 0);
  // The ids are no secret where the definitions are.
  const keyed = isSealed ? at(outputs, "ruleIds") : value;
  if (!isJsonObject(keyed) || signature in keyed)
    throw unreadable(file, `the rules of set ${name} are secret in it as a whole`, " --show-secrets");
  const within = (paths: readonly Path[]): ((key: string) => readonly Path[]) => {
    const byKey = Map.groupBy(paths, ([first]) => String(first));
    const whole = paths.filter(({ length }) => length === 0);
    return (key) => [...whole, ...(byKey.get(key) ?? []).flatMap((path) => (path.length === 0 ? [] : [path.slice(1)]))];
  };
  const [sealedIn, openIn] = [within(sealed), within(open)];
  return Object.keys(keyed)
    .filter((key) => !key.endsWith(leftOver))
    .map((key) => ({
      key,
      resource: name,
      connection,
      definition: isJsonObject(value) ? definitionOf(field(value, key) ?? null) : null,
      sealed: isSealed ? [[]] : sealedIn(key),
      open: openIn(key),
    }));
}

/** The end of the name in the state of a rule that an earlier run could not delete. No key of a program ends so. */
const leftOver = " (to be deleted)";

/** The field that marks secrets in a state, and its value. */
const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Opens a value of the state: secrets that `--show-secrets` shows are decoded, and null is in the place of the others. */
function opened(stored: Json, file: string) {
  const [sealed, shown]: [Path[], Path[]] = [[], []];
  const open = (value: Json, path: Path): Json | undefined => {
    if (!isJsonObject(value) || value[signature] !== secretSignature) return undefined;
    if (typeof value.plaintext === "string") {
      shown.push([...path]);
      return mapJson(parsed(value.plaintext, file, "a secret in it"), open, path);
    }
    sealed.push([...path]);
    return null;
  };
  const value = mapJson(stored, open);
  return { value, sealed, open: shown };
}

function parsed(text: string, file: string, what: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(file, `${what} is not JSON: ${printable(whyNotJson(error))}`);
  }
}

function at(value: Json, name: string): Json | undefined {
  return isJsonObject(value) ? field(value, name) : undefined;
}

function textAt(value: Json, name: string): string | undefined {
  const text = at(value, name);
  return typeof text === "string" ? text : undefined;
}

function unreadable(file: string, reason: string, flags = ""): MerchantRulesError {
  return withPlainStack(
    new MerchantRulesError("SETTINGS_INVALID", reason, {
      attempted: `read baseline ${file}`,
      advice: `write it with \`pulumi stack export${flags} --file ${file}\` before the run`,
    }),
  );
}
