import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { loadPreset } from "../../sdk/contract/index.ts";
import { rule, type ServedContract, serve } from "../support/connections.ts";
import { type EngineName, TestProject } from "../support/project.ts";
import { type RequestCounts, type Step, type StepName, stepsOf } from "./steps.ts";
import type { Subject, SubjectName } from "./subjects.ts";

/** How the state is written: whole at every step, whole once at the end, or appended to a journal. */
export type Checkpoints = "whole" | "skipped" | "journal";

export interface Run {
  readonly engine: EngineName;
  readonly subject: Subject;
  readonly checkpoints: Checkpoints;
}

export interface StepFigures {
  readonly engine: EngineName;
  readonly subject: SubjectName;
  readonly checkpoints: Checkpoints;
  readonly step: StepName;
  readonly seconds: number;
  readonly requests: RequestCounts;
  readonly allowed: RequestCounts;
  /** The stack's file after create, by the number of rules. */
  readonly stateBytesPerRule?: number;
}

export interface Measured {
  readonly figures: readonly StepFigures[];
  /** What was not as it has to be, a sentence each; a step that fails is the subject's last. */
  readonly failures: readonly string[];
}

/** Runs a subject's steps on a service and a project of their own. An abort ends the running engine; nothing is left behind. */
export async function measure(run: Run, rules: number, signal: AbortSignal): Promise<Measured> {
  const served = await serve();
  // The CLI's home is one of its own, so that its log of every call goes away as well.
  const home = mkdtempSync(join(tmpdir(), "pulumi-home-"));
  const project = new TestProject({
    ...served.environment,
    PULUMI_HOME: home,
    ...(run.checkpoints === "skipped" ? { PULUMI_SKIP_CHECKPOINTS: "true" } : {}),
  });
  const end = (): void => project.end();
  signal.addEventListener("abort", end);
  try {
    project.write("index.js", run.subject.program);
    for (const [name, text] of Object.entries(run.subject.files)) project.write(name, text);
    await project.init(run.engine);
    return await measureSteps(run, rules, served, project, signal);
  } finally {
    signal.removeEventListener("abort", end);
    project.remove();
    rmSync(home, { recursive: true });
    await served.close();
  }
}

async function measureSteps(
  { engine, subject, checkpoints }: Run,
  rules: number,
  { service }: ServedContract,
  project: TestProject,
  signal: AbortSignal,
): Promise<Measured> {
  const figures: StepFigures[] = [];
  const failures: string[] = [];
  for (const step of stepsOf(subject, rules, loadPreset("illustrative").limits.pageSize)) {
    if (signal.aborted) break;
    const which = `${engine}, ${subject.name} (checkpoints: ${checkpoints}), ${step.name}`;
    const declared = declaredAt(step, rules);
    project.declare(declared);
    service.resetRequests();
    const start = performance.now();
    const { code, output } = await project.run(engine, step.verb, ...step.flags);
    const seconds = (performance.now() - start) / 1000;
    if (code !== 0) {
      failures.push(`${which}: ended with exit code ${code}: ${output.trim().split("\n").slice(-15).join("\n")}`);
      break;
    }
    const requests = counted(service);
    figures.push({
      ...{ engine, subject: subject.name, checkpoints, step: step.name, seconds, requests, allowed: step.allowed },
      ...(step.name === "create" ? { stateBytesPerRule: Buffer.byteLength(project.state()) / rules } : {}),
    });
    failures.push(...excesses(requests, step.allowed).map((excess) => `${which}: ${excess}`));
    const live = Object.fromEntries(service.rules().map((each) => [String(each.rule.name), each.rule]));
    if (!isDeepStrictEqual(live, step.rulesAfter === 0 ? {} : declared))
      failures.push(`${which}: the rules at the service are not the declared ones`);
  }
  return { figures, failures };
}

function declaredAt(step: Step, rules: number): Record<string, ReturnType<typeof rule>> {
  return Object.fromEntries(
    Array.from({ length: rules }, (_, k) => [
      `rule-${k}`,
      rule(k, { actions: [{ type: "decline", reason: step.reason(k) }] }),
    ]),
  );
}

function counted(service: ServedContract["service"]): RequestCounts {
  const operations = ["create", "get", "update", "delete", "list", "unknown"] as const;
  return Object.fromEntries(
    operations.map((name) => [name, service.requestCount(name)]).filter(([, count]) => count !== 0),
  );
}

function excesses(requests: RequestCounts, allowed: RequestCounts): string[] {
  const limits: Readonly<Record<string, number | undefined>> = allowed;
  return Object.entries(requests)
    .filter(([operation, count]) => count > (limits[operation] ?? 0))
    .map(([operation, count]) => `sent ${count} ${operation} requests where ${limits[operation] ?? 0} are allowed`);
}
