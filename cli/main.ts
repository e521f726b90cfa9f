import { Command, Help } from "commander";
import { packageVersion } from "../sdk/version.ts";
import { runCommandLine } from "./exit-code.ts";

/** A subcommand of `merchant-rules`. */
interface Subcommand {
  /** Its name and the words after it, as `merchant-rules --help` lists them. */
  readonly usage: string;
  readonly about: string;
  /** Loads the file that adds options and action. Each file imports all that its command needs: one start loads one. */
  readonly load: () => Promise<(command: Command) => void>;
}

const subcommands: readonly Subcommand[] = [
  {
    usage: "export [options]",
    about: "Write the rules that exist at the service as code, so that they are taken over without a change",
    load: async () => (await import("./export.ts")).exportCommand,
  },
  {
    usage: "plan [options] [file]",
    about: "Show what `pulumi up` would do, rule by rule, also inside a set",
    load: async () => (await import("./plan.ts")).planCommand,
  },
  {
    usage: "drift [options]",
    about: "Say which rules differ from the stack's state, are missing, or are unmanaged; runs no program",
    load: async () => (await import("./drift.ts")).driftCommand,
  },
  {
    usage: "pull [options]",
    about: "Take the live values of rules that drifted into the rule files; without --yes it only shows them",
    load: async () => (await import("./pull.ts")).pullCommand,
  },
  {
    usage: "diff [options]",
    about: "Compare the live rules of two environments, by natural key; nothing is written",
    load: async () => (await import("./diff.ts")).diffCommand,
  },
  {
    usage: "catalog [options]",
    about: "Write a page of every rule of the stack, and of the unmanaged ones, to search and to print",
    load: async () => (await import("./catalog.ts")).catalogCommand,
  },
  {
    usage: "verify [options] [files...]",
    about: "Hold payments against the rules, and say where the outcome is not the expected one",
    load: async () => (await import("./verify.ts")).verifyCommand,
  },
  {
    usage: "explain [options] <payment>",
    about: "Say what the rules decide of one payment, and why: every rule, in the order in which it is asked",
    load: async () => (await import("./explain.ts")).explainCommand,
  },
  {
    usage: "simulate [options]",
    about: "Say which payments a run would decide otherwise: what is live against what will be; nothing is written",
    load: async () => (await import("./simulate.ts")).simulateCommand,
  },
  {
    usage: "lint [options]",
    about:
      "Say which rules can never decide, are there twice, or contradict each other: only what is proven of all payments",
    load: async () => (await import("./lint.ts")).lintCommand,
  },
  {
    usage: "init [options] [folder]",
    about: "Write a project: contract, program, one rule, a test, a CI job; on a terminal you are asked",
    load: async () => (await import("./init.ts")).initCommand,
  },
  {
    usage: "contract",
    about: "Write the contract of your own service, and see what it leaves open",
    load: async () => (await import("./contract.ts")).contractCommand,
  },
  {
    usage: "doctor [options]",
    about: "Find what is broken in a set-up: settings, contract, address, credentials, service, stack; it only reads",
    load: async () => (await import("./doctor.ts")).doctorCommand,
  },
  {
    usage: "schema [options]",
    about: "Write the contract's JSON Schema of a rule, by which editors complete and check rule files",
    load: async () => (await import("./schema.ts")).schemaCommand,
  },
  {
    usage: "serve [options]",
    about: "Serve a contract's rules on this machine (127.0.0.1 only), for trying and for tests",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    usage: "local",
    about: "Run a Pulumi program with the embedded local engine; the state is the Pulumi CLI's own",
    load: async () => (await import("./local.ts")).localCommand,
  },
  {
    usage: "help [topic] [words...]",
    about: "Print a page of the documentation, or list all pages",
    load: async () => (await import("./help.ts")).helpCommand,
  },
];

/**
 * Runs the `merchant-rules` command. Takes the words after the command's name; returns the exit code:
 * 0 done, 1 failed, 2 usage error, and what a subcommand documents (as the Pulumi CLI: 6 no such stack,
 * 7 a change that was not expected, 8 ended at once).
 */
export async function main(argv: readonly string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners("error").includes(nobodyReads)) stream.on("error", nobodyReads);
  const [first, second] = argv.filter((word) => !word.startsWith("-"));
  const isUsed = (name: string): boolean => name === first || (first === "help" && name === second);
  return await runCommandLine(await commandLine(isUsed), argv);
}

/**
 * Returns the whole command line, to parse words with or to read its help.
 * @param isLoaded which subcommands, by name, have their options and their action. Default: all. The others are only listed
 */
export async function commandLine(isLoaded: (name: string) => boolean = () => true): Promise<Command> {
  const program = new Command("merchant-rules")
    .description(
      "Payment rules as code: export them, plan changes rule by rule, watch for drift; and try it all locally",
    )
    .version(packageVersion(), "--version")
    .showHelpAfterError("(add --help for the list of options)")
    .addHelpText("after", help)
    .helpCommand(false)
    .configureHelp({ formatHelp: dailyHelp })
    .exitOverride();
  for (const { usage, about, load } of subcommands) {
    const [name = "", ...words] = usage.split(" ");
    const command = new Command(name).description(about).exitOverride();
    if (isLoaded(name)) (await load())(command);
    else for (const word of words) command.argument(word);
    program.addCommand(command);
  }
  return program;
}

/** The commands that `merchant-rules --help` lists; of the others it has a line for each group. */
const daily: readonly string[] = ["plan", "drift", "pull", "export", "lint"];

function dailyHelp(command: Command, helper: Help): string {
  const own: Help = Object.create(helper);
  own.visibleCommands = ({ commands }) => commands.filter((each) => daily.includes(each.name()));
  return Help.prototype.formatHelp.call(own, command, own);
}

const help = `
More commands (merchant-rules help --all describes each):
  of payments    verify, explain, simulate
  of rules       diff, catalog, schema
  to set up      init, contract, doctor
  to try         local, serve
  to read        help

Exit codes: 0 done; 1 failed; 2 called wrongly; 6 no such stack; 7 a change or a difference; 8 ended at once.
Each command's --help says which it has, and what they mean there. The pages are printed by merchant-rules help.

Example, to see what somebody changed by hand:
  npx --no-install merchant-rules drift --stack dev`;

// Ctrl-C ends what the output is piped to, as well; a run must come to its end, and note its results, all the same.
function nobodyReads(): void {}
