import { type ResourceShape, shapeOf } from "../../provider/state/shape.ts";
import { defined, pathOf } from "../../sdk/json/index.ts";
import { parseUrn } from "../../stack/state/urn.ts";
import { pathIn } from "../../stack/values/path.ts";
import type { Failure } from "../model/report.ts";
import { resourceName } from "../state/state-resource.ts";
import type { PreviewError } from "./preview.ts";

/** Returns the failures of a preview with the resource and, of what a check refuses, the rule and the place in it. */
export function failuresOf(errors: readonly PreviewError[]): Failure[] {
  return errors.map(({ urn, message }) => {
    const { type, name } = parseUrn(urn);
    const shape = shapeOf(type);
    return shape === undefined
      ? { message }
      : { message, resource: resourceName(type, name), ...refusedIn(message, shape, name) };
  });
}

/** How an engine says that a check refuses a property: Pulumi's, and the local one. */
const refusals = [
  /^\S+ resource '.*?': property (.+?) value [\s\S]* has a problem: /,
  /^.* is not valid: property "(.+?)": /,
];
/** Of a MerchantRule that is JSON in a string a check names no property. */
const refusedText = /(?: has a problem| is not valid): the JSON text /;
/** The place in such a string that a check refuses. */
const inText = /: the JSON text at line \d+, column \d+: (\S+) /;

function refusedIn(message: string, { isRule, field }: ResourceShape, name: string): Pick<Failure, "key" | "path"> {
  const property = refusals.map((form) => form.exec(message)?.[1]).find((found) => found !== undefined);
  const [first, ...path] = pathIn(property ?? (isRule && refusedText.test(message) ? field : "")) ?? [];
  if (first !== field) return {};
  const [key, ...within] = isRule ? [name, ...path] : path;
  if (key === undefined) return {};
  const place = within.length > 0 ? within : (pathIn(inText.exec(message)?.[1] ?? "") ?? []);
  return defined({ key: String(key), path: place.length === 0 ? undefined : pathOf(place) });
}
