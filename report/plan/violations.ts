import { definitionsIn } from "../../provider/state/definitions.ts";
import { connectionName } from "../../provider/state/state.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import {
  defined,
  isJsonArray,
  type Json,
  type Path,
  pathOf,
  pointerOf,
  segmentsOf,
  valueAt,
} from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import { parseUrn } from "../../stack/state/urn.ts";
import { contentOf } from "../model/content.ts";
import type { Violation } from "../model/report.ts";
import { resourceName } from "../state/state-resource.ts";
import { isOfRules, type PolicyViolation, type Preview, type PreviewStep, resourceOf, shapeIn } from "./preview.ts";
import { asShown } from "./secrets.ts";

/** Returns what policies say of a preview, each with its rule and the place in it, as far as the policy names them. */
export function violationsOf({ violations, steps }: Preview): Violation[] {
  return violations.map((violation) => {
    const { urn, level, policy, pack, message } = violation;
    const { type, name } = parseUrn(urn);
    return {
      ...defined({ level, policy, pack, resource: name === "" ? undefined : resourceName(type, name) }),
      ...placeOf(
        violation,
        steps.filter((step) => step.urn === urn && isOfRules(step)),
      ),
      message,
    };
  });
}

/**
 * Finds the rule that a violation is about. An engine says of it no more than the resource. The policies of this package begin
 * what they say with the rule and the place (`large: /priority: found 5000, allowed ...`), which counts where the
 * resource has a rule of that name. The one rule of a MerchantRule needs no words.
 */
function placeOf({ message }: PolicyViolation, steps: readonly PreviewStep[]): Pick<Violation, "key" | "path"> {
  const rules = steps.flatMap(rulesOf);
  const lines = message.split("\n");
  for (const [key, definition] of rules) {
    const label = printable(key);
    for (const line of lines) {
      if (!line.startsWith(label)) continue;
      const [said, pointer] = /^(?:: (\/.*?))?: found /.exec(line.slice(label.length)) ?? [];
      if (said === undefined) continue;
      return pointer === undefined ? { key } : { key, path: pathOf(pathAt(definition, pointer)) };
    }
  }
  const [only] = rules;
  const [step] = steps;
  return only !== undefined && step !== undefined && shapeIn(step).isRule ? { key: only[0] } : {};
}

/** Returns the rules of a resource by key, that of a MerchantRule by the resource's name. */
function rulesOf(step: PreviewStep): [string, Json][] {
  const shape = shapeIn(step);
  const definitions = definitionsIn(shape, (step.after ?? step.before)?.inputs[shape.field]);
  return [...definitions].map(([key, definition]) => [shape.isRule ? step.name : key, definition]);
}

/** Returns how to find the rule that a violation is about, as the run will have it and as reports show it. */
export function violatingRuleIn(
  { steps }: Preview,
  contractOf: (connection: string) => Contract | undefined,
): (violation: Violation) => { readonly definition: Json; readonly connection: string } | undefined {
  return ({ resource, key }) => {
    const step = steps.find((each) => isOfRules(each) && each.after !== undefined && resourceOf(each) === resource);
    if (step?.after === undefined || key === undefined) return undefined;
    const connection = connectionName(step.after.inputs);
    const definition = new Map(rulesOf(step)).get(key);
    const secrets = contractOf(connection)?.rule.secret;
    const { rule } = contentOf({ after: definition === undefined ? undefined : asShown(definition) }, secrets);
    return rule?.after === undefined ? undefined : { definition: rule.after, connection };
  };
}

function pathAt(definition: Json, pointer: string): Path {
  const segments = segmentsOf(pointer);
  return segments.map((segment, index) =>
    isJsonArray(valueAt(definition, pointerOf(segments.slice(0, index)))) ? Number(segment) : segment,
  );
}
