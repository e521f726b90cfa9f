import type { Command } from "commander";
import { driftReport } from "../report/drift/drift-report.ts";
import { withPlaces } from "../report/files/rule-places.ts";
import { catalog } from "../report/page/catalog.ts";
import { withCommandsOf } from "./engine-commands.ts";
import { callCode, exiting } from "./exit-code.ts";
import { type ReadDriftOptions, readDrift, stateOption } from "./read-drift.ts";
import { writeOutput } from "./report-options.ts";
import { withRulesOption } from "./rule-folders.ts";
import { wordingsOf } from "./rule-words.ts";
import { withStackOptions } from "./stack.ts";

interface CatalogOptions extends ReadDriftOptions {
  readonly output?: string;
  readonly ignoreUnmanaged?: boolean;
}

/** Defines `merchant-rules catalog`: a page of every rule of a stack and of the unmanaged ones. */
export function catalogCommand(command: Command): void {
  command
    .option("--output <file>", "write the page to a file instead of standard output")
    .addOption(stateOption())
    .option("--ignore-unmanaged", "do not look for rules that the stack does not declare")
    .addHelpText(
      "after",
      `
The page is one HTML file that fetches nothing. Secrets are not in it.

Exit codes: 0 written, also where rules differ; 1 failed (and why); 2 called wrongly.

Example:
  npx --no-install merchant-rules catalog --stack prod --output rules.html`,
    );
  withRulesOption(withStackOptions(command)).action(exiting(runCatalog, callCode));
}

async function runCatalog(options: CatalogOptions): Promise<number> {
  const looksForUnmanaged = options.ignoreUnmanaged !== true;
  const { stack, places, hasRules, drift } = await readDrift(options, { looksForUnmanaged, withSame: true });
  const found = driftReport(drift, { subject: stack.title, hasRules, looksForUnmanaged, ignoring: [] });
  const { of, notes } = await wordingsOf(
    [...drift.same, ...found.findings].map(({ connection }) => connection),
    { sources: stack.sources },
  );
  const placed = places === undefined ? found : withPlaces(found, places);
  const report = withCommandsOf(stack.engine, placed);
  const page = catalog(
    { ...report, notes: [...report.notes, ...notes] },
    { same: drift.same, placeOf: (rule) => places?.placeOf(rule), at: new Date(), wordingOf: of },
  );
  const rules = drift.same.length + report.findings.length;
  writeOutput(page, options.output, `a page of ${rules} ${rules === 1 ? "rule" : "rules"}`);
  return 0;
}
