import { printable } from "../../sdk/json/printable.ts";
import { type Pulled, patchOf } from "./plan-pull.ts";

const words = {
  remove: { symbol: "-", counted: "to remove", done: "removed" },
  "leave out": { symbol: "-", counted: "to leave out", done: "left out" },
  change: { symbol: "~", counted: "to change", done: "changed" },
  add: { symbol: "+", counted: "to add", done: "added" },
  "by hand": { symbol: "!", counted: "by hand", done: "by hand" },
} as const satisfies Record<Pulled["verb"], unknown>;

const mostOfValue = 10_000;

/** Says what is to be done, rule by rule, each with its patch. */
export function linesOf(plan: readonly Pulled[]): string[] {
  return plan.flatMap(({ verb, name, about, differences }) => [
    `  ${words[verb].symbol} ${verb}  ${printable(name, 120)}  ${about.map((each) => printable(each, 400)).join(", ")}`,
    ...differences.flatMap(patchOf).map((line) => `      ${printable(line, mostOfValue)}`),
  ]);
}

/** Facts for the verdict on a pull. */
interface About {
  readonly title: string;
  /** After a write, the rules whose files stayed; undefined where nothing was to be written. */
  readonly kept: ReadonlySet<Pulled> | undefined;
  /** Number of rules in the files that the stack's state does not know. */
  readonly unmade: number;
  /** True where the state knows no rule at all. */
  readonly isEmpty: boolean;
}

export function verdictOf(plan: readonly Pulled[], { title, kept, unmade, isEmpty }: About): string {
  const about = `Pull of ${printable(title, 100)}:`;
  const rules = unmade === 1 ? "1 rule of the files is" : `${unmade} rules of the files are`;
  const toMake =
    unmade === 0 ? "" : `${rules} not in the stack's state: run \`pulumi up\` to make ${unmade === 1 ? "it" : "them"}`;
  if (plan.length === 0 && isEmpty)
    return `${about} nothing to pull, the stack's state has no rules${toMake === "" ? "" : `. ${toMake}`}`;
  if (plan.length === 0)
    return `${about} nothing to ${toMake === "" ? "do" : "pull"}, the files say what is live${toMake === "" ? "" : ` of the other rules. ${toMake}`}`;
  const counts = Object.entries(words).flatMap(([verb, { counted, done }]) => {
    const all = plan.filter((each) => each.verb === verb);
    const left = all.filter((each) => kept === undefined || kept.has(each)).length;
    return [
      ...(all.length > left ? [`${all.length - left} ${done}`] : []),
      ...(left > 0 ? [`${left} ${counted}`] : []),
    ];
  });
  const isWritable = plan.some(({ files }) => files.length > 0);
  const what = kept === undefined ? (isWritable ? ". Nothing was written: --yes writes it" : "") : "";
  const removal = (kept?.size ?? 0) > 0 ? ". Files of missing rules stay: --remove-missing takes them out" : "";
  return `${about} ${counts.join(", ")}${what}${removal}${toMake === "" ? "" : `. ${toMake}`}`;
}

/** The most ids that a program is asked to name. */
const mostIds = 20;

/** Says what to run after the files were written. @param command gives the words that run a verb of the stack's engine */
export function nextSteps(
  written: readonly Pulled[],
  resource: string | undefined,
  command: (verb: string) => string,
): string[] {
  if (!written.some(({ files }) => files.length > 0)) return [];
  const added = written.filter(({ verb }) => verb === "add");
  const isTaken = written.some(({ verb, files }) => verb !== "add" && files.length > 0);
  const set = resource === undefined ? "the set that reads the folder" : `MerchantRuleSet ${resource}`;
  const ids = added
    .slice(0, mostIds)
    .map(({ key = "", ruleId = "" }) => `${JSON.stringify(key)}: ${JSON.stringify(ruleId)}`);
  if (added.length > ids.length) ids.push("…");
  return [
    "Next:",
    ...(isTaken ? [`  ${command("refresh")}     # takes the live values into the state, too`] : []),
    ...(added.length === 0
      ? []
      : [
          `  in the program, for one run: ${set} takes them over with adopt: ${printable(`{ ${ids.join(", ")} }`, 4_000)}`,
        ]),
    added.length === 0
      ? `  ${command("preview")}     # shows no change`
      : `  ${command("preview")}     # shows what is taken over, and no other change`,
  ];
}
