import type { Word } from "../../provider/hooks/planned-changes.ts";
import { markIn, ownerIn } from "../../provider/merchant/mark.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import { defined, type Json, type JsonObject, masked, withoutMasks } from "../../sdk/json/index.ts";
import { printable, printableJson } from "../../sdk/json/printable.ts";
import type { PathFinding } from "../model/report.ts";
import { sidesOf } from "../words/report-words.ts";

/** One rule in a page of rules, as its script wants it: whatever is foreign is printable. */
export interface RuleRow {
  /** Its own in the page. */
  readonly id: string;
  readonly name: string;
  /** In a word: `declared`, `drifted`; empty where it says nothing. */
  readonly state: string;
  readonly weight: Word["weight"];
  /** Where it is declared, its id, whose it is. */
  readonly about: readonly string[];
  readonly connection: string;
  /** What the rule says, a line for each that the definition holds. Absent where that is not known. */
  readonly words?: string;
  /** The rule as JSON on several lines; empty where it is not known. */
  readonly text: string;
  /** A difference: the path and both sides, in words. */
  readonly paths: readonly (readonly [path: string, before: string, after: string])[];
}

const mostOfName = 200;
const mostOfValue = 2_000;

/** Parts of a row, in which foreign texts are as they are. `definition` has masks in the place of secrets. */
interface RowParts extends Pick<RuleRow, "id" | "name" | "state" | "weight" | "about" | "connection"> {
  readonly words?: string | undefined;
  readonly definition: Json | undefined;
  readonly paths: readonly PathFinding[];
}

export function ruleRow({ name, about, connection, words, definition, paths, ...as }: RowParts): RuleRow {
  return {
    ...as,
    name: printable(name, mostOfName) || "(no name)",
    about: about.map((text) => printable(text, mostOfName)),
    connection: printable(connection, mostOfName),
    ...defined({
      words: words
        ?.split("\n")
        .map((line) => printable(line))
        .join("\n"),
    }),
    text: definition === undefined ? "" : printableJson(withoutMasks(definition), 2),
    paths: paths.map((difference) => {
      const { path, before, after } = sidesOf(difference, mostOfValue);
      return [path, before, after];
    }),
  };
}

/** Makes the row of a rule as a service keeps it under a contract. */
export function liveRow({ ruleId, rule }: { ruleId: string; rule: JsonObject }, contract: Contract): RuleRow {
  const mark = markIn(rule, contract);
  return ruleRow({
    id: ruleId,
    name: naturalKeyText(rule, contract) ?? ruleId,
    state: "",
    weight: "quiet",
    about: [`id ${ruleId}`, ...(mark === undefined ? [] : [`owner ${ownerIn(mark)}`])],
    connection: defaultConnection,
    definition: masked(rule, contract.rule.secret, contract.rule),
    paths: [],
  });
}
