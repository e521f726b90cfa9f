import { readJsonText } from "../../sdk/files/json-text.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { isJsonObject } from "../../sdk/json/index.ts";
import { isOneSlip, nearest } from "../../sdk/nearest.ts";
import { warn } from "../host/print.ts";
import { defaultConnection, singleSettings, stackSettings, variableName } from "./setting-names.ts";
import { providerName, type SettingsSources } from "./sources.ts";

const said = new WeakMap<object, Set<string>>();

/**
 * Warns of variables that set nothing and are nearly the name of one that does: of each once a process.
 * @param connections those that the run has used so far
 */
export function warnOfMisspeltVariables(sources: SettingsSources, connections: readonly string[]): void {
  const before = getOrMake(said, sources.environment, () => new Set<string>());
  for (const { variable, meant } of misspeltVariables(sources, connections)) {
    if (before.has(variable)) continue;
    before.add(variable);
    warn(`the environment has ${variable}, which is no setting and has no effect: did you mean ${meant}?`);
  }
}

/** Finds the variables of the environment that set nothing, each with the one that it is nearly the name of. */
export function misspeltVariables(
  { config, environment }: SettingsSources,
  connections: readonly string[],
): { readonly variable: string; readonly meant: string }[] {
  const ofConnection = singleSettings.map(variableName);
  const ofStack = stackSettings.map(variableName);
  const given = Object.entries(environment).flatMap(([variable, value = ""]) => {
    // Names with nothing between the underscores are of a stack.
    const [, , connection = "", name = ""] = /^MERCHANT_RULES_(?!_)((.*)__)?(.*)$/s.exec(variable) ?? [];
    return value === "" || name === "" ? [] : [{ variable, connection, name }];
  });
  const nearConnection = connectionsBy(config, connections, new Set(given.map(({ connection }) => connection)));
  return given.flatMap(({ variable, connection, name }) => {
    const known = connection === "" ? [...ofConnection, ...ofStack] : ofConnection;
    const prefix = (of: string): string => (of === "" ? "MERCHANT_RULES_" : `MERCHANT_RULES_${of}__`);
    // A word for one run is the whole stack's, whatever a connection is called.
    if (connection !== "" && ofStack.includes(name)) return [{ variable, meant: prefix("") + name }];
    const meant = known.includes(name) || /^PARAM_./.test(name) ? name : nearest(name, known);
    const of = nearConnection(connection);
    return meant === undefined || (of === connection && meant === name)
      ? []
      : [{ variable, meant: prefix(of) + meant }];
  });
}

/**
 * Returns the function that gives the connection that is meant, as variables name it: another one where the names differ in
 * underscores alone, or by one slip where the other one has no setting at all.
 */
function connectionsBy(
  config: SettingsSources["config"],
  connections: readonly string[],
  inEnvironment: ReadonlySet<string>,
): (connection: string) => string {
  const read = readJsonText(config("merchant-rules:connections") || "{}");
  const configured = "value" in read && isJsonObject(read.value) ? Object.keys(read.value).map(variableName) : [];
  const used = [...connections.filter((each) => each !== defaultConnection), providerName(config) ?? []];
  const known = new Set([...used.flat().map(variableName), ...configured]);
  const without = [...known].filter((each) => !inEnvironment.has(each) && !configured.includes(each));
  return (connection) => {
    if (connection === "" || known.has(connection)) return connection;
    const letters = connection.replaceAll("_", "");
    const same = [...known].find((each) => each.replaceAll("_", "") === letters);
    return same ?? without.find((each) => isOneSlip(connection, each)) ?? connection;
  };
}
