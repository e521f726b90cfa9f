import { type Path, type Pointer, segmentsOf } from "../json/index.ts";
import { isOfForm, type NormalForm } from "../json/normal-form.ts";
import { type Contract, idPointers } from "./schema.ts";

/** Notes an issue if the condition is true. What was found is the value at the path, unless it is given. */
export type RefuseIf = (isWrong: boolean, path: Path, allowed: string, found?: string) => void;

/** Refuses normal forms that say nothing, that contradict each other, or that stand where values are compared to the letter. */
export function checkForms({ rule, operations }: Contract, refuseIf: RefuseIf): void {
  const { version = null } = operations.update ?? {};
  const toTheLetter: [string, readonly Pointer[]][] = [
    ["rule.id", idPointers(rule)],
    ["rule.owner", rule.owner === null ? [] : [rule.owner.at]],
    ["operations.update.version", version !== null && "at" in version ? [version.at] : []],
  ];
  for (const [index, form] of rule.forms.entries()) {
    const { at, is, default: fallback } = form;
    const path = ["rule", "forms", index];
    refuseIf(at === "", [...path, "at"], "a pointer to a field or to elements, such as /amount or /conditions/*/value");
    refuseIf(is === undefined && fallback === undefined, path, "is, default or both beside at");
    for (const [name, pointers] of toTheLetter) {
      const isThere = at !== "" && pointers.some((pointer) => reaches(at, pointer));
      refuseIf(isThere, [...path, "at"], `a place apart from ${name}, which is compared as it is written`);
    }
    if (fallback !== undefined) {
      const last = segmentsOf(at).at(-1) ?? "";
      refuseIf(last === "*" || /^\d+$/.test(last), [...path, "at"], "a pointer that ends with the name of a field");
      const isKey = rule.naturalKey !== null && reaches(at, rule.naturalKey);
      refuseIf(isKey, [...path, "default"], "no default: by rule.naturalKey a rule is found, so each has its own");
      const isOther = is !== undefined && !isOfForm(fallback, is);
      refuseIf(isOther, [...path, "default"], `a value of the form ${is}`);
    }
    const isOrdered =
      is === undefined || is === "distinct" || is === "empty" || !rule.unordered.some((pattern) => meets(pattern, at));
    refuseIf(!isOrdered, [...path, "is"], "distinct, because rule.unordered says that an array is there");
    const others = [...rule.forms.entries()].slice(0, index).filter(([, other]) => meets(other.at, at));
    const before = others.find(([, other]) => contradicts(other, form));
    refuseIf(
      before !== undefined,
      path,
      `what goes together with rule.forms.${before?.[0]}, which is about the same place`,
    );
  }
}

/** Decides whether two entries for one place cannot both hold, or the second says nothing new. */
function contradicts(one: NormalForm, other: NormalForm): boolean {
  if (one.default !== undefined && other.default !== undefined) return true;
  if (one.is === undefined || other.is === undefined) return false;
  const both: readonly string[] = [one.is, other.is];
  if (both.includes("empty")) return one.is === other.is;
  return !both.includes("trimmed") || !["lower", "upper"].some((letters) => both.includes(letters));
}

/** Decides whether two patterns can name the same place. */
function meets(one: Pointer, other: Pointer): boolean {
  return segmentsOf(one).length === segmentsOf(other).length && reaches(one, other);
}

/** Decides whether the pattern `above` can name a place that `other` names, or one above that. */
export function reaches(above: Pointer, other: Pointer): boolean {
  const segments = segmentsOf(other);
  return segmentsOf(above).every((segment, index) => {
    const there = segments[index];
    return there !== undefined && (segment === "*" || there === "*" || segment === there);
  });
}
