// The benchmark: see docs/performance.md.
import { writeFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { hasJava } from "../real/wiremock.ts";
import { optionsOf } from "../support/command-line.ts";
import { hasPulumi } from "../support/stack/project.ts";
import { lintOver } from "./lint.ts";
import { thisMachine } from "./machine.ts";
import { type MeasuredEngine, measure, type Run, type StepFigures } from "./measure.ts";
import { hasOpenTofu } from "./open-tofu.ts";
import { decidePayments } from "./payments/deciding.ts";
import { type PolicyFigures, policiesOver } from "./policies.ts";
import { type ClientFigures, sdkAgainstUndici } from "./sdk-against-undici.ts";
import { subjects } from "./subjects.ts";
import { table } from "./table.ts";

interface Options {
  readonly rules: number;
  readonly engine?: readonly MeasuredEngine[];
  readonly wholeCheckpoints: boolean;
  readonly setsOnly: boolean;
  readonly payments: number;
  readonly paymentsOnly: boolean;
  readonly output?: string;
}

/** Payments are decided by so many rules, whatever the rest of the workload has. */
const rulesOfPayments = [100, 1000, 10_000];

/** The policy pack looks at so many rules, whatever the rest of the workload has. */
const rulesOfPolicies = 10_000;
/** Faults are looked for in so many rules. */
const rulesOfLint = [1_000, 10_000];

const engineNames: readonly MeasuredEngine[] = ["local", "pulumi", "opentofu"];

/** The engines that cannot be measured here, each with what it needs. */
const missing: Readonly<Partial<Record<MeasuredEngine, string>>> = {
  ...(hasPulumi ? {} : { pulumi: "--engine pulumi needs the Pulumi CLI on the PATH" }),
  ...(hasOpenTofu
    ? {}
    : { opentofu: "--engine opentofu needs tofu and terraform-provider-restapi (Mastercard/restapi) on the PATH" }),
};

// What runs is ended, what is on the disk is removed, and then this process ends by itself.
const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopped.abort());

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const options = parsedOptions(argv);
  if (typeof options === "number") return options;
  const { paymentsOnly } = options;
  const there = engineNames.filter((name) => missing[name] === undefined);
  const engines = paymentsOnly ? [] : (options.engine ?? there);
  const lacking = engines.flatMap((name) => missing[name] ?? []);
  if (lacking.length > 0) {
    console.error(`error: ${lacking.join("; ")}. Install what is missing, or use --engine local.`);
    return 1;
  }
  if (!hasJava && !paymentsOnly)
    console.error(`${subjects.setAtWireMock.name} is left out: WireMock needs Java 11 or newer on the PATH.`);
  const steps: StepFigures[] = [];
  const failures: string[] = [];
  for (const run of engines.flatMap((engine) => runsOn(engine, options))) {
    if (stopped.signal.aborted) break;
    console.error(`${run.engine}: ${run.subject.name}, checkpoints: ${run.checkpoints} ...`);
    const measured = await measure(run, options.rules, stopped.signal).catch((error: unknown) => ({
      figures: [],
      failures: [`${run.engine}, ${run.subject.name}: ${messageOf(error)}`],
    }));
    steps.push(...measured.figures);
    failures.push(...measured.failures);
  }
  const figuresOf = async <Figures>(name: string, measured: () => Promise<Figures[]>): Promise<Figures[]> => {
    if (stopped.signal.aborted) return [];
    console.error(`${name} ...`);
    return await measured().catch((error: unknown) => {
      failures.push(`${name}: ${messageOf(error)}`);
      return [];
    });
  };
  const { signal } = stopped;
  const [clients, policies]: [ClientFigures[], PolicyFigures[]] = paymentsOnly
    ? [[], []]
    : [
        await figuresOf("SDK against bare undici", () => sdkAgainstUndici(options.rules, signal)),
        await figuresOf("The policy pack", () => policiesOver(rulesOfPolicies, signal)),
      ];
  const payments = await figuresOf("Deciding payments", () =>
    decidePayments(options.payments, rulesOfPayments, signal),
  );
  const lint = paymentsOnly ? [] : await figuresOf("merchant-rules lint", () => lintOver(rulesOfLint, signal));
  if (stopped.signal.aborted) {
    console.error("error: stopped before the end; nothing was written.");
    return 1;
  }
  const { rules } = options;
  const report = {
    rules,
    machine: thisMachine(),
    steps,
    sdkAgainstUndici: clients,
    policies,
    payments,
    lint,
    failures,
  };
  console.log(table(report));
  if (options.output !== undefined) writeFileSync(options.output, `${JSON.stringify(report, undefined, 2)}\n`);
  for (const failure of failures) console.error(`\nerror: ${failure}`);
  return failures.length === 0 ? 0 : 1;
}

function runsOn(engine: MeasuredEngine, { wholeCheckpoints, setsOnly }: Options): Run[] {
  const { set, texts, doNothingTexts, setAtWireMock, single, doNothing, serialized, restObject } = subjects;
  if (engine === "opentofu") return setsOnly ? [] : [{ engine, subject: restObject, checkpoints: "its own" }];
  const ofSets = [set, texts, doNothingTexts, ...(hasJava ? [setAtWireMock] : [])];
  const each = setsOnly ? [] : [single, doNothing];
  if (engine === "local") return [...ofSets, ...each].map((subject) => ({ engine, subject, checkpoints: "journal" }));
  const whole = wholeCheckpoints ? [...each, serialized] : [];
  return [
    ...ofSets.map((subject) => ({ engine, subject, checkpoints: "whole" }) as const),
    ...each.map((subject) => ({ engine, subject, checkpoints: "skipped" }) as const),
    ...whole.map((subject) => ({ engine, subject, checkpoints: "whole" }) as const),
  ];
}

function parsedOptions(argv: readonly string[]): Options | number {
  const command = new Command("npm run bench --")
    .description(
      "Measures the workload of docs/performance.md. Times are reported; requests beyond what is allowed, and steps that fail, make exit code 1.",
    )
    .option("--rules <number>", "how many rules", upTo(999_999), 1000)
    .addOption(
      new Option("--engine <name...>", "the engine; repeatable (default: every one there is)").choices(engineNames),
    )
    .option(
      "--whole-checkpoints",
      "on pulumi, run the resources × N also with the state written at every step, and against an ordinary dynamic.Resource; takes many minutes at 1,000 rules",
      false,
    )
    .option("--sets-only", "leave out what takes a resource a rule; for many thousands of rules", false)
    .option("--payments <number>", "how many payments are decided", upTo(10_000_000), 1_000_000)
    .option("--payments-only", "decide payments, and leave out all else", false)
    .option("--output <file>", "write every figure as JSON");
  return optionsOf(command, argv);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function upTo(most: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d*$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`a whole number from 1 to ${most} is needed.`);
  };
}
