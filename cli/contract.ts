import { Command } from "commander";
import { checkCommand } from "./contract/check.ts";
import { explainCommand } from "./contract/explain.ts";
import { initCommand } from "./contract/init.ts";
import { contractProbeCommand } from "./contract/probe.ts";

/** `merchant-rules contract`: the contract of one's own service, from the first answer to a file that is complete. */
export function contractCommand(): Command {
  const command = new Command("contract")
    .description("Write the contract of your own service, and see what it leaves open")
    .exitOverride();
  for (const make of [initCommand, checkCommand, explainCommand, contractProbeCommand]) command.addCommand(make());
  return command;
}
