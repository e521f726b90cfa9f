import { printable } from "../../sdk/rules/printable.ts";
import { type Pulled, patchOf } from "./plan.ts";

const words = {
  remove: { symbol: "-", counted: "to remove", done: "removed" },
  "leave out": { symbol: "-", counted: "to leave out", done: "left out" },
  change: { symbol: "~", counted: "to change", done: "changed" },
  add: { symbol: "+", counted: "to add", done: "added" },
  "by hand": { symbol: "!", counted: "by hand", done: "by hand" },
} as const satisfies Record<Pulled["verb"], unknown>;

const mostOfValue = 10_000;

/** What is to be done, rule by rule, each with its patch. */
export function linesOf(plan: readonly Pulled[]): string[] {
  return plan.flatMap(({ verb, name, about, differences }) => [
    `  ${words[verb].symbol} ${verb}  ${printable(name, 120)}  ${about.map((each) => printable(each, 400)).join(", ")}`,
    ...differences.flatMap(patchOf).map((line) => `      ${printable(line, mostOfValue)}`),
  ]);
}

/** @param kept after a write, the rules whose files stayed; undefined where nothing was to be written */
export function verdictOf(plan: readonly Pulled[], title: string, kept: ReadonlySet<Pulled> | undefined): string {
  const about = `Pull of ${printable(title, 100)}:`;
  if (plan.length === 0) return `${about} nothing to do, the files say what is live`;
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
  return `${about} ${counts.join(", ")}${what}${removal}`;
}

/** The most ids that a program is asked to name. */
const mostIds = 20;

/** What to run after the files were written. */
export function nextSteps(written: readonly Pulled[], resource: string | undefined): string[] {
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
    ...(isTaken ? ["  pulumi refresh     # takes the live values into the state, too"] : []),
    ...(added.length === 0
      ? []
      : [
          `  in the program, for one run: ${set} takes them over with adopt: ${printable(`{ ${ids.join(", ")} }`, 4_000)}`,
        ]),
    added.length === 0
      ? "  pulumi preview     # shows no change"
      : "  pulumi preview     # shows what is taken over, and no other change",
  ];
}
