/** The names and indices that lead from a value to one inside it, outermost first. */
export type Path = readonly (string | number)[];

/** A path as text that reads like code: `conditions[0].value`; after `start`, where that is given. */
export function pathOf(path: Path, start = ""): string {
  return path.reduce<string>(joinPath, start);
}

/** The text of a path that is one step longer: `a.b[0]["odd key"]`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return path === "" ? key : `${path}.${key}`;
  return `${path}[${JSON.stringify(key)}]`;
}
