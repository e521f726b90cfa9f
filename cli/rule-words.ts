import { contractsBy } from "../provider/settings/contract-source.ts";
import { defaultConnection } from "../provider/settings/setting-names.ts";
import type { SettingsSources } from "../provider/settings/sources.ts";
import type { Report } from "../report/model/report.ts";
import { type ViolatingRule, type Wording, withRuleWords } from "../report/words/rule-words.ts";
import type { Contract } from "../sdk/contract/index.ts";
import { isMerchantRulesError } from "../sdk/errors.ts";

interface Wordings {
  readonly of: (connection: string | undefined) => Wording | undefined;
  /** Why rules are not in words, where the semantics that a contract names cannot be used. */
  readonly notes: readonly string[];
}

/** The settings by which the meaning of rules is found. */
export interface WordsOptions {
  readonly sources: SettingsSources;
  /** The contract of a connection, where it is known already. Default: read by the settings. */
  readonly contractOf?: (connection: string) => Contract | undefined;
}

/**
 * Reads what the rules of some connections mean, to put them into words. Of a contract without semantics nothing is loaded.
 * @throws MerchantRulesError as declaredContract
 */
export async function wordingsOf(
  connections: Iterable<string | undefined>,
  { sources, contractOf = contractsBy(sources) }: WordsOptions,
): Promise<Wordings> {
  const known = new Map<string, Wording>();
  const notes: string[] = [];
  for (const name of new Set([...connections].map((connection = defaultConnection) => connection))) {
    const contract = contractOf(name);
    if (contract === undefined || contract.semantics === null) continue;
    const [{ semanticsOf }, { wordingBy }] = await Promise.all([
      import("../report/meaning/semantics-file.ts"),
      import("../report/meaning/wording.ts"),
    ]);
    try {
      known.set(name, wordingBy(semanticsOf(contract, sources, "put rules into words", name), contract));
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      const [first, ...others] = error.lines;
      const left = others.length === 0 ? "" : ` (and ${others.length} more)`;
      const which = first === undefined ? "" : ` ${first}${left}`;
      notes.push(
        `Rules are not in words: ${error.reason}${which}. \`npx --no-install merchant-rules contract check\` shows all that is wrong`,
      );
    }
  }
  return { of: (connection = defaultConnection) => known.get(connection), notes };
}

/**
 * Puts the rules of a report into words, where the contract says what rules mean; else returns the report as it is.
 * @throws MerchantRulesError as declaredContract
 */
export async function withWords(
  report: Report,
  { violatingRule, ...options }: WordsOptions & { readonly violatingRule?: ViolatingRule },
): Promise<Report> {
  const shown = report.findings.flatMap(({ rule, connection }) => (rule === undefined ? [] : [connection]));
  const violating = report.violations.flatMap((violation) => violatingRule?.(violation)?.connection ?? []);
  const { of, notes } = await wordingsOf([...shown, ...violating], options);
  return withRuleWords({ ...report, notes: [...report.notes, ...notes] }, of, violatingRule);
}
