import { readdirSync } from "node:fs";
import { z } from "zod";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { reasonOf } from "../../sdk/json/json.ts";
import { isRuleAmong } from "./analyzed-rule.ts";
import { optionalPath, ruleNames, strict } from "./configuration.ts";
import { callersFile, plainError } from "./host.ts";

/** Changes that are allowed until the end of a day. */
const allowance = strict({
  rules: ruleNames.default([]).describe("Names of MerchantRules, keys, set/key, or names of sets"),
  folder: optionalPath.describe(
    "A folder of rule files; a relative path begins at the folder in which pulumi was started",
  ),
  until: z
    .string()
    .refine((text) => /^\d{4}-\d\d-\d\d$/.test(text) && endOf(text) !== undefined, {
      error: "allowed: a day such as 2026-12-31",
    })
    .describe("The last day, in UTC"),
}).refine(({ rules, folder }) => rules.length > 0 || folder !== null, {
  error: "names nothing; allowed: rules, a folder, or both",
});

/** The option of allowances. true: everything is allowed, for the first run of a stack. */
export const allowancesOption = z
  .union([z.literal(true), z.array(allowance)])
  .default([])
  .describe("Rules whose changes are allowed until a day, by name or by the folder of their files; true: all changes");

export type Allowance = z.output<typeof allowance>;

interface NamedRule {
  readonly resource: string;
  readonly key: string;
}

/** Which changes are allowed on a day. */
export class Allowances {
  readonly #named: readonly { readonly allowance: Allowance; readonly isOver: boolean }[];
  readonly #keysIn = new Map<string, ReadonlySet<string>>();
  readonly #ofSet: ReadonlyMap<string, readonly string[]>;

  /** @param declared the rules that the program declares: of a set that a folder holds, a rule without a file was removed */
  constructor(allowances: readonly Allowance[], now: Date, declared: readonly NamedRule[]) {
    this.#named = allowances.map((each) => ({ allowance: each, isOver: (endOf(each.until) ?? now) <= now }));
    this.#ofSet = new Map(
      [...Map.groupBy(declared, ({ resource }) => resource)].map(([set, rules]) => [set, rules.map(({ key }) => key)]),
    );
  }

  covers(rule: NamedRule): boolean {
    return this.#named.some(({ allowance: each, isOver }) => !isOver && this.#isOf(rule, each));
  }

  /** Returns the day on which the last allowance of a rule ended; undefined where it had none, or still has one. */
  endedFor(rule: NamedRule): string | undefined {
    if (this.covers(rule)) return undefined;
    const ended = this.#named.filter(({ allowance: each, isOver }) => isOver && this.#isOf(rule, each));
    return ended
      .map(({ allowance: { until } }) => until)
      .sort()
      .at(-1);
  }

  #isOf({ resource, key }: NamedRule, { rules, folder }: Allowance): boolean {
    if (isRuleAmong(rules, resource, key)) return true;
    if (folder === null) return false;
    const files = this.#filesOf(folder);
    if (files.has(key)) return true;
    const left = this.#ofSet.get(resource) ?? [];
    return left.length > 0 && left.every((each) => files.has(each));
  }

  #filesOf(folder: string): ReadonlySet<string> {
    return getOrMake(this.#keysIn, folder, () => keysIn(folder));
  }
}

/** Reads the names of the rule files in a folder, as the keys that loadRules gives them. */
function keysIn(folder: string): ReadonlySet<string> {
  const path = callersFile(folder);
  try {
    return new Set(
      readdirSync(path).flatMap((name) => /^(.+)\.(?:ya?ml|json)$/i.exec(name)?.[1]?.normalize("NFC") ?? []),
    );
  } catch (error) {
    throw plainError(
      `an allowance names the folder ${path}, which cannot be read: ${reasonOf(error)}.\nWhat to do: correct it in the file that --policy-pack-config names.`,
    );
  }
}

/** Returns the end of a day (`2026-12-31`) in UTC; undefined of a day that no calendar has. */
function endOf(day: string): Date | undefined {
  const start = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(start.getTime()) || start.toISOString().slice(0, 10) !== day) return undefined;
  return new Date(start.getTime() + 86_400_000);
}
