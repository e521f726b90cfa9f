import { hasChanges, type RunEvent, type Step, type StepOp } from "../deploy/step.ts";
import { parseUrn } from "../deploy/urn.ts";
import type { RunResult, Verb } from "../run.ts";
import { stackType } from "../state/resource-state.ts";
import { allProperties, type ChangedPath, changedPaths } from "./paths.ts";
import { formatValue, printable } from "./printable.ts";

export interface TextOptions {
  readonly verb: Verb;
  /** Whether the properties of what is created or deleted are shown, too. */
  readonly diff: boolean;
  readonly color: boolean;
  readonly print: (line: string) => void;
}

/** Shows a run as it goes: one line a change, the changed paths beneath it, then outputs and a summary. */
export class TextDisplay {
  readonly #options: TextOptions;

  constructor(options: TextOptions) {
    this.#options = options;
  }

  onEvent(event: RunEvent): void {
    const { print } = this.#options;
    if (event.kind === "start") print(`${title(this.#options.verb, event.preview)} (${event.stack}):`);
    else if (event.kind === "step" && event.preview) this.#step(event.step, "");
    else if (event.kind === "done") this.#step(event.step, event.failed ? "  failed" : "");
    else if (event.kind === "diagnostic") this.#diagnostic(event);
  }

  finish(result: RunResult): void {
    const { print } = this.#options;
    const outputs = Object.entries(result.outputs);
    if (outputs.length > 0) {
      print("Outputs:");
      for (const [name, value] of outputs) {
        const line = `  ${name}: ${formatValue(value)}`;
        const lines =
          line.length > 100 ? `${name}: ${JSON.stringify(printable(value), null, 2)}`.split("\n") : undefined;
        if (lines === undefined) print(line);
        else for (const each of lines) print(`  ${each}`);
      }
    }
    print(`Resources: ${summaryLine(result)}`);
    if (result.cancelled)
      print(`Cancelled: ${result.preview ? "this is not the whole preview" : "the next run does the rest"}`);
    print(`Duration: ${(result.durationMs / 1000).toFixed(1)} s`);
  }

  #step(step: Step, suffix: string): void {
    const shown = shownOps[step.op];
    // The parts of a replacement show as one line; only what fails in it shows by itself.
    const part = step.op === "create-replacement" || step.op === "delete-replaced";
    if (shown === undefined || (part && suffix === "")) return;
    const [symbol, does] = shown;
    const word = step.isRead === true ? (step.op === "delete" ? "gone" : "drifted") : does;
    const { print } = this.#options;
    print(this.#paint(symbol, `  ${symbol.padEnd(2)} ${word.padEnd(7)} ${describe(step.urn)}${suffix}`));
    for (const { symbol: mark, text } of this.#details(step)) print(this.#paint(mark, `       ${mark} ${text}`));
  }

  #details(step: Step): ChangedPath[] {
    if (step.op === "update" || step.op === "replace") return changedPaths(step);
    if (!this.#options.diff) return [];
    if (step.op === "create") return allProperties(step.new?.inputs ?? {}, "+");
    return step.op === "delete" ? allProperties(step.old?.inputs ?? {}, "-") : [];
  }

  #diagnostic({ severity, message, urn }: Extract<RunEvent, { kind: "diagnostic" }>): void {
    const { print } = this.#options;
    if (severity === "info" && urn === undefined) {
      if (message.trim() !== "") print(`  ${message}`);
      return;
    }
    const about = urn === undefined ? "" : `${describe(urn)}: `;
    const [first = "", ...more] = `${severity}: ${about}${message}`.split("\n");
    print(this.#paint(severity === "error" ? "-" : "~", `  ${first}`));
    for (const line of more) print(`    ${line}`);
  }

  #paint(symbol: string, text: string): string {
    if (!this.#options.color) return text;
    const code = symbol.startsWith("+-") ? 35 : symbol.startsWith("+") ? 32 : symbol.startsWith("-") ? 31 : 33;
    return `\u001b[${code}m${text}\u001b[0m`;
  }
}

const shownOps: { readonly [op in StepOp]?: readonly [symbol: string, word: string] } = {
  create: ["+", "create"],
  update: ["~", "update"],
  delete: ["-", "delete"],
  replace: ["+-", "replace"],
  "create-replacement": ["++", "create"],
  "delete-replaced": ["--", "delete"],
};

/** A resource for people: the last part of its type, and its name. */
export function describe(urn: string): string {
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

/** `3 created, 1 unchanged`, or `3 to create` in a preview. */
export function summaryLine(result: Pick<RunResult, "summary" | "preview" | "verb" | "ok">): string {
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
