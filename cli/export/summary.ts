import { printable } from "../../sdk/json/printable.ts";
import type { StackIdentity } from "../../stack/open/stack-identity.ts";
import type { ExportedRule } from "./exported-rule.ts";
import { firstOf, type ReadRules } from "./rules.ts";

/** The result of an export. */
interface Done {
  readonly read: ReadRules;
  readonly files: readonly string[];
  readonly out: string;
  readonly rulesFolder: string;
  /** Rules that are not in import.json. */
  readonly uncovered: readonly ExportedRule[];
  /** Rule files beside those that were written. */
  readonly others: readonly string[];
  readonly identity: StackIdentity | undefined;
}

/** Says what an export did: the files, the rules left out, and the names that are not the rules' own. */
export function summary({ read, files, out, rulesFolder, uncovered, others, identity }: Done): string[] {
  const { rules, total, mayBeCut, passedOver, leftOut, renamed } = read;
  const inFolder = files.filter((file) => file.startsWith(rulesFolder) && file.endsWith(".yaml"));
  const single = files.filter((file) => !inFolder.includes(file));
  const names = [
    ...(inFolder.length === 0 ? [] : [`${rulesFolder}/ (${counted(inFolder.length, "file")})`]),
    ...single,
  ];
  const lines = [
    `Exported ${rules.length} of ${counted(total, "rule")} to ${out}: ${names.join(", ")}`,
    ...(mayBeCut === undefined ? [] : [`Warning: ${mayBeCut}`]),
    ...passedOver.map((line) => `Passed over: ${line}`),
    ...(leftOut.length === 0 ? [] : [`Not in the definitions, because the service sets them: ${leftOut.join(", ")}`]),
    ...listed(
      renamed.map(
        ({ ruleId, title, key, why }) => `  ${JSON.stringify(title ?? ruleId)} (${ruleId}) is ${key}: ${reasons[why]}`,
      ),
      "Names that are not the rules' own:",
    ),
    ...(others.length === 0
      ? []
      : listed(
          others.map((file) => `  ${file}`),
          "Not of this export, but loadRules reads them too:",
        )),
    ...withoutImport(uncovered, rules.length, identity),
  ];
  return lines.map((line) => printable(line));
}

const reasons = {
  "not usable as it is": "it is to be a key and a file name",
  "another rule has it": "another rule has that name",
};

function withoutImport(uncovered: readonly ExportedRule[], all: number, identity: StackIdentity | undefined): string[] {
  if (uncovered.length === 0) return [];
  if (identity === undefined)
    return [
      "There is no import.json, because no project is here: give --stack, and --cwd with the folder of a Pulumi.yaml",
    ];
  const what =
    uncovered.length === all
      ? "There is no import.json"
      : `${counted(uncovered.length, "rule")} of them ${uncovered.length === 1 ? "is" : "are"} not in import.json`;
  return [
    `${what}: it would show secrets (rule.secret), which can be encrypted here only with the key of a stack that exists already: its salt in Pulumi.<stack>.yaml (\`pulumi stack init\`, or a first \`up\`, makes it), and its passphrase in PULUMI_CONFIG_PASSPHRASE`,
  ];
}

function listed(lines: readonly string[], title: string): string[] {
  return lines.length === 0 ? [] : [title, ...firstOf(lines)];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
