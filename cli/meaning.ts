import { type Command, Option } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import { Session } from "../provider/hooks/session.ts";
import { contractsBy, declaredContract } from "../provider/settings/contract-source.ts";
import { defaultConnection } from "../provider/settings/setting-names.ts";
import type { SettingsSources } from "../provider/settings/sources.ts";
import { liveAt } from "../report/drift/drift.ts";
import { meaningOf, type SideMeaning } from "../report/meaning/meaning.ts";
import { declaredSemantics } from "../report/meaning/semantics-file.ts";
import { plannedSteps } from "../report/plan/planned-steps.ts";
import type { Preview } from "../report/plan/preview.ts";
import { afterRun, folderSide, programSide, type RuleSide, stateSide } from "../report/sides/index.ts";
import { stateResources } from "../report/state/from-stack.ts";
import { errorsOf } from "../report/words/report-words.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { defined } from "../sdk/json/index.ts";
import { Invocation } from "./invocation.ts";
import { givenPreview, ownPreview, sourcesOf } from "./preview.ts";
import { environmentAlone, folderOf, readSettings, type StackOptions } from "./stack.ts";

const sides = ["after", "before", "program", "state"] as const;

/** The rules that decide payments. */
export interface MeaningOptions extends StackOptions {
  readonly side?: (typeof sides)[number];
  readonly folder?: string;
  readonly preview?: string;
  readonly connection?: string;
}

/** Adds the options by which a command finds the rules that decide. */
export function withMeaningOptions(command: Command): Command {
  return withConnectionOptions(command)
    .addOption(
      new Option(
        "--side <side>",
        "the rules that decide. after: what is live, with the changes of this run; before: what is live; program, state: those alone",
      )
        .choices(sides)
        .default("after"),
    )
    .addOption(
      new Option(
        "--folder <folder[,overlay]>",
        "the rule files of a folder alone, as loadRules reads them; no service is asked",
      ).conflicts(["side", "preview"]),
    );
}

/** Adds the options that say what a run changes, and at which connection. */
export function withConnectionOptions(command: Command): Command {
  return command
    .option(
      "--preview <file>",
      "what `pulumi preview --json --show-sames` printed; - is standard input (default: run a preview)",
    )
    .option("--connection <name>", "the connection whose rules are meant, where the stack has several");
}

/** What is live, and what will be, each with its meaning. */
export interface Meanings {
  readonly before: SideMeaning;
  readonly after: SideMeaning;
  readonly connection: string;
}

/**
 * Reads what is live, and what the run makes of it.
 * @param attempted for messages: `simulate payments`
 * @param preview one that is known already. Default: as the options say
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: the contract does not say what rules mean, or has no list; as
 * Invocation.settings and Invocation.live
 */
export async function readMeanings(
  invocation: Invocation,
  options: MeaningOptions,
  attempted: string,
  preview?: Preview,
): Promise<Meanings> {
  const [sources, contractOf] = [await invocation.settings(), await invocation.contractOf()];
  demandSemantics(sources, attempted, options);
  const seen = preview ?? (await previewOf(options));
  const planned = plannedSteps(seen, contractOf).map(({ of }) => of);
  const connection = oneConnection(planned, options);
  const declared = declaredSemantics(sources, attempted, connection);
  const run = afterRun(await invocation.live(connection, liveAt(connection)), seen, contractOf, connection);
  const before = meaningOf(run.before, declared, connection);
  return { before, after: meaningOf(run.after, declared, connection, before), connection };
}

/**
 * Demands that the rules have a meaning, before a preview is run or the service asked. Where there are several connections, a preview tells which
 * of them is meant.
 */
function demandSemantics(sources: SettingsSources, attempted: string, options: MeaningOptions): void {
  const isOne = sources.config("merchant-rules:connections") === undefined && declaredContract(sources) !== undefined;
  const connection = options.connection ?? (isOne ? defaultConnection : undefined);
  if (connection !== undefined) declaredSemantics(sources, attempted, connection);
}

/** Reads the rules that the options choose. @throws MerchantRulesError as readMeanings */
export async function readMeaning(options: MeaningOptions, attempted: string, quiet: boolean): Promise<SideMeaning> {
  const invocation = new Invocation(options, quiet);
  const of = (side: RuleSide, sources: SettingsSources, connection: string): SideMeaning =>
    meaningOf(side, declaredSemantics(sources, attempted, connection), connection);
  if (options.folder !== undefined) return await folderMeaning(options.folder, options, of);
  const { side = "after" } = options;
  if (side === "after") return (await readMeanings(invocation, options, attempted)).after;
  if (side === "before") {
    const { connection = defaultConnection } = options;
    const sources = await invocation.settings();
    // Without semantics the service need not be asked.
    declaredSemantics(sources, attempted, connection);
    return of(await invocation.live(connection, liveAt(connection)), sources, connection);
  }
  if (side === "state") {
    const stack = await invocation.state();
    const session = new Session({ ...stack.sources, checksDefinitions: false });
    const read = stateSide(stateResources(stack.resources), session, `the state of ${stack.title}`);
    const connection = oneConnection(read.rules, options);
    return of(read, stack.sources, connection);
  }
  const preview = await previewOf(options);
  const sources = sourcesOf(preview, folderOf(options));
  const program = programSide(preview, contractsBy(sources));
  const connection = oneConnection(program.rules, options);
  return of({ ...program, name: `the program of ${program.name}` }, sources, connection);
}

async function folderMeaning(
  named: string,
  options: MeaningOptions,
  of: (side: RuleSide, sources: SettingsSources, connection: string) => SideMeaning,
): Promise<SideMeaning> {
  const [folder = "", overlay, ...more] = named.split(",");
  if (folder === "" || more.length > 0) throw new UsageError("--folder must be <folder>, or <folder>,<overlay>");
  const { connection = defaultConnection } = options;
  const sources = options.stack === undefined ? environmentAlone(folderOf(options)) : await readSettings(options);
  const contract = contractsBy(sources)(connection);
  const side = folderSide(folder, { ...defined({ overlay }), connection, contract });
  return of(side, sources, connection);
}

async function previewOf(options: MeaningOptions): Promise<Preview> {
  const preview =
    options.preview === undefined ? await ownPreview(options, folderOf(options)) : await givenPreview(options.preview);
  const [error] = errorsOf({ errors: preview.errors.map(({ message }) => ({ message })), violations: [] });
  if (error === undefined) return preview;
  throw new MerchantRulesError("SETTINGS_INVALID", `the preview failed: ${error.text}`, {
    attempted: "tell what the run changes",
    advice: "fix what it says; or take the rules as they are live, with --side before",
  });
}

/** Chooses the connection that the user named; else the only one. @throws UsageError: there are several */
function oneConnection(found: readonly { readonly connection: string }[], { connection }: MeaningOptions): string {
  if (connection !== undefined) return connection;
  const [only = defaultConnection, ...others] = new Set(found.map((each) => each.connection));
  if (others.length === 0) return only;
  throw new UsageError(
    `the rules are those of several connections (${[only, ...others].join(", ")}), and a payment is decided at one: name it with --connection`,
  );
}
