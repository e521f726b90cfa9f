import type { Command } from "commander";
import type { RulePattern } from "../report/files/rule-pattern.ts";
import type { ReadFolder } from "../report/files/rule-places.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { ask } from "./confirm.ts";
import { commandFor, inCommandsOf } from "./engine-commands.ts";
import { callCode, exiting } from "./exit-code.ts";
import { andPattern } from "./patterns.ts";
import { type Pulled, planPull, unmadeIn } from "./pull/plan-pull.ts";
import { linesOf, nextSteps, verdictOf } from "./pull/say.ts";
import { writeChanges } from "./pull/write.ts";
import { type FoundDrift, type ReadDriftOptions, readDrift, stateOption } from "./read-drift.ts";
import { withRulesOption } from "./rule-folders.ts";
import { withStackOptions } from "./stack.ts";

interface PullOptions extends ReadDriftOptions {
  readonly include: readonly RulePattern[];
  readonly unmanaged?: readonly RulePattern[];
  readonly into?: string;
  readonly yes?: boolean;
  readonly removeMissing?: boolean;
}

/** Defines `merchant-rules pull`: writes live values of drifted rules into the rule files. */
export function pullCommand(command: Command): void {
  command
    .addOption(stateOption())
    .option("--include <pattern...>", "only rules of the stack with such a name", andPattern, [])
    .option("--unmanaged <pattern...>", "files for unmanaged rules with such a name, too", andPattern)
    .option("--into <resource>", "the resource whose folder gets those files, where there are several")
    .option("-y, --yes", "write the files")
    .option("--remove-missing", "with --yes: remove the files of missing rules without asking")
    .addHelpText("after", help);
  withRulesOption(withStackOptions(command)).action(exiting(pull, callCode));
}

const help = `
A pattern is a name, or id: and a ruleId; * stands for any characters, ? for one.
Nothing is written to the service or to the state: run \`pulumi refresh\`, or \`merchant-rules local refresh\`, after it.

Exit codes: 0 the files say what is live, 7 something is left to do, 1 failed, 2 called wrongly.

Example: npx --no-install merchant-rules pull --stack prod --rules rules --unmanaged "test-*" --yes`;

async function pull(options: PullOptions): Promise<number> {
  const { unmanaged = [], include, into } = options;
  const found = await readDrift(options, { looksForUnmanaged: unmanaged.length > 0, withSame: true });
  const selection = { include, unmanaged, into: unmanaged.length === 0 ? undefined : folderInto(found, into) };
  const plan = planPull(found.drift, found.places, selection);
  const { engine, title } = found.stack;
  const said = linesOf(plan).map((line) => inCommandsOf(engine, line));
  if (said.length > 0) console.log([...said, ""].join("\n"));
  const kept = options.yes === true ? await write(plan, options.removeMissing === true) : undefined;
  const unmade = unmadeIn(found.drift, found.places);
  console.log(inCommandsOf(engine, verdictOf(plan, { title, kept, unmade, isEmpty: found.drift.rules === 0 })));
  if (plan.length === 0) return unmade > 0 ? 7 : 0;
  const written = kept === undefined ? [] : plan.filter((each) => !kept.has(each));
  const steps = nextSteps(written, selection.into?.resource, (verb) => commandFor(verb, engine, options.stack));
  if (steps.length > 0) console.log(["", ...steps].join("\n"));
  const isLeft = unmade > 0 || kept === undefined || kept.size > 0 || plan.some(({ verb }) => verb === "by hand");
  return isLeft ? 7 : 0;
}

/** Writes the files. @returns the rules whose files were not removed, because nobody said that they may be */
async function write(plan: readonly Pulled[], removeMissing: boolean): Promise<Set<Pulled>> {
  const isRemoval = ({ verb }: Pulled): boolean => verb === "remove" || verb === "leave out";
  const removals = plan.filter(isRemoval);
  const mayRemove = removals.length === 0 || removeMissing || (await asked(removals));
  writeChanges(plan.filter((each) => mayRemove || !isRemoval(each)).flatMap(({ files }) => files));
  return new Set(mayRemove ? [] : removals);
}

async function asked(removals: readonly Pulled[]): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const rules = removals.length === 1 ? "1 rule is" : `${removals.length} rules are`;
  return await ask(`${rules} missing at the service. Take them out of the files? (yes/no) `);
}

/** Finds the folder for new files. @throws MerchantRulesError SETTINGS_INVALID: there are several, and none is named, or none has that name */
function folderInto({ places }: FoundDrift, resource: string | undefined): ReadFolder | undefined {
  const folders = places?.folders ?? [];
  const named = folders.filter((folder) => resource === undefined || folder.resource === resource);
  if (named.length === 1 || folders.length === 0) return named[0];
  const there = folders.map(({ resource: name, folder }) => `${name ?? "(every resource)"}=${folder}`).join(", ");
  const what = resource === undefined ? "there are several folders" : `no folder, or more than one, is for ${resource}`;
  throw new MerchantRulesError("SETTINGS_INVALID", `${what} (${there})`, {
    attempted: "choose the folder for unmanaged rules",
    advice: "name the resource with --into, and its folder with --rules <resource>=<folder>",
  });
}
