import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { loadPreset } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { TestProject } from "../../support/stack/project.ts";
import { serve } from "../../support/stack/service.ts";
import { watchMemory, watchProcessorTime } from "../host-memory.ts";
import { definitionOf, semantics, workloadRules } from "./workload.ts";

/** One process of `merchant-rules simulate`, from its start to its end. */
export interface WholeCommand {
  /** By the clock, with all that other processes of the machine do meanwhile. */
  readonly seconds: number;
  /** For which cores worked for it, where the system tells (Linux). */
  readonly processorSeconds: number | undefined;
  /** The most memory that the process had, in bytes, where the system tells (Linux). */
  readonly memoryBytes: number | undefined;
  /** Payments by the outcome of the live rules, and those that the change decides otherwise. */
  readonly payments: number;
  readonly flipped: number;
}

const command = fileURLToPath(new URL("../../../bin/merchant-rules.js", import.meta.url));
const reported = z.object({ simulation: z.object({ payments: z.number(), flipped: z.number() }) });

const program = `import { readFileSync } from "node:fs";
import { MerchantRuleSet, ruleTexts } from "pulumi-merchant-rules";
const rules = JSON.parse(readFileSync(new URL("rules.json", import.meta.url), "utf8"));
new MerchantRuleSet("rules", { rules: ruleTexts(rules) });
`;

/**
 * Simulates a change of every hundredth rule on a file of payments. The rules are at the local service, and the preview is
 * given; so the process reads the list, the preview and the payments, decides each payment twice, and writes the report.
 * @param file payments, as NDJSON
 * @throws Error: a step failed, with what it printed
 */
export async function wholeCommand(rules: number, file: string, signal: AbortSignal): Promise<WholeCommand> {
  const folder = mkdtempSync(join(tmpdir(), "semantics-"));
  const semanticsFile = join(folder, "semantics.json");
  writeFileSync(semanticsFile, JSON.stringify(semantics));
  const { environment, close } = await serve({ ...loadPreset("illustrative"), semantics: semanticsFile });
  const project = new TestProject(environment);
  const end = (): void => project.end();
  signal.addEventListener("abort", end);
  try {
    project.write("index.js", program);
    const succeeds = async (verb: string, ...flags: string[]): Promise<string> => {
      const { code, stdout, output } = await project.run("local", verb, ...flags);
      if (code !== 0) throw new Error(output);
      return stdout;
    };
    project.declare(declared(rules, false));
    await succeeds("up");
    project.declare(declared(rules, true));
    project.write("preview.json", await succeeds("preview", "--json"));
    const words = ["simulate", "--stack", project.stack, "--engine", "local", "--preview", "preview.json", "--json"];
    return await measured([...words, "--payments", file], project, signal);
  } finally {
    signal.removeEventListener("abort", end);
    project.remove();
    await close();
    rmSync(folder, { recursive: true });
  }
}

/** The definitions by key; with the change every hundredth declines what it did not. */
function declared(count: number, isChanged: boolean): Record<string, JsonObject> {
  return Object.fromEntries(
    workloadRules(count).map((rule, k) => {
      const action = isChanged && k % 100 === 0 ? "check" : rule.action;
      return [rule.name, definitionOf({ ...rule, action })];
    }),
  );
}

async function measured(words: readonly string[], project: TestProject, signal: AbortSignal): Promise<WholeCommand> {
  const started = performance.now();
  const child = spawn(process.execPath, [command, ...words], {
    cwd: project.folder,
    env: project.environment(),
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  const { pid = 0 } = child;
  const mostMemory = watchMemory(() => [String(pid)]);
  const processorTime = watchProcessorTime(pid);
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      written[name] += text;
    });
  const [code] = await once(child, "close");
  const seconds = (performance.now() - started) / 1000;
  const figures = { seconds, processorSeconds: processorTime(), memoryBytes: mostMemory() };
  if (code !== 0) throw new Error(`simulate ended with exit code ${code}: ${written.stderr}`);
  const { payments, flipped } = reported.parse(JSON.parse(written.stdout)).simulation;
  return { ...figures, payments, flipped };
}
