import {
  isExactNumber,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Path,
  pathOf,
  walk,
} from "../json/index.ts";

/** Writes a body as `application/x-www-form-urlencoded`: what objects and arrays hold stands in brackets, `a[b][0]=`. */
export function formText(body: JsonObject): string {
  const form = new URLSearchParams();
  walk(body, (value, { path }) => {
    const [first, ...rest] = path;
    if (typeof value !== "object" || isExactNumber(value))
      form.append(`${first}${rest.map((name) => `[${name}]`).join("")}`, String(value));
  });
  return form.toString();
}

/** Returns why a body cannot be a form; undefined where it can. A form has strings alone: no null, nothing empty, no brackets in names. */
export function notInForm(body: JsonObject): string | undefined {
  return walk(body, (value: Json, { path }) => {
    const what = faultOf(value, path);
    return what === undefined ? undefined : `${pathOf([...path])} ${what}, which a form cannot carry`;
  });
}

function faultOf(value: Json, path: Path): string | undefined {
  if (/[[\]]/.test(String(path.at(-1) ?? ""))) return "has a bracket in its name";
  if (value === null) return "is null";
  if (path.length === 0) return undefined;
  if (isJsonArray(value) && value.length === 0) return "is an empty list";
  return isJsonObject(value) && Object.keys(value).length === 0 ? "is an empty object" : undefined;
}
