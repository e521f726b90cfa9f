import type { Command } from "commander";
import { contractCheckCommand } from "./contract/contract-check.ts";
import { contractInitCommand } from "./contract/contract-init.ts";
import { contractOriginsCommand } from "./contract/contract-origins.ts";
import { contractProbeCommand } from "./contract/contract-probe.ts";

/** Defines `merchant-rules contract`: the contract of one's own service, from the first answer to a file that is complete. */
export function contractCommand(command: Command): void {
  contractInitCommand(command.command("init"));
  contractCheckCommand(command.command("check"));
  contractOriginsCommand(command.command("origins"));
  contractProbeCommand(command.command("probe"));
}
