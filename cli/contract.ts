import type { Command } from "commander";
import { contractCheckCommand } from "./contract/contract-check.ts";
import { contractExplainCommand } from "./contract/contract-explain.ts";
import { contractInitCommand } from "./contract/contract-init.ts";
import { contractProbeCommand } from "./contract/contract-probe.ts";

/** Defines `merchant-rules contract`: the contract of one's own service, from the first answer to a file that is complete. */
export function contractCommand(command: Command): void {
  contractInitCommand(command.command("init"));
  contractCheckCommand(command.command("check"));
  contractExplainCommand(command.command("explain"));
  contractProbeCommand(command.command("probe"));
}
