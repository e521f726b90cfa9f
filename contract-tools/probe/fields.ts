import { drivenFields } from "../../sdk/contract/index.ts";
import {
  asWritten,
  defined,
  isEqual,
  isJsonArray,
  isJsonObject,
  isMaskedText,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pointerOf,
} from "../../sdk/json/index.ts";
import { formNames, isOfForm, type NormalForm } from "../../sdk/json/normal-form.ts";
import type { Made } from "./create.ts";
import type { Probing } from "./known.ts";
import { fingerprint } from "./response-parts.ts";

/** A field that is shown otherwise than it was sent. */
export interface Deviation {
  readonly at: Pointer;
  readonly is: "added" | "missing" | "in another form" | "in another order" | "masked" | "changed";
  /** Those of `rule.forms` in which both values are equal. */
  readonly form?: NormalForm["is"];
}

/** Returns how a rule as it is shown differs from what was sent: added fields at its top, all else at every depth. */
export function deviations(sent: JsonObject, shown: JsonObject): Deviation[] {
  const added = Object.keys(shown).filter((name) => !Object.hasOwn(sent, name));
  const found: Deviation[] = added.map((name) => ({ at: pointerOf([name]), is: "added" }));
  const step = (one: Json, other: Json | undefined, path: Path): void => {
    const at = pointerOf(path.map((part) => (typeof part === "number" ? "*" : part)));
    if (other === undefined) found.push({ at, is: "missing" });
    else if (isEqual(one, other, asWritten)) return;
    else if (isJsonObject(one) && isJsonObject(other))
      for (const [name, value] of Object.entries(one)) step(value, other[name], [...path, name]);
    else if (isJsonArray(one) && isJsonArray(other)) {
      if (sorted(one) === sorted(other)) found.push({ at, is: "in another order" });
      else if (one.length === other.length)
        one.forEach((value, index) => void step(value, other[index], [...path, index]));
      else found.push({ at, ...formOf(one, other, path) });
    } else found.push({ at, ...formOf(one, other, path) });
  };
  for (const [name, value] of Object.entries(sent)) step(value, shown[name], [name]);
  return found.filter(({ at }, index) => found.findIndex((each) => each.at === at) === index);
}

function formOf(sent: Json, shown: Json, path: Path): Pick<Deviation, "is" | "form"> {
  const at = pointerOf(path);
  const form = formNames.find(
    (is) => isOfForm(sent, is) && isEqual(sent, shown, { unordered: [], forms: [{ at, is }] }, path),
  );
  if (form === undefined) return { is: isMaskedText(shown) && !isMaskedText(sent) ? "masked" : "changed" };
  return { is: "in another form", form };
}

function sorted(array: readonly Json[]): string {
  return array.map(fingerprint).sort().join();
}

/** Reads how the first rule is shown otherwise than it was sent. @returns fields that the service adds, with their values */
export async function probeFields({ findings, sandbox, told }: Probing, { own }: Made): Promise<JsonObject> {
  const sight = (await sandbox.look()).own.get(own);
  const shown = sandbox.ruleIn(sight);
  if (sight === undefined || shown === undefined) return {};
  const { rule } = told.connection.contract;
  const apart = [...findings.pointersAt("/rule/id"), ...drivenFields(told.connection.contract), ...rule.writeOnly];
  const found = deviations(own.definition, shown).filter(({ at }) => !apart.includes(at));
  const inOrder = found.filter(({ is }) => is === "in another order").map(({ at }) => at);
  if (inOrder.length > 0)
    findings.fact(
      "/rule/unordered",
      [...new Set([...rule.unordered, ...inOrder])],
      `${sight.said}: shown in another order than sent`,
    );
  const forms = found.flatMap(({ at, form }) => (form === undefined ? [] : [{ at, is: form }]));
  if (forms.length > 0)
    findings.fact(
      "/rule/forms",
      [...rule.forms.filter(({ at }) => !forms.some((form) => form.at === at)), ...forms].map(plain),
      `${sight.said}: shown in another form than sent`,
    );
  else if (rule.forms.length === 0 && found.every(({ is }) => is === "added" || is === "in another order"))
    findings.fact("/rule/forms", [], `${sight.said}: each value of the definition is shown as it was sent`);
  const hidden = found.filter(({ is }) => is === "masked").map(({ at }) => at);
  if (hidden.length > 0)
    findings.fact("/rule/writeOnly", [...new Set([...rule.writeOnly, ...hidden])], `${sight.said}: shown masked`);
  const words = {
    missing:
      "not shown after it was sent; leave it out of definitions, or, where the service keeps it all the same, name it in rule.writeOnly",
    changed: "shown with another value after it was sent; leave it out of definitions, or find out its form",
  };
  for (const { at, is } of found)
    if (is === "missing" || is === "changed") findings.gap(`/rule/forms${at}`, `${sight.said}: it is ${words[is]}`);
  const added = found.flatMap(({ at, is }) => (is === "added" ? [at] : []));
  return Object.fromEntries(Object.entries(shown).filter(([name]) => added.includes(pointerOf([name]))));
}

function plain({ at, is, default: fallback }: NormalForm): Json {
  return defined({ at, is, default: fallback });
}
