import { expect } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { atEnd } from "../ends.ts";
import { type CommandResult, type EngineName, TestProject } from "./project.ts";
import { type Served, serve } from "./service.ts";

/** A stack whose every run is a command in a process of its own, as a user types it. */
export interface CommandStack extends Served {
  readonly project: TestProject;
  run(verb: string, ...flags: string[]): Promise<CommandResult>;
  /** Makes a run that must end well. */
  succeeds(verb: string, ...flags: string[]): Promise<CommandResult>;
  /** Makes a run that must fail, and say each of these. */
  fails(verb: string, ...says: (string | RegExp)[]): Promise<CommandResult>;
  /** Demands that a refresh finds everything as the state has it. */
  hasNoDrift(): Promise<void>;
  /**
   * Declares rules that are at the service already, by other resources of the stack: an `up` takes them over and writes
   * none. Their marks are those of the old resources until they change.
   */
  takesOver(rules: Record<string, JsonObject>): Promise<void>;
}

/** Makes a project on an engine, and a service of its own, by default of the illustrative contract. */
export async function openCommandStack(
  engine: EngineName,
  {
    contract,
    environment,
    config,
  }: { contract?: ContractInput; environment?: Record<string, string>; config?: readonly string[] } = {},
): Promise<CommandStack> {
  const served = await serve(contract);
  const { service } = served;
  const project = new TestProject({ ...served.environment, ...environment }, config);
  atEnd(() => project.remove());
  await project.init(engine);
  const run = (verb: string, ...flags: string[]) => project.run(engine, verb, ...flags);
  const succeeds = async (verb: string, ...flags: string[]) => {
    const result = await run(verb, ...flags);
    expect(result.code, result.output).toBe(0);
    return result;
  };
  const hasNoDrift = async () => void (await succeeds("refresh", "--preview-only", "--expect-no-changes"));
  return {
    ...served,
    project,
    run,
    succeeds,
    async fails(verb, ...says) {
      const result = await run(verb);
      expect(result.code, result.output).not.toBe(0);
      for (const each of says) expect(result.output).toMatch(each);
      return result;
    },
    hasNoDrift,
    async takesOver(rules) {
      const before = service.rules();
      project.declare(rules);
      service.resetRequests();
      await succeeds("up");
      expect(service.rules()).toEqual(before);
      expect(served.asked()).toEqual(["list"]);
      await hasNoDrift();
    },
  };
}
