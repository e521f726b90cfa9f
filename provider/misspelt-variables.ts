import { nearest } from "../sdk/nearest.ts";
import { getOrMake } from "./get-or-make.ts";
import { warn } from "./print.ts";
import { singleSettings } from "./setting-names.ts";
import { type SettingsSources, variableName } from "./settings.ts";

const said = new WeakMap<object, Set<string>>();

/** Says which variables of the environment set nothing and are nearly the name of one that does: each once a process. */
export function warnOfMisspeltVariables(environment: SettingsSources["environment"]): void {
  const known = singleSettings.map(variableName);
  const before = getOrMake(said, environment, () => new Set<string>());
  for (const [variable, value = ""] of Object.entries(environment)) {
    const [, connection = "", name = ""] = /^MERCHANT_RULES_(.*__)?(.*)$/s.exec(variable) ?? [];
    if (value === "" || name === "" || known.includes(name) || before.has(variable)) continue;
    const near = nearest(name, known);
    if (near === undefined) continue;
    before.add(variable);
    warn(
      `the environment has ${variable}, which is no setting and has no effect: did you mean MERCHANT_RULES_${connection}${near}?`,
    );
  }
}
