/** A rule as patterns see it. */
interface NamedRule {
  readonly ruleId: string;
  /** Absent where the rule has none, or where it is secret. */
  readonly naturalKey?: string | undefined;
}

/** The rules that a pattern names. */
export type RulePattern = (rule: NamedRule) => boolean;

/**
 * Reads a pattern of `--include`, `--exclude` and ignore files: a name (the natural key, else the ruleId), or `id:` and a
 * ruleId. `*` stands for any characters and `?` for one; every other character is itself. A name is no path: `*` stands for
 * `/` as well.
 * @returns the pattern, or why the text is none
 */
export function rulePattern(text: string): RulePattern | string {
  const [, pattern] = /^id:(.*)$/s.exec(text) ?? [];
  const name = (pattern ?? text).trim();
  if (name === "") return "names no rule";
  if (name.startsWith("!")) return "takes a rule back with !, which is not supported";
  const escaped = name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const matcher = new RegExp(`^${escaped.replaceAll("\\*", ".*").replaceAll("\\?", ".")}$`, "su");
  return ({ ruleId, naturalKey }) => matcher.test(pattern === undefined ? (naturalKey ?? ruleId) : ruleId);
}
