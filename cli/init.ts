import { basename, join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { contractFileNames, parseContract } from "../sdk/contract/index.ts";
import { shellWord } from "../stack/shell-word.ts";
import { type ContractOptions, contractTextOf, withContractOptions } from "./contract/contract-init.ts";
import { exiting } from "./exit-code.ts";
import { demandFree, writeNewFiles } from "./export/write-files.ts";
import { firstRule } from "./init/first-rule.ts";
import { keptManifest } from "./init/kept-manifest.ts";
import { projectFiles, projectName, projectPaths } from "./init/project-files.ts";

interface InitOptions extends ContractOptions {
  readonly name?: string;
  readonly definition?: string;
}

/** Defines `merchant-rules init`: writes a project, all of it or nothing. */
export function initCommand(command: Command): void {
  withContractOptions(
    command
      .argument("[folder]", "where to write it; it may be there, without these files", ".")
      .option("--name <name>", "the project's name (default: the folder's)")
      .option("--definition <file>", "a rule as the service takes it, JSON or YAML (default: an illustrative one)"),
  )
    .addHelpText("after", help)
    .action(exiting(init));
}

const help = `
The options of the contract are those of \`merchant-rules contract init\`. Nothing is written over: where a file is there
already, all such files are named, and nothing is written. A package.json stays: what it lacks is added and printed. No request is sent.

Exit codes: 0 written; 1 failed (and why); 2 called wrongly; 8 ended by Ctrl-C at a question, with nothing written.

Example, which is then tried by \`cd payment-rules && npm install && npm test\`:
  npx --no-install merchant-rules init payment-rules --preset illustrative`;

async function init(folder: string, { name, definition, ...options }: InitOptions): Promise<number> {
  const attempted = "write a project";
  const project = projectName(name ?? basename(resolve(folder)));
  // Before the questions: nobody answers them in vain.
  const kept = keptManifest(folder, attempted);
  const isNew = (file: string): boolean => kept === undefined || file !== "package.json";
  demandFree(folder, projectPaths.filter(isNew), attempted);
  const text = await contractTextOf(options);
  if (text === undefined) {
    console.error("ended at a question; nothing was written");
    return 8;
  }
  const contract = parseContract(text, contractFileNames[0]);
  const first = { rule: firstRule(contract, definition), isOwn: definition !== undefined };
  const all = projectFiles({ name: project, folder, testCommand: kept?.testCommand }, text, contract, first);
  const files = new Map([...all].filter(([file]) => isNew(file)));
  const changed = new Map(kept === undefined || kept.added.length === 0 ? [] : [["package.json", kept.text]]);
  writeNewFiles(folder, files, attempted, changed);
  const here = relative(process.cwd(), resolve(folder));
  console.log(`The project ${project} is written:`);
  for (const file of files.keys()) console.log(`  ${join(folder, file)}`);
  if (kept !== undefined) {
    const added = kept.added.length === 0 ? "nothing is added" : `added: ${kept.added.join(", ")}`;
    console.log(`${join(folder, "package.json")} was there and is kept; ${added}.`);
  }
  console.log("What to do:");
  for (const line of [
    ...(here === "" ? [] : [`cd ${shellWord(here)}`]),
    "npm install",
    kept?.testCommand ?? "npm test",
  ])
    console.log(`  ${line}`);
  console.log("Then give the address and the credentials of your service, and see whether all is well:");
  console.log("  npm run rules -- doctor");
  return 0;
}
