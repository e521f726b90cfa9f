import { definitionsIn } from "../../provider/state/definitions.ts";
import { readInputs, readState } from "../../provider/state/state.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { asWritten, blindMask, defined, isJsonObject, type Json, mapJson, masked } from "../../sdk/json/index.ts";
import { isOfRules, mask, type Preview, resourceOf, shapeIn, subjectOf } from "../plan/preview.ts";
import { identityOf, nameOfRule, type RuleSide, type SideRule } from "./side.ts";

/**
 * Returns the rules that a program declares, as a preview by either engine says: sets, components and overlays are in it.
 * @param preview what `readPreview` gives; without `--show-sames` it lacks the resources that do not change, which a note says
 * @param contractOf the contract of a connection, where there is one
 * @throws MerchantRulesError SETTINGS_INVALID: another version of this package wrote the state
 */
export function programSide(preview: Preview, contractOf: (connection: string) => Contract | undefined): RuleSide {
  const rules: SideRule[] = [];
  const notes: string[] = [];
  for (const step of preview.steps.filter(isOfRules)) {
    if (step.after === undefined || step.op === "delete" || step.op === "delete-replaced") continue;
    const shape = shapeIn(step);
    const { connection } = readInputs(shape, step.after.inputs);
    const contract = contractOf(connection);
    const resource = resourceOf(step);
    const ids = step.before === undefined ? undefined : readState(shape, step.before.id, step.before.outputs).rules;
    const field = step.after.inputs[shape.field];
    if (!shape.isRule && field !== undefined && !isJsonObject(field))
      notes.push(`the rules of ${resource} cannot be named: a preview masks them, or does not know them yet`);
    for (const [key, declared] of definitionsIn(shape, field)) {
      const definition = definitionIn(declared, contract);
      const ruleId = step.op === "replace" ? undefined : ids?.get(key)?.ruleId;
      rules.push({
        name: nameOfRule(definition, contract, key, ruleId, resource.replace(/^\S+ /, "")),
        resource,
        ...defined({ key: shape.isRule ? undefined : key, ruleId }),
        connection,
        ...identityOf(definition, contract),
        definition,
      });
    }
  }
  const unseen = preview.sames - preview.steps.filter(({ op }) => op === "same").length;
  if (unseen > 0) notes.push(`${unseen} resources without changes are not in the preview: give what --show-sames adds`);
  return { name: subjectOf(preview), kind: "program", rules, contractOf, notes };
}

/** Returns a definition as sides have it: a preview has one mask in the place of every secret. */
function definitionIn(declared: Json, contract: Contract | undefined): SideRule["definition"] {
  const plain = mapJson(declared, (value) => (value === mask ? blindMask : undefined));
  const definition = masked(plain, contract?.rule.secret ?? [], contract?.rule ?? asWritten);
  return isJsonObject(definition) ? definition : blindMask;
}
