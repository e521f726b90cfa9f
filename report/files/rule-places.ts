import { placeOf, type RulePlace, type RuleSource, readRuleFolder } from "../../sdk/files/rule-folder.ts";
import type { Path } from "../../sdk/json/index.ts";
import { pathIn } from "../../stack/values/path.ts";
import type { Failure, Finding, Report, Violation } from "../model/report.ts";

/** A folder of rule files, and the resource that declares what they hold. */
export interface RuleFolder {
  /** The resource's name in the program. Default: every resource of rules. */
  readonly resource?: string | undefined;
  readonly folder: string;
  /** The folder of what one environment has otherwise. Default: none. */
  readonly overlay?: string | undefined;
}

/** A folder with its rules by key. */
export interface ReadFolder extends RuleFolder {
  readonly rules: ReadonlyMap<string, RuleSource>;
}

/** A rule by the names that findings have. */
export interface DeclaredName {
  /** `MerchantRuleSet all`. */
  readonly resource?: string | undefined;
  /** Its key in a set; a resource of one rule has none. */
  readonly key?: string | undefined;
}

/** The files of rules that a stack declares: from a resource and a key to a file and a line. */
export class DeclaredPlaces {
  readonly folders: readonly ReadFolder[];

  /** Reads all files of the folders. @throws MerchantRulesError RULE_INVALID: one cannot be read as rules */
  constructor(folders: readonly RuleFolder[]) {
    this.folders = folders.map((each) => ({ ...each, rules: readRuleFolder(each.folder, each.overlay) }));
  }

  /**
   * Finds the files of a rule. Of a resource of one rule, the resource's name is the key. A folder that is given for the
   * resource goes before those that are given for all.
   * @returns undefined where no file is the rule's, or where it cannot be told which of several is
   */
  sourceOf({ resource = "", key }: DeclaredName): (RuleSource & { readonly folder: ReadFolder }) | undefined {
    const name = resource.replace(/^\S+ /, "");
    for (const wanted of [name, undefined]) {
      const [found, ...others] = this.folders
        .filter((folder) => folder.resource === wanted)
        .flatMap((folder) => {
          const source = folder.rules.get((key ?? name).normalize("NFC"));
          return source === undefined ? [] : [{ ...source, folder }];
        });
      if (found !== undefined) return others.length === 0 ? found : undefined;
    }
    return undefined;
  }

  /** Finds the place of the value at a path of a rule, or of the nearest one around it that is written down. */
  placeOf(rule: DeclaredName, path: Path = []): RulePlace | undefined {
    const source = this.sourceOf(rule);
    return source === undefined ? undefined : placeOf(source, path);
  }
}

/**
 * Returns a report whose findings, violations and failures say where the rules are declared: at the first path that differs,
 * or that a policy names, else where the rule begins.
 */
export function withPlaces(report: Report, places: DeclaredPlaces): Report {
  const findings = report.findings.map((finding): Finding => {
    const place = places.placeOf(finding, pathIn(finding.paths[0]?.path ?? "") ?? []);
    return place === undefined ? finding : { ...finding, ...place };
  });
  const placed = <Said extends Violation | Failure>(said: Said): Said => {
    const { resource, key, path = "" } = said;
    return key === undefined ? said : { ...said, ...places.placeOf({ resource, key }, pathIn(path)) };
  };
  return { ...report, findings, violations: report.violations.map(placed), errors: report.errors.map(placed) };
}
