import { pathOf } from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import { shellWord } from "../../stack/shell-word.ts";
import type { ExportedSecret } from "./secrets.ts";

/** The files that were written, and the stack that they are for. */
export interface WrittenFiles {
  readonly engine: "pulumi" | "local";
  /** Of the project, from here; undefined outside a project. */
  readonly folder: string | undefined;
  readonly stack: string | undefined;
  readonly backend: string | undefined;
  /** The program that was written, from the folder of the project's program; where there is no project, from `--out`. */
  readonly program: string;
  /** import.json, from the project's folder; undefined where none was written. */
  readonly importFile: string | undefined;
  /** True where the program has resources that are not in import.json, and so adopts its rules. */
  readonly adopts: boolean;
  readonly secrets: readonly ExportedSecret[];
}

/** Returns the commands to run next, in order, each on a line by itself. */
export function nextSteps(written: WrittenFiles): string[] {
  const { engine, folder, stack, backend, program, importFile, adopts, secrets } = written;
  const merchantRules = "npx --no-install merchant-rules local";
  const named = stack === undefined ? "" : ` --stack ${shellWord(stack)}`;
  const flags = named + (engine === "local" && backend !== undefined ? ` --backend ${shellWord(backend)}` : "");
  const verb = (words: string): string => `${engine === "local" ? merchantRules : "pulumi"} ${words}${flags}`;
  const imported =
    engine === "local"
      ? verb(`import --file ${shellWord(importFile ?? "")} --yes`)
      : verb(`import --file ${shellWord(importFile ?? "")} --generate-code=false --protect=false --yes`);
  const into =
    folder === undefined ? "in the folder of your Pulumi.yaml" : `in ${folder === "" ? "this folder" : folder}`;
  const asEntry = `"main": ${JSON.stringify(program.replace(/^\.\//, ""))} in package.json`;
  return [
    `What to do next, ${into}:`,
    `  put \`import ${JSON.stringify(program)};\` into your program, or make it the program: ${asEntry}`,
    ...secretSteps(secrets, named, engine),
    ...(importFile === undefined ? [] : [`  ${imported}`]),
    ...(adopts
      ? [
          `  ${verb(engine === "local" ? "up --yes" : "up")}`,
          "    takes the rules over by adopt; remove adopt from the program afterwards",
        ]
      : []),
    `  ${verb("preview --expect-no-changes")}`,
    `  ${verb("refresh --preview-only --expect-no-changes")}`,
  ];
}

function secretSteps(secrets: readonly ExportedSecret[], named: string, engine: "pulumi" | "local"): string[] {
  if (secrets.length === 0) return [];
  const commands = secrets.map(
    ({ configKey, rule, path, value }) =>
      `    pulumi config set --secret ${configKey}${named}   # ${printable(`${rule.key} (${rule.ruleId}): ${pathOf(path)}`)}${typeof value === "object" ? ", as JSON" : ""}`,
  );
  const cli =
    engine === "local" ? " (the local engine has no command for this, and uses what the Pulumi CLI stored)" : "";
  return [
    `  set each secret as the service has it${cli}. The value is asked for, or read from standard input; it is not shown:`,
    ...commands,
  ];
}
