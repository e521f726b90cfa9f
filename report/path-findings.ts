import {
  type differences,
  isAtOrBelow,
  type Json,
  mapJson,
  type Path,
  type Pointer,
  pathOf,
} from "../sdk/rules/index.ts";
import type { PathFinding } from "./report.ts";

type Difference = ReturnType<typeof differences>[number];

/** The text in the place of a secret inside a value that is shown. */
export const hidden = "[secret]";

/**
 * Differences as reports have them: what lies at or below a secret path has no values, and what holds a secret further
 * inside has `[secret]` there.
 * @param secrets patterns as `rule.secret` of a contract has them
 */
export function pathFindingsOf(found: readonly Difference[], secrets: readonly Pointer[]): PathFinding[] {
  return found.map((difference) => {
    const { path, before, after } = difference;
    if (secrets.some((pattern) => isAtOrBelow(path, pattern))) return { path: pathOf(path), secret: true };
    return {
      path: pathOf(path),
      ...(before === undefined ? {} : { before: withoutSecrets(before, path, secrets) }),
      ...(after === undefined ? {} : { after: withoutSecrets(after, path, secrets) }),
    };
  });
}

function withoutSecrets(value: Json, path: Path, secrets: readonly Pointer[]): Json {
  if (secrets.length === 0) return value;
  const isSecret = (here: Path): boolean => secrets.some((pattern) => isAtOrBelow(here, pattern));
  return mapJson(value, (_, here) => (isSecret(here) ? hidden : undefined), path);
}
