import { printable, printableLines } from "../../../sdk/json/printable.ts";
import { stackType } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import type { PropertyValue } from "../../../stack/values/value.ts";
import { hasChanges, isPartOfReplacement, type RunEvent, type Step, type StepOp } from "../deploy/step.ts";
import type { RunResult, Verb } from "../run/run.ts";
import { allProperties, type ChangedPath, changedPaths } from "./changed-paths.ts";
import { policyLines } from "./policy-lines.ts";
import { formatValue, printable as shownValue } from "./printable.ts";

interface TextOptions {
  readonly verb: Verb;
  /** True where the properties of created and deleted resources are shown, too. */
  readonly diff: boolean;
  readonly color: boolean;
  readonly print: (line: string) => void;
}

/** Shows a run as it goes: a line for each change, its paths, then outputs and a summary; a preview as a tree. */
export class TextDisplay {
  readonly #options: TextOptions;
  readonly #planned: Step[] = [];

  constructor(options: TextOptions) {
    this.#options = options;
  }

  onEvent(event: RunEvent): void {
    if (event.kind === "start") this.#print(`${title(this.#options.verb, event.preview)} (${event.stack}):`);
    else if (event.kind === "step" && event.preview) this.#planned.push(event.step);
    else if (event.kind === "done") this.#done(event);
    else if (event.kind === "diagnostic") this.#diagnostic(event);
  }

  finish(result: RunResult): void {
    this.#tree();
    for (const { symbol, text } of policyLines(result.policies)) this.#print(text, symbol);
    const outputs = Object.entries(result.outputs);
    if (outputs.length > 0) {
      this.#print("Outputs:");
      for (const output of outputs) for (const line of outputLines(...output)) this.#print(`  ${line}`);
    }
    this.#print(`Resources: ${summaryLine(result)}`);
    if (result.cancelled)
      this.#print(`Cancelled: ${result.preview ? "this is not the whole preview" : "the next run does the rest"}`);
    if (result.policies.violations.some(({ level }) => level === "mandatory")) {
      const so = result.preview ? "nothing was done" : "the run stopped";
      this.#print(`error: a mandatory policy is violated: ${so}`, "-");
    }
    this.#print(`Duration: ${(result.durationMs / 1000).toFixed(1)} s`);
  }

  /** Shows the end of a step. The parts of a replacement are one line; only what fails in it shows by itself. */
  #done({ step, failed, durationMs }: Extract<RunEvent, { kind: "done" }>): void {
    if (failed) this.#step(step, "  failed");
    else if (!isPartOfReplacement(step.op)) this.#step(step, secondsOf(durationMs));
  }

  /** Prints the plan, children beneath their parents. An unchanged resource is shown only above one that changes. */
  #tree(): void {
    const steps = this.#planned.filter(({ op }) => !isPartOfReplacement(op));
    // A resource that is read first has two steps.
    const last = new Map(steps.map((step) => [step.urn, step]));
    const parentOf = ({ old, new: now }: Step): string => {
      const { parent } = now ?? old ?? { parent: "" };
      return last.has(parent) && !parent.includes(`::${stackType}::`) ? parent : "";
    };
    const children = Map.groupBy(steps, parentOf);
    const childrenOf = (step: Step): Step[] =>
      last.get(step.urn) === step ? (children.get(step.urn) ?? []).filter(isShown) : [];
    const isShown = (step: Step): boolean => shownOps[step.op] !== undefined || childrenOf(step).length > 0;
    const show = (step: Step, depth: number): void => {
      const indent = "  ".repeat(depth);
      if (shownOps[step.op] === undefined) this.#print(`             ${indent}${describe(step.urn)}`);
      else this.#step(step, "", indent);
      for (const child of childrenOf(step)) show(child, depth + 1);
    };
    for (const step of children.get("")?.filter(isShown) ?? []) show(step, 0);
  }

  #step(step: Step, suffix: string, indent = ""): void {
    const shown = shownOps[step.op];
    if (shown === undefined) return;
    const [symbol, does] = shown;
    const word = step.isRead === true ? (step.op === "delete" ? "gone" : "drifted") : does;
    this.#print(`  ${symbol.padEnd(2)} ${word.padEnd(7)} ${indent}${describe(step.urn)}${suffix}`, symbol);
    for (const { symbol: mark, text } of this.#details(step)) this.#print(`       ${indent}${mark} ${text}`, mark);
  }

  #details(step: Step): ChangedPath[] {
    if (step.op === "update" || step.op === "replace")
      return changedPaths(step.old?.inputs ?? {}, step.new?.inputs ?? {}, step.detailedDiff);
    if (!this.#options.diff) return [];
    if (step.op === "create") return allProperties(step.new?.inputs ?? {}, "+");
    return step.op === "delete" ? allProperties(step.old?.inputs ?? {}, "-") : [];
  }

  #diagnostic({ severity, message, urn }: Extract<RunEvent, { kind: "diagnostic" }>): void {
    if (message.trim() === "") return;
    const about = urn === undefined ? "" : `${printable(describe(urn))}: `;
    const [word, symbol] = severity === "info" ? ["", ""] : [`${severity}: `, severity === "error" ? "-" : "~"];
    const [first = "", ...more] = printableLines(`${word}${about}${message}`);
    this.#print(`  ${first}`, symbol);
    const indent = word === "" && about === "" ? "  " : "    ";
    for (const line of more) this.#print(`${indent}${line}`);
  }

  /** Prints a line. Every line goes this way: names, values and messages in it are foreign text. */
  #print(line: string, symbol = ""): void {
    const { print, color } = this.#options;
    print(paint(symbol, printable(line), color));
  }
}

const longestOutput = 98;

function outputLines(name: string, value: PropertyValue): string[] {
  const line = `${name}: ${formatValue(value)}`;
  if (line.length <= longestOutput) return [line];
  const [first = "", ...more] = JSON.stringify(shownValue(value), null, 2).split("\n");
  return [`${name}: ${first}`, ...more];
}

/** Paints a line in the color of its symbol; without one it stays as it is. */
export function paint(symbol: string, text: string, color: boolean): string {
  if (!color || symbol === "") return text;
  const code = symbol.startsWith("+-") ? 35 : symbol.startsWith("+") ? 32 : symbol.startsWith("-") ? 31 : 33;
  return `\u001b[${code}m${text}\u001b[0m`;
}

const shownOps: { readonly [op in StepOp]?: readonly [symbol: string, word: string] } = {
  create: ["+", "create"],
  update: ["~", "update"],
  delete: ["-", "delete"],
  replace: ["+-", "replace"],
  "create-replacement": ["++", "create"],
  "delete-replaced": ["--", "delete"],
};

/** Writes the time that a step took; empty below a tenth of a second. */
function secondsOf(durationMs: number): string {
  return durationMs < 100 ? "" : ` (${(durationMs / 1000).toFixed(1)} s)`;
}

/** Returns a resource's name for people: the last part of its type, and its name. */
function describe(urn: string): string {
  const { type, name } = parseUrn(urn);
  return `${type === stackType ? "pulumi:Stack" : type.replace(/^pulumi-nodejs:dynamic\//, "")} ${name}`;
}

function title(verb: Verb, preview: boolean): string {
  const nouns: Record<Verb, string> = { preview: "update", up: "update", refresh: "refresh", destroy: "destroy" };
  const doing: Record<Verb, string> = {
    preview: "Previewing",
    up: "Updating",
    refresh: "Refreshing",
    destroy: "Destroying",
  };
  return preview ? `Previewing ${nouns[verb]}` : doing[verb];
}

/** Counts resources by outcome: `3 created, 1 unchanged`, or `3 to create` in a preview. */
function summaryLine(result: Pick<RunResult, "summary" | "preview" | "verb" | "ok">): string {
  const { summary, preview, verb, ok } = result;
  const words: [StepOp, string, string][] = [
    ["create", "to create", "created"],
    ["update", "to update", "updated"],
    ["replace", "to replace", "replaced"],
    ["delete", "to delete", "deleted"],
    ["same", "unchanged", "unchanged"],
  ];
  const parts = words.flatMap(([op, will, done]) =>
    summary[op] === undefined ? [] : `${summary[op]} ${preview ? will : done}`,
  );
  if (verb !== "destroy") return parts.length === 0 ? "none" : parts.join(", ");
  if (hasChanges(summary)) return parts.join(", ");
  return ok ? "nothing to destroy" : `none ${preview ? "to delete" : "deleted"}`;
}
