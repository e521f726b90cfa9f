import { type Mark, markOf } from "./mark.ts";
import type { Place } from "./place.ts";
import type { KnownRule } from "./plan.ts";
import type { Task } from "./task.ts";

/** The mark that this resource writes; undefined where nobody has said whose it is. */
export function ownMark({ of, key, place }: Task): Mark | undefined {
  if (place.contract.rule.owner === null || of.connection === undefined || of.owner === "") return undefined;
  return markOf(of.connection.ownerId, of.owner, key);
}

/** The state's note of a mark that was written or seen; nothing where the contract has no place for marks. */
export function seenMark(mark: Mark | undefined, { contract }: Place): Pick<KnownRule, "mark"> {
  return contract.rule.owner === null ? {} : { mark: mark?.place ?? null };
}
