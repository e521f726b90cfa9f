import { type ChildProcess, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EventLines } from "../../../local/engine/display/json.ts";
import { EngineError, exitCodeOf, runEngine } from "../../../local/engine/index.ts";
import { newCrypter } from "../../../stack/state/crypter.ts";
import { Project, passphrase } from "../engine/support.ts";
import type { Case, Run } from "./cases.ts";
import { type Observation, Observer, pendingOf, type Told } from "./observation.ts";

/** Whatever is meant by a name, wherever it stands. */
const targetOf = (name: string): string => `**::${name}`;

/** An engine that runs a project, and says what it did as the CLI's engine events. */
type Engine = (project: Project, run: Run) => Promise<Omit<Told, "run">>;

/** Runs a history, and says what each run came to. */
export async function play({ runs }: Case, engine: Engine): Promise<Observation[]> {
  const project = new Project("");
  const observer = new Observer(project);
  const observations: Observation[] = [];
  for (const [k, run] of runs.entries()) {
    if (run.program !== undefined) project.program(run.program);
    run.before?.(project);
    const told = await engine(project, run);
    const words = [
      `${k + 1}.`,
      run.verb,
      ...(run.flags ?? []),
      ...(run.targets ?? []),
      ...(run.interrupted === undefined ? [] : [run.interrupted]),
    ];
    observations.push(observer.observe({ run: words.join(" "), ...told }));
  }
  return observations;
}

const sharedKey = newCrypter(passphrase);

/** The local engine, in this process; a run that is killed in one of its own. */
export const local: Engine = async (project, run) => {
  const { verb, flags = [], targets = [], interrupted } = run;
  // One key for all projects: to derive one takes half a second.
  if (!project.exists("Pulumi.dev.yaml"))
    project.write("Pulumi.dev.yaml", `encryptionsalt: ${(await sharedKey).salt}\n`);
  if (interrupted === "killed") {
    const { child, exited } = project.start([verb, "--yes", ...flags]);
    await killed(project, child, exited);
    return { exitCode: null, events: [] };
  }
  const events: string[] = [];
  const lines = new EventLines(verb, (line) => events.push(line));
  const cancel = new AbortController();
  try {
    const running = runEngine({
      verb,
      cwd: project.folder,
      env: project.env,
      refresh: flags.includes("--refresh"),
      targets: targets.map(targetOf),
      previewOnly: flags.includes("--preview-only"),
      clearPendingCreates: flags.includes("--clear-pending-creates"),
      signal: cancel.signal,
      onEvent: (event) => lines.onEvent(event),
    });
    if (interrupted === "cancelled") await cancelled(project, () => cancel.abort());
    const result = await running;
    lines.finish(result);
    return { exitCode: exitCodeOf(result, flags.includes("--expect-no-changes")), events };
  } catch (error) {
    if (error instanceof EngineError) return { exitCode: error.exitCode, events };
    throw error;
  }
};

/** The Pulumi CLI on the PATH. */
export const pulumi: Engine = async (project, run) => {
  const { verb, flags = [], targets = [], interrupted } = run;
  if (!project.exists(".pulumi/stacks")) {
    await command(project, ["stack", "init", "dev"]).exited;
  }
  const yes = verb === "preview" || flags.includes("--preview-only") ? [] : ["--yes", "--skip-preview"];
  const targetFlags = targets.flatMap((name) => ["--target", targetOf(name)]);
  const running = command(project, [verb, "--stack", "dev", "--json", ...yes, ...flags, ...targetFlags]);
  if (interrupted === "killed") {
    await killed(project, running.child, running.exited);
    await command(project, ["cancel", "--stack", "dev", "--yes"]).exited;
    return { exitCode: null, events: [] };
  }
  if (interrupted === "cancelled") await cancelled(project, () => running.child.kill("SIGINT"));
  const { code, stdout } = await running.exited;
  return { exitCode: code, events: stdout.split("\n").filter((line) => line.startsWith("{")) };
};

/** Ends the run gently while it waits in a create, which then comes to its end. */
async function cancelled(project: Project, cancel: () => void): Promise<void> {
  await project.until(() => project.exists("waiting"));
  cancel();
  await sleep(300);
  project.write("go", "");
}

/** Ends the run at once, while it waits in a create and the state says so. */
async function killed(project: Project, child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  await project.until(() => project.exists("waiting") && pendingOf(project).includes(project.read("waiting")));
  child.kill("SIGKILL");
  await exited;
}

function command(project: Project, args: readonly string[]) {
  const { words, options } = project.pulumi(args, { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" });
  const child = spawn("pulumi", words, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const exited = new Promise<{ code: number | null; stdout: string }>((done) =>
    child.on("close", (code) => done({ code, stdout })),
  );
  return { child, exited };
}

/** The record of what the CLI did in a case. */
export function recordOf({ name }: Case): string {
  const file = name
    .replaceAll("*", "star")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return resolve(join(import.meta.dirname, "recorded", `${file}.json`));
}
