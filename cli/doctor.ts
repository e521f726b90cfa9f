import { type Command, Option } from "commander";
import { doctorReport } from "../report/doctor.ts";
import { printable, printableJson } from "../sdk/json/printable.ts";
import { diagnose } from "./doctor/diagnose.ts";
import { callCode, exiting } from "./exit-code.ts";
import { withProgress } from "./progress.ts";
import { type StackOptions, withStackOptions } from "./stack.ts";

interface DoctorOptions extends StackOptions {
  readonly connection?: string;
  readonly json?: boolean;
}

/** Defines `merchant-rules doctor`: says whether a project reaches its service, and what is in the way. It only reads. */
export function doctorCommand(command: Command): void {
  command
    .option("--connection <name>", "the connection to look at (default: the default one)")
    .addOption(new Option("--json", "the same as JSON, as doctor.schema.json of this package describes it"))
    .addHelpText("after", help);
  withStackOptions(command).action(exiting(doctor, callCode));
}

const help = `
Nothing is written, at the service or here. Of credentials it says whether they are set and where, and never the value.

Exit codes: 0 nothing failed; 1 something did, and each finding says what to do; 2 called wrongly.

Example:
  npx --no-install merchant-rules doctor --stack dev`;

async function doctor({ json = false, ...options }: DoctorOptions): Promise<number> {
  const found = await withProgress("looking", async (step) => await diagnose(options, step), { quiet: json });
  const report = doctorReport(found);
  if (json) console.log(printableJson(report, 2));
  else {
    for (const { check, status, found: what, toDo } of report.findings) {
      console.log(`${status.padEnd(8)} ${check.padEnd(9)} ${printable(what)}`);
      if (toDo !== undefined) console.log(`${" ".repeat(19)}What to do: ${printable(toDo)}`);
    }
    const failed = report.findings.filter(({ status }) => status === "failed").length;
    console.log(failed === 0 ? "Nothing failed." : `${failed} of these failed.`);
  }
  return report.ok ? 0 : 1;
}
