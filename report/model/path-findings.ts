import { type differences, isMask, pathOf, withoutMasks } from "../../sdk/json/index.ts";
import type { PathFinding } from "./report.ts";

type Difference = ReturnType<typeof differences>[number];

/**
 * Differences between definitions with masks, as reports have them: what is masked on one side at least is secret, and what
 * holds a secret further inside has `[secret]` there.
 */
export function pathFindingsOf(found: readonly Difference[]): PathFinding[] {
  return found.map(({ path, before, after }) => {
    const secret = isMask(before) || isMask(after) ? { secret: true as const } : {};
    return {
      path: pathOf(path),
      ...secret,
      ...(before === undefined ? {} : { before: withoutMasks(before) }),
      ...(after === undefined ? {} : { after: withoutMasks(after) }),
    };
  });
}
