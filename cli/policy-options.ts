import type { Command } from "commander";

/** The policy packs that a command runs. */
export interface PolicyPackOptions {
  readonly policyPack?: readonly string[];
  readonly policyPackConfig?: readonly string[];
}

/** Adds the options that name policy packs; like those of the Pulumi CLI they may be repeated, or take a list. */
export function withPolicyOptions(command: Command): Command {
  return command
    .option("--policy-pack <dir>", "run the policy pack in this folder (repeatable)", collect)
    .option(
      "--policy-pack-config <file>",
      "a JSON file with the pack's configuration (repeatable: one for each pack, in the same order)",
      collect,
    );
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(",")];
}
