import { basename, join, relative, resolve } from "node:path";
import { Command } from "commander";
import { type ContractOptions, contractTextOf, withContractOptions } from "./contract/init.ts";
import { exiting } from "./exit-code.ts";

interface InitOptions extends ContractOptions {
  readonly name?: string;
  readonly definition?: string;
}

/**
 * `merchant-rules init`: writes a project, all of it or nothing. Exit codes: 0 written, 1 failed, 2 called wrongly, 8 ended
 * at a question.
 */
export function projectInitCommand(): Command {
  return withContractOptions(
    new Command("init")
      .description("Write a project: contract, program, one rule, a test, a CI job; on a terminal you are asked")
      .argument("[folder]", "where to write it; it may be there, without these files", ".")
      .option("--name <name>", "the project's name (default: the folder's)")
      .option("--definition <file>", "a rule as the service takes it, JSON or YAML (default: an illustrative one)"),
  )
    .addHelpText("after", help)
    .exitOverride()
    .action(exiting(init));
}

const help = `
The options of the contract are those of \`merchant-rules contract init\`. Nothing is written over: where a file is there
already, all such files are named, and nothing is written. A package.json stays: what it lacks is added and printed. No request is sent.

Exit codes: 0 written; 1 failed (and why); 2 called wrongly; 8 ended by Ctrl-C at a question, with nothing written.

Example, which is then tried by \`cd payment-rules && npm install && npm test\`:
  npx --no-install merchant-rules init payment-rules --preset illustrative`;

async function init(folder: string, { name, definition, ...options }: InitOptions): Promise<number> {
  const { contractFileNames, parseContract } = await import("../sdk/contract/index.ts");
  const { shellWord } = await import("../stack/shell-word.ts");
  const { demandFree, writeNewFiles } = await import("./export/write-files.ts");
  const { firstRule } = await import("./init/first-rule.ts");
  const { projectFiles, projectName, projectPaths } = await import("./init/project-files.ts");
  const { keptManifest } = await import("./init/kept-manifest.ts");
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
  console.log("  npx --no-install merchant-rules doctor");
  return 0;
}
