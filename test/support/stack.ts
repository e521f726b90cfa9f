import { expect, onTestFinished, type TestContext } from "vitest";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { rule } from "./rules.ts";
import { type CommandResult, type EngineName, TestProject } from "./stack/project.ts";
import { serve } from "./stack/service.ts";

/** A project on an engine and a service of their own, which go away with the test. */
export async function openStack(
  engine: EngineName,
  options: {
    contract?: ContractInput;
    environment?: Record<string, string>;
    config?: readonly string[];
    /** Of a test that runs beside others of its file: the test's own. */
    onTestFinished?: TestContext["onTestFinished"];
  } = {},
) {
  const { contract, environment, config, onTestFinished: onEnd = onTestFinished } = options;
  const served = await serve(contract);
  const project = new TestProject({ ...served.environment, ...environment }, config);
  onEnd(() => project.remove());
  await project.init(engine);
  const { service } = served;
  const run = (verb: string, ...flags: string[]): Promise<CommandResult> => project.run(engine, verb, ...flags);
  const succeeds = async (verb: string, ...flags: string[]): Promise<CommandResult> => {
    const result = await run(verb, ...flags);
    expect(result.code, result.output).toBe(0);
    return result;
  };
  /**
   * Declares rules that are at the service already, by other resources of the stack: an `up` takes them over and writes
   * none. Their marks are those of the old resources until they change.
   */
  const takesOver = async (rules: Record<string, JsonObject>): Promise<void> => {
    const before = service.rules();
    project.declare(rules);
    service.resetRequests();
    await succeeds("up");
    expect(service.rules()).toEqual(before);
    expect(service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    await succeeds("refresh", "--preview-only", "--expect-no-changes");
  };
  return { project, service, run, succeeds, takesOver };
}

/** Definitions by key. */
export function many(count: number): Record<string, JsonObject> {
  return Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, rule(k)]));
}
