import { defined, type differences, isMask, pathOf, withoutMasks } from "../../sdk/json/index.ts";
import type { PathFinding } from "./report.ts";

type Difference = ReturnType<typeof differences>[number];

/**
 * Returns differences between definitions with masks as reports have them: what is masked on one side at least is secret,
 * and what holds a secret further inside has `[secret]` there.
 */
export function pathFindingsOf(found: readonly Difference[]): PathFinding[] {
  return found.map(({ path, before, after }) => {
    const secret = isMask(before) || isMask(after) ? true : undefined;
    const [was, is] = [before, after].map((side) => (side === undefined ? undefined : withoutMasks(side)));
    return defined({ path: pathOf(path), secret, before: was, after: is });
  });
}
