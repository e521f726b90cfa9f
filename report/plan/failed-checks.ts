import { ruleType, setType } from "../../provider/host/types.ts";
import { ruleShape, setShape } from "../../provider/state/shape.ts";
import { pathOf } from "../../sdk/json/index.ts";
import { parseUrn } from "../../stack/state/urn.ts";
import { pathIn } from "../../stack/values/path.ts";
import type { Failure } from "../model/report.ts";
import type { PreviewError } from "./preview.ts";

/** The failures of a preview, with the resource and, of what a check refuses, the rule and the place in it. */
export function failuresOf(errors: readonly PreviewError[]): Failure[] {
  return errors.map(({ urn, message }) => {
    const { type, name } = parseUrn(urn);
    if (type !== ruleType && type !== setType) return { message };
    return { message, resource: `${type.split(":").at(-1)} ${name}`, ...refusedIn(message, type === setType, name) };
  });
}

/** How an engine says that a check refuses a property: Pulumi's, and the local one. */
const refusals = [
  /^\S+ resource '.*?': property (.+?) value [\s\S]* has a problem: /,
  /^.* is not valid: property "(.+?)": /,
];
/** Of a MerchantRule that is a JSON text a check names no property. */
const refusedText = /(?: has a problem| is not valid): the JSON text /;
/** The place in a JSON text that a check refuses. */
const inText = /: the JSON text at line \d+, column \d+: (\S+) /;

function refusedIn(message: string, isSet: boolean, name: string): Pick<Failure, "key" | "path"> {
  const property = refusals.map((form) => form.exec(message)?.[1]).find((found) => found !== undefined);
  const { field } = isSet ? setShape : ruleShape;
  const [first, ...path] = pathIn(property ?? (!isSet && refusedText.test(message) ? field : "")) ?? [];
  if (first !== field) return {};
  const [key, ...within] = isSet ? path : [name, ...path];
  if (key === undefined) return {};
  const place = within.length > 0 ? within : (pathIn(inText.exec(message)?.[1] ?? "") ?? []);
  return { key: String(key), ...(place.length === 0 ? {} : { path: pathOf(place) }) };
}
