import type { Command } from "commander";
import { explanation } from "../../contract-tools/explanation.ts";
import { readWritten } from "../../contract-tools/written.ts";
import { exiting } from "../exit-code.ts";

/** Defines `merchant-rules contract origins`: says of each field of a contract where it comes from. */
export function contractOriginsCommand(command: Command): void {
  command
    .description(
      "Say of each field of a contract where it comes from: the specification, the file, or that it is a gap",
    )
    .argument("[file]", "the contract's file, or a preset's name (default: the contract of this folder)")
    .addHelpText("after", help)
    .action(exiting(explain));
}

const help = `
What the file says comes with the file's comment at that place, where there is one: \`contract init\` and \`contract probe\`
write there what a field was learnt from.

Exit codes: 0 done; 1 the contract cannot work, or cannot be read; 2 called wrongly.

Example:
  npx --no-install merchant-rules contract origins merchant-rules.contract.yaml`;

function explain(file: string | undefined): number {
  console.log(explanation(readWritten(file)).join("\n"));
  return 0;
}
