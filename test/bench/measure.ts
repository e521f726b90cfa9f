import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../sdk/json/index.ts";
import { type CommandResult, type EngineName, TestProject } from "../support/stack/project.ts";
import { watchHostMemory } from "./host-memory.ts";
import { OpenTofuProject } from "./open-tofu.ts";
import { type MeasuredService, startService } from "./services.ts";
import { exportFile, type RequestCounts, type Step, type StepName, stepsOf } from "./steps.ts";
import type { Subject, SubjectName } from "./subjects.ts";

/** The state is written whole at every step, whole once at the end, appended to a journal, or as OpenTofu does. */
export type Checkpoints = "whole" | "skipped" | "journal" | "its own";
export type MeasuredEngine = EngineName | "opentofu";

export interface Run {
  readonly engine: MeasuredEngine;
  readonly subject: Subject;
  readonly checkpoints: Checkpoints;
}

export interface StepFigures {
  readonly engine: MeasuredEngine;
  readonly subject: SubjectName;
  readonly checkpoints: Checkpoints;
  readonly step: StepName;
  readonly seconds: number;
  readonly requests: RequestCounts;
  /** Undefined for what is not this package's. */
  readonly allowed?: RequestCounts;
  /** The stack's file after create, by the number of rules. */
  readonly stateBytesPerRule?: number;
  /** The most memory of the provider host, in bytes, where the system tells (Linux). */
  readonly hostMemoryBytes?: number;
}

export interface Measured {
  readonly figures: readonly StepFigures[];
  /** Everything that was not as it has to be, a sentence each; a step that fails is the subject's last. */
  readonly failures: readonly string[];
}

/** A project whose steps are measured. */
interface BenchProject {
  declare(rules: Record<string, JsonObject>): void;
  /** Prepares a step, off the clock. */
  prepare(step: Step): Promise<void>;
  run(step: Step): Promise<CommandResult & { hostMemoryBytes?: number | undefined }>;
  /** The text of the state's file. */
  state(): string;
  /** Asks what runs to end. */
  end(): void;
  remove(): void;
}

/** Runs a subject's steps on a service and a project of their own. An abort ends the running engine; nothing is left behind. */
export async function measure(run: Run, rules: number, signal: AbortSignal): Promise<Measured> {
  const service = await startService(run.subject.service);
  let project: BenchProject | undefined;
  const end = (): void => project?.end();
  signal.addEventListener("abort", end);
  try {
    project = run.engine === "opentofu" ? openTofuProject(service) : await pulumiProject(run, run.engine, service);
    return await measureSteps(run, rules, service, project, signal);
  } finally {
    signal.removeEventListener("abort", end);
    project?.remove();
    await service.close();
  }
}

async function pulumiProject(
  { subject, checkpoints }: Run,
  engine: EngineName,
  service: MeasuredService,
): Promise<BenchProject> {
  // The CLI's home is one of its own, so that its log of every call goes away as well.
  const home = mkdtempSync(join(tmpdir(), "pulumi-home-"));
  const project = new TestProject({
    ...service.environment,
    PULUMI_HOME: home,
    ...(checkpoints === "skipped" ? { PULUMI_SKIP_CHECKPOINTS: "true" } : {}),
  });
  project.write("index.js", subject.program);
  for (const [name, text] of Object.entries(subject.files)) project.write(name, text);
  await project.init(engine);
  return {
    declare: (rules) => project.declare(rules),
    async prepare({ name }) {
      if (name !== "merchant-rules drift") return;
      if (engine === "local") return project.write(exportFile, project.state());
      const { code, output } = await project.pulumi("stack", "export", "--stack", project.stack, "--file", exportFile);
      if (code !== 0) throw new Error(output);
    },
    run: async ({ name, verb, flags }) => {
      if (name === "merchant-rules drift") return project.merchantRules(verb, ...flags);
      const mostMemory = watchHostMemory(project.folder);
      const result = await project.run(engine, verb, ...flags);
      return { ...result, hostMemoryBytes: mostMemory() };
    },
    state: () => project.state(),
    end: () => project.end(),
    remove: () => {
      project.remove();
      rmSync(home, { recursive: true });
    },
  };
}

function openTofuProject({ url, token }: MeasuredService): BenchProject {
  const project = new OpenTofuProject(url, token);
  return {
    declare: (rules) => project.declare(rules),
    prepare: () => Promise.resolve(),
    async run({ name }) {
      if (name === "merchant-rules drift") throw new Error("OpenTofu has no such step");
      return project.run(name);
    },
    state: () => project.state(),
    end: () => project.end(),
    remove: () => project.remove(),
  };
}

async function measureSteps(
  { engine, subject, checkpoints }: Run,
  rules: number,
  service: MeasuredService,
  project: BenchProject,
  signal: AbortSignal,
): Promise<Measured> {
  const figures: StepFigures[] = [];
  const failures: string[] = [];
  for (const step of stepsOf(subject, rules, service)) {
    if (signal.aborted) break;
    const which = `${engine}, ${subject.name} (checkpoints: ${checkpoints}), ${step.name}`;
    const declared = declaredAt(step, rules, service);
    project.declare(declared);
    await project.prepare(step);
    service.resetRequests();
    const start = performance.now();
    const { code, output, hostMemoryBytes } = await project.run(step);
    const seconds = (performance.now() - start) / 1000;
    if (code !== 0) {
      failures.push(`${which}: ended with exit code ${code}: ${output.trim().split("\n").slice(-15).join("\n")}`);
      break;
    }
    const requests = service.requests();
    const { allowed } = step;
    figures.push({
      ...{ engine, subject: subject.name, checkpoints, step: step.name, seconds, requests },
      ...(allowed === undefined ? {} : { allowed }),
      ...(step.name === "create" ? { stateBytesPerRule: Buffer.byteLength(project.state()) / rules } : {}),
      ...(hostMemoryBytes === undefined ? {} : { hostMemoryBytes }),
    });
    if (allowed !== undefined) failures.push(...excesses(requests, allowed).map((excess) => `${which}: ${excess}`));
    if (!isDeepStrictEqual(await service.rules(), step.rulesAfter === 0 ? {} : declared))
      failures.push(`${which}: the rules at the service are not the declared ones`);
  }
  return { figures, failures };
}

function declaredAt(step: Step, rules: number, service: MeasuredService): Record<string, JsonObject> {
  return Object.fromEntries(
    Array.from({ length: rules }, (_, k) => [`rule-${k}`, service.definition(k, step.reason(k))]),
  );
}

function excesses(requests: RequestCounts, allowed: RequestCounts): string[] {
  const limits: Readonly<Record<string, number | undefined>> = allowed;
  return Object.entries(requests)
    .filter(([operation, count]) => count > (limits[operation] ?? 0))
    .map(([operation, count]) => `sent ${count} ${operation} requests where ${limits[operation] ?? 0} are allowed`);
}
