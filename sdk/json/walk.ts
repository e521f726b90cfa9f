import { isExactNumber } from "./exact-number.ts";
import type { Json } from "./json-types.ts";

/** The names and indices that lead from a value to one inside it, outermost first. */
export type Path = readonly (string | number)[];

/** Formats a path so that it reads like code: `conditions[0].value`. `start` stands before it. */
export function pathOf(path: Path, start = ""): string {
  return path.reduce<string>(joinPath, start);
}

/** Formats a path that is one step longer than the formatted `path`: `a.b[0]["odd key"]`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return path === "" ? key : `${path}.${key}`;
  return `${path}[${JSON.stringify(key)}]`;
}

/** The position of a walk: one object, whose fields change with every step. Copy the path to keep it. */
export interface Here {
  readonly path: Path;
  /** True where the value is part of itself. The walk does not enter it again. */
  readonly isCycle: boolean;
}

type Visit<Value, Found> = (value: Value, here: Here) => Found | undefined;

/** The walk goes no deeper: enough for all that is read as JSON, too little to overflow the stack. */
const mostLevels = 1000;

/**
 * Calls `visit` on a value and on everything in it, each value before its children, and ends as soon as `visit` gives a
 * result other than undefined.
 * @returns that result; undefined after a walk to the end
 */
export function walk<Found>(root: Json, visit: Visit<Json, Found>): Found | undefined;
export function walk<Found>(root: unknown, visit: Visit<unknown, Found>): Found | undefined;
export function walk<Value, Found>(root: Value, visit: Visit<Value, Found>): Found | undefined {
  const path: (string | number)[] = [];
  const above: object[] = [];
  const here = { path, isCycle: false };

  function step(value: Value): Found | undefined {
    const inside: object | null = typeof value === "object" && !isExactNumber(value) ? value : null;
    const isCycle = inside !== null && above.includes(inside);
    here.isCycle = isCycle;
    const found = visit(value, here);
    if (found !== undefined || inside === null || isCycle || path.length >= mostLevels) return found;
    above.push(inside);
    for (const key of Array.isArray(inside) ? inside.keys() : Object.keys(inside)) {
      path.push(key);
      const child: Value = Reflect.get(inside, key);
      const below = step(child);
      if (below !== undefined) return below;
      path.pop();
    }
    above.pop();
    return undefined;
  }

  return step(root);
}

/** Decides whether a value, or anything in it, passes the test. */
export function contains(value: Json | undefined, test: (value: Json) => boolean): boolean {
  return value !== undefined && walk(value, (each) => test(each) || undefined) === true;
}
