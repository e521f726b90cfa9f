import { expect, onTestFinished } from "vitest";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { rule, serve } from "../support/connections.ts";
import { type CommandResult, type EngineName, TestProject } from "../support/project.ts";

/** A project on an engine and a service of their own, which go away with the test. */
export async function openStack(engine: EngineName, config: readonly string[] = []) {
  const served = await serve();
  onTestFinished(() => served.close());
  const project = new TestProject(served.environment, config);
  onTestFinished(() => project.remove());
  await project.init(engine);
  const run = (verb: string, ...flags: string[]): Promise<CommandResult> => project.run(engine, verb, ...flags);
  const succeeds = async (verb: string, ...flags: string[]): Promise<CommandResult> => {
    const result = await run(verb, ...flags);
    expect(result.code, result.output).toBe(0);
    return result;
  };
  return { project, service: served.service, run, succeeds };
}

/** Definitions by key. */
export function many(count: number): Record<string, JsonObject> {
  return Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, rule(k)]));
}
