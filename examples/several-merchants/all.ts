// One command for all merchants, or for those that are named:
//   node all.ts preview | up | refresh | destroy [merchant ...]
// Exit codes: 0 every merchant succeeded; 1 some failed, or there is no Pulumi CLI; 2 called wrongly.
import { spawnSync } from "node:child_process";
import { type Merchant, merchants } from "./merchants.ts";
import { type Outcome, run, type Verb, verbs } from "./run.ts";

process.exitCode = await main(process.argv.slice(2));

async function main([word, ...names]: readonly string[]): Promise<number> {
  const verb = verbs.find((each) => each === word);
  const unknown = names.find((name) => !merchants.some((merchant) => merchant.name === name));
  if (verb === undefined) return wrongCall(`usage: node all.ts ${verbs.join(" | ")} [merchant ...]`);
  if (unknown !== undefined)
    return wrongCall(
      `merchants.ts has no merchant ${unknown}; it has: ${merchants.map(({ name }) => name).join(", ")}`,
    );
  if (!hasPulumi()) {
    console.error(
      "error: the Automation API runs the Pulumi CLI, and there is no command pulumi on the PATH. What to do: install it (https://www.pulumi.com/docs/install/) and run this again.",
    );
    return 1;
  }
  const chosen = merchants.filter(({ name }) => names.length === 0 || names.includes(name));
  const outcomes = await runEach(verb, chosen);
  printSummary(verb, outcomes);
  return outcomes.every(({ succeeded }) => succeeded) ? 0 : 1;
}

/** One merchant after the other. The failure of one is told, and does not stop the others. */
async function runEach(verb: Verb, chosen: readonly Merchant[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const merchant of chosen) {
    console.log(`${merchant.name}: ${verb} ...`);
    const outcome = await run(verb, merchant);
    for (const message of outcome.messages) console.log(message.replace(/^/gm, "  "));
    outcomes.push(outcome);
  }
  return outcomes;
}

function printSummary(verb: Verb, outcomes: readonly Outcome[]): void {
  const failed = outcomes.filter(({ succeeded }) => !succeeded);
  const width = Math.max(...outcomes.map(({ merchant }) => merchant.length));
  console.log(`\n${verb}: ${outcomes.length - failed.length} succeeded, ${failed.length} failed`);
  for (const { merchant, succeeded, changes } of outcomes)
    console.log(`  ${merchant.padEnd(width)}  ${succeeded ? "ok    " : "FAILED"}  ${changes}`);
  if (failed.length > 0)
    console.log(
      `Those that failed once more: node all.ts ${[verb, ...failed.map(({ merchant }) => merchant)].join(" ")}`,
    );
}

function hasPulumi(): boolean {
  return spawnSync("pulumi", ["version"], { stdio: "ignore" }).error === undefined;
}

function wrongCall(message: string): number {
  console.error(message);
  return 2;
}
