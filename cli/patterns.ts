import { InvalidArgumentError } from "commander";
import { type RulePattern, rulePattern } from "../report/files/rule-pattern.ts";

/** Reads an option that takes patterns of rules' names. */
export function andPattern(text: string, patterns: readonly RulePattern[] = []): readonly RulePattern[] {
  const pattern = rulePattern(text);
  if (typeof pattern === "string") throw new InvalidArgumentError(`It ${pattern}.`);
  return [...patterns, pattern];
}
