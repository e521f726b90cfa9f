import { basename } from "node:path";
import type { Command } from "commander";
import { declaredContract } from "../provider/settings/contract-source.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { callCode, exiting } from "./exit-code.ts";
import { schemaLine, schemaText } from "./export/rule-file.ts";
import { writeOutput } from "./report-options.ts";
import { environmentAlone, folderOf, readSettings, type StackOptions, withStackOptions } from "./stack.ts";

interface SchemaOptions extends StackOptions {
  readonly connection?: string;
  readonly output?: string;
}

/** Defines `merchant-rules schema`: writes what a rule may hold, as JSON Schema for editors. */
export function schemaCommand(command: Command): void {
  command
    .option("--output <file>", "write it to a file instead of standard output")
    .option("--connection <name>", "the connection whose contract is meant (default: the default one)")
    .addHelpText("after", help);
  withStackOptions(command).action(exiting(writeSchema, callCode));
}

const help = `
The contract is the one in the folder, or that MERCHANT_RULES_CONTRACT names; with --stack, that of the stack's config.

Exit codes: 0 written; 1 failed (and why); 2 called wrongly.

Example:
  npx --no-install merchant-rules schema --output rule.schema.json`;

async function writeSchema({ connection, output, ...options }: SchemaOptions): Promise<number> {
  const folder = folderOf(options);
  const sources = options.stack === undefined ? environmentAlone(folder) : await readSettings(options);
  const contract = declaredContract(sources, connection);
  const attempted = "write the schema of a rule";
  if (contract === undefined) {
    const advice =
      "run this in the project's folder, or name it with --cwd; name the stack whose config has the contract with --stack";
    throw new MerchantRulesError("SETTINGS_INVALID", `no contract was found in ${folder}`, { attempted, advice });
  }
  if (contract.rule.schema === null) {
    const advice = "describe the fields of a rule in rule.schema, as the service documents them";
    throw new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", "the contract has no rule.schema", { attempted, advice });
  }
  writeOutput(schemaText(contract.rule.schema), output, "the schema of a rule");
  if (output !== undefined)
    console.error(`first line of each rule file in a folder beside it: ${schemaLine(`../${basename(output)}`)}`);
  return 0;
}
