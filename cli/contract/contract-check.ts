import { type Command, Option } from "commander";
import { gaps, openGaps, sandboxAdvice } from "../../contract-tools/gaps.ts";
import { readWritten } from "../../contract-tools/written.ts";
import { semanticsFrom } from "../../report/meaning/semantics-file.ts";
import { printable, printableJson } from "../../sdk/json/printable.ts";
import { exiting } from "../exit-code.ts";

interface CheckOptions {
  readonly json?: boolean;
}

/** Defines `merchant-rules contract check`: says whether a contract and its semantics can work, and what it leaves open. */
export function contractCheckCommand(command: Command): void {
  command
    .description("Say whether a contract can work, which questions it leaves open, and what each costs")
    .argument("[file]", "the contract's file, or a preset's name (default: the contract of this folder)")
    .addOption(new Option("--json", "the same as JSON: { file, open: [{ field, question, without }] }"))
    .addHelpText("after", help)
    .action(exiting(check));
}

const help = `
Exit codes: 0 it can work, also with gaps; 1 it cannot work, or cannot be read; 2 called wrongly.

Example:
  npx --no-install merchant-rules contract check merchant-rules.contract.yaml`;

function check(file: string | undefined, { json }: CheckOptions): number {
  const { name, file: path, contract, written } = readWritten(file);
  if (contract.semantics !== null) {
    // Says what is wrong with the file that says what rules mean, or with its value lists.
    semanticsFrom(contract.semantics, path, "check the contract");
  }
  const open = openGaps(written);
  if (json === true) {
    const shown = open.map(({ field, question, without }) => ({ field, question, without }));
    console.log(printableJson({ file: name, open: shown }, 2));
    return 0;
  }
  console.log(`${printable(name)} can work. Of ${gaps.length} questions, ${open.length} are open:`);
  for (const { field, question, without } of open)
    console.log(`  ${field}\n    ${question}\n    Without it: ${without}.`);
  if (open.length > 0)
    console.log(
      `What to do: answer them in the file, from your service's documentation; \`npx --no-install merchant-rules help contract\` says how. ${sandboxAdvice}`,
    );
  return 0;
}
