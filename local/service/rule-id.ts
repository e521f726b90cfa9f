import { randomInt } from "node:crypto";

/**
 * Makes ruleIds of 12 letters and digits, short enough to read and to type, that sort by age: the milliseconds since 1970,
 * none used twice, and an ending by which two services differ, so that neither knows the other's rules.
 */
export function ruleIdMaker(now: () => number): () => string {
  const ending = randomInt(36 ** 4)
    .toString(36)
    .padStart(4, "0");
  let last = 0;
  return () => {
    last = Math.max(now(), last + 1);
    return last.toString(36).padStart(8, "0") + ending;
  };
}
