import { getOrMake } from "../../sdk/get-or-make.ts";
import { nearest } from "../../sdk/nearest.ts";
import { warn } from "../host/print.ts";
import { singleSettings, stackSettings, variableName } from "./setting-names.ts";
import type { SettingsSources } from "./sources.ts";

const said = new WeakMap<object, Set<string>>();

/** Warns of variables that set nothing and are nearly the name of one that does: of each once a process. */
export function warnOfMisspeltVariables(environment: SettingsSources["environment"]): void {
  const before = getOrMake(said, environment, () => new Set<string>());
  for (const { variable, meant } of misspeltVariables(environment)) {
    if (before.has(variable)) continue;
    before.add(variable);
    warn(`the environment has ${variable}, which is no setting and has no effect: did you mean ${meant}?`);
  }
}

/** Finds the variables of the environment that set nothing, each with the one that it is nearly the name of. */
export function misspeltVariables(
  environment: SettingsSources["environment"],
): { readonly variable: string; readonly meant: string }[] {
  const ofConnection = singleSettings.map(variableName);
  const ofStack = stackSettings.map(variableName);
  return Object.entries(environment).flatMap(([variable, value = ""]) => {
    const [, connection = "", name = ""] = /^MERCHANT_RULES_(.*__)?(.*)$/s.exec(variable) ?? [];
    const known = connection === "" ? [...ofConnection, ...ofStack] : ofConnection;
    if (value === "" || name === "" || known.includes(name)) return [];
    // A word for one run is the whole stack's, whatever a connection is called.
    if (ofStack.includes(name)) return [{ variable, meant: `MERCHANT_RULES_${name}` }];
    const near = nearest(name, known);
    return near === undefined ? [] : [{ variable, meant: `MERCHANT_RULES_${connection}${near}` }];
  });
}
