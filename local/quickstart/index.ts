import type { ChildProcess } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { reasonOf } from "../../sdk/json/json.ts";
import { shellWord } from "../../stack/shell-word.ts";
import {
  cleanUp,
  findQuickstarts,
  folderPrefix,
  type Interrupts,
  knownProcess,
  type NotedFolder,
  serviceName,
  startService,
  writeRecord,
} from "./processes.ts";
import { chosenEngine, type Engine, type EngineName, findPackages } from "./project.ts";
import { Narrator, sayWhatIsNext, tellStory } from "./story.ts";

/** The start of the quickstart, and the program that it shows. */
export interface QuickstartSetting {
  /** The folder of the program that is shown: a whole Pulumi project. It is copied, and nothing is written into it. */
  readonly program: string;
  /** The words by which the user starts the quickstart, up to its options. */
  readonly command: string;
}

export interface QuickstartOptions {
  /** Leaves the rules and the service there. Default: false. */
  readonly keep?: boolean;
  /** Removes what `keep` has left, and shows nothing. Default: false. */
  readonly clean?: boolean;
  /** Default: pulumi where it is on the PATH, else local. */
  readonly engine?: EngineName;
}

/**
 * Shows three rules, declared in a program, applied to a local service, drifted, healed and destroyed. Everything that it
 * writes is in one folder for temporary files. Returns the exit code: 0 done; 1 a step failed, or an earlier quickstart is
 * still there; 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by the end of the terminal.
 */
export async function quickstart(options: QuickstartOptions, setting: QuickstartSetting): Promise<number> {
  // A reader that ends early ends nothing: what is left is told to nobody, and tidied up all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return options.clean === true ? await clean() : await run(options, setting);
}

async function clean(): Promise<number> {
  const { running, left } = findQuickstarts();
  for (const found of left) for (const line of await cleanUp(found)) console.log(line);
  for (const { folder, record } of running)
    console.log(
      `Not removed: the quickstart in ${folder} still runs (process ${record.runner?.pid}), and tidies up itself.`,
    );
  if (left.length === 0 && running.length === 0) console.log("Nothing is kept, so there is nothing to clean up.");
  return 0;
}

async function run(options: QuickstartOptions, setting: QuickstartSetting): Promise<number> {
  const [left] = findQuickstarts().left;
  if (left !== undefined) return refuse(`${leftSentence(left)}\nWhat to do: ${setting.command} --clean`);
  const engine = chosenEngine(options.engine);
  if (engine === undefined)
    return refuse(
      "--engine pulumi needs the Pulumi CLI, which is not on the PATH.\nWhat to do: install it, or use --engine local",
    );
  const runner = knownProcess(process.pid);
  if (runner === undefined && options.keep === true)
    return refuse(
      "--keep is not possible here: this system does not tell which process is which.\nWhat to do: leave out --keep",
    );
  return await interruptible((interrupts) => perform(options, setting, engine, interrupts));
}

/** Runs the quickstart from the service to the last line. Whatever happens, it leaves nothing but what `--keep` asks for. */
async function perform(
  { keep = false }: QuickstartOptions,
  setting: QuickstartSetting,
  engine: Engine,
  interrupts: Interrupts,
): Promise<number> {
  const { interrupted } = interrupts;
  const narrator = new Narrator(interrupted);
  const folder = mkdtempSync(join(realpathSync(tmpdir()), folderPrefix));
  const noted: NotedFolder = { folder, record: { kept: false, runner: knownProcess(process.pid) } };
  let service: ChildProcess | undefined;
  const tidyUp = (): Promise<string[]> => {
    if (noted.record.service === undefined) service?.kill();
    return cleanUp(noted);
  };
  try {
    writeRecord(folder, noted.record);
    const packages = findPackages(setting.program);
    narrator.step("The engine", engine.why);
    narrator.step("The service", "A local rules service that speaks the illustrative contract.");
    const url = await startService({
      narrator,
      interrupted,
      folder,
      merchantRules: packages.merchantRules,
      onProcess: (child) => {
        service = child;
        noted.record.service = child.pid === undefined ? undefined : knownProcess(child.pid);
        writeRecord(folder, noted.record);
      },
    });
    if (noted.record.service !== undefined) noted.record.service.url = url;
    await tellStory({ narrator, interrupts, engine, packages, program: setting.program, folder, url, keep });
    interrupted.throwIfAborted();
    if (keep) {
      writeRecord(folder, { ...noted.record, kept: true });
      narrator.example(
        `cd ${shellWord(process.cwd())} && ${setting.command} --clean    # stops the service and removes everything`,
      );
    } else {
      await tidyUp();
      interrupted.throwIfAborted();
    }
    sayWhatIsNext(narrator);
    return 0;
  } catch (error) {
    if (!interrupted.aborted) console.error(`\nThe quickstart failed: ${reasonOf(error)}`);
    const tidied = (await tidyUp()).join("\n");
    console.error(interrupted.aborted ? `Interrupted: ${tidied}` : tidied);
    return 1;
  }
}

function leftSentence({ folder, record: { kept, service } }: NotedFolder): string {
  const which = kept ? "an earlier quickstart is kept" : "an earlier quickstart was killed, and is still there";
  return `${which}: ${service === undefined ? "" : `${serviceName(service)}, and `}the folder ${folder}.`;
}

function refuse(reason: string): number {
  console.error(`error: ${reason}`);
  return 1;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A terminal sends Ctrl-C to every process of a command, and some pass it on. Nobody types two that fast. */
const echoMs = 200;

/**
 * Runs work that Ctrl-C, SIGTERM or the end of the terminal (SIGHUP) interrupts. Returns its exit code, and where there was
 * a signal, the code that tells of that (130, 143, 129).
 */
async function interruptible(work: (interrupts: Interrupts) => Promise<number>): Promise<number> {
  const interrupted = new AbortController();
  const impatient = new AbortController();
  let first: (typeof signals)[number] | undefined;
  let lastAt = 0;
  const onSignal = (signal: (typeof signals)[number]): void => {
    const at = performance.now();
    if (first !== undefined && at - lastAt < echoMs) return;
    lastAt = at;
    if (first !== undefined) {
      impatient.abort();
      return;
    }
    first = signal;
    const name = signal === "SIGINT" ? "Ctrl-C" : signal;
    console.error(
      `\nInterrupted by ${name}: what is under way is finished, then everything is removed (once more to stop at once)`,
    );
    interrupted.abort(new Error(`interrupted by ${signal}`));
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const code = await work({ interrupted: interrupted.signal, impatient: impatient.signal });
    return first === undefined ? code : 128 + constants.signals[first];
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}
