import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { hasPulumi } from "../../support/stack/project.ts";
import { type Ran, runCommand } from "./command.ts";
import type { Consumer, Files, StepName } from "./consumer.ts";
import { managers } from "./managers.ts";
import { LocalService } from "./service.ts";
import { steps, type Workshop } from "./steps.ts";
import { developedWith, type Tools } from "./tools.ts";

/** The result of one step of a consumer. */
export interface StepResult {
  readonly consumer: string;
  readonly step: StepName;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly seconds: number;
  /** Of a failure: what was printed. Else what a reader should know. */
  readonly note: string;
}

/** Installs a consumer from the tarballs into an empty folder, takes its steps until one fails, and removes it. */
export async function runConsumer(
  consumer: Consumer,
  tools: Tools,
  onResult: (result: StepResult) => void,
): Promise<StepResult[]> {
  const all: readonly StepName[] = ["install", ...consumer.steps];
  const results: StepResult[] = [];
  const tell = (result: Omit<StepResult, "consumer">): void => {
    results.push({ consumer: consumer.name, ...result });
    onResult({ consumer: consumer.name, ...result });
  };
  if (consumer.engine === "pulumi" && !hasPulumi) {
    for (const step of all) tell({ step, outcome: "skipped", seconds: 0, note: "the Pulumi CLI is not on the PATH" });
    return results;
  }
  const root = tools.project();
  let service: LocalService | undefined;
  try {
    const workshop = await open(consumer, tools, root, (started) => {
      service = started;
    });
    for (const step of all) {
      const begun = performance.now();
      const { outcome, note } = await outcomeOf(() => steps[step](workshop));
      tell({ step, outcome, seconds: (performance.now() - begun) / 1000, note });
      if (outcome === "failed") break;
    }
  } finally {
    await service?.stop();
    rmSync(root, { recursive: true, force: true });
  }
  return results;
}

async function outcomeOf(run: () => Promise<string>): Promise<Pick<StepResult, "outcome" | "note">> {
  try {
    return { outcome: "passed", note: await run() };
  } catch (error) {
    return { outcome: "failed", note: error instanceof Error ? error.message : String(error) };
  }
}

async function open(
  consumer: Consumer,
  tools: Tools,
  root: string,
  onService: (service: LocalService) => void,
): Promise<Workshop> {
  const manager = managers[consumer.manager];
  const project = join(root, consumer.workspace ?? "");
  const state = join(root, ".state");
  write(root, { ...manager.files, ...packageFiles(consumer, tools) });
  write(project, consumer.files);
  mkdirSync(state);
  if (consumer.manager !== "npm") await tools.managers();
  const node = await tools.node(consumer.node);
  const env: NodeJS.ProcessEnv = {
    ...tools.environment,
    PATH: [node, tools.environment.PATH].join(delimiter),
    PULUMI_BACKEND_URL: pathToFileURL(state).href,
    PULUMI_CONFIG_PASSPHRASE: "correct horse",
    PULUMI_OPTION_NON_INTERACTIVE: "true",
  };
  let service: Promise<LocalService> | undefined;
  const startService = async (): Promise<LocalService> => {
    const words = ["merchant-rules", "serve", "--contract", "illustrative", "--port", "0"];
    const started = await LocalService.start(manager.run(tools, words), { cwd: project, env });
    onService(started);
    Object.assign(env, started.settings);
    return started;
  };
  const command = (words: readonly string[]): Promise<Ran> => runCommand(words, { cwd: project, env });
  return {
    consumer,
    project,
    root,
    service() {
      service ??= startService();
      return service;
    },
    command,
    install: () => command(manager.install(tools)),
    engine(verb, ...flags) {
      const all = [verb, "--stack", "dev", ...flags];
      if (consumer.engine === "local") return command(manager.run(tools, ["merchant-rules", "local", ...all]));
      return command(manager.wrap?.(tools, ["pulumi", ...all]) ?? ["pulumi", ...all]);
    },
  };
}

function packageFiles(consumer: Consumer, tools: Tools): Files {
  const [main, ...others] = tools.tarballs.map(({ name, file }) => [name, `file:${file}`] as const);
  const own = {
    name: "consumer",
    version: "1.0.0",
    private: true,
    ...consumer.package,
    dependencies: {
      "@pulumi/pulumi": consumer.sdk ?? developedWith("@pulumi/pulumi"),
      ...Object.fromEntries(main === undefined ? [] : [main]),
    },
    devDependencies: { ...Object.fromEntries(others), ...consumer.devDependencies },
  };
  if (consumer.workspace === undefined) return { "package.json": JSON.stringify(own, undefined, 2) };
  const root = { name: "root", version: "1.0.0", private: true, workspaces: [consumer.workspace] };
  return {
    "package.json": JSON.stringify(root, undefined, 2),
    [join(consumer.workspace, "package.json")]: JSON.stringify(own, undefined, 2),
  };
}

function write(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
