import { expect, test } from "vitest";
import { endLeft, send, start, untilNoneRuns } from "../promises/09-one-more-up-heals/interruption.ts";
import type { Declared, Stack } from "../support/stack/engines.ts";
import type { EngineName } from "../support/stack/project.ts";
import { stub } from "./payments.ts";
import { atWireMock, type RealPlace } from "./place.ts";

const total = 12;
const definitions = Object.fromEntries(Array.from({ length: total }, (_, k) => [`r${k}`, stub(k)]));
const asSet = { limits: { rules: definitions } };
const asSingles = Object.fromEntries(Object.entries(definitions).map(([name, definition]) => [name, { definition }]));

/** An `up` that is killed, with all that it started, while WireMock has made the rule number `atCreate` and did not answer. */
async function killedUp(place: RealPlace, stack: Stack, engine: EngineName, atCreate: number): Promise<void> {
  let creates = 0;
  let isReached = (): void => {};
  const reached = new Promise<void>((resolve) => {
    isReached = resolve;
  });
  place.front.behave(async ({ method }, pass) => {
    if (method !== "POST") return pass();
    creates += 1;
    const isLast = creates === atCreate;
    const answer = await pass();
    if (!isLast) return answer;
    isReached();
    // Nobody hears this answer.
    return new Promise(() => {});
  });
  const { child, exited, output } = start(stack.project, engine, "up");
  await Promise.race([
    reached,
    exited.then(() => {
      throw new Error(`the run ended before it was killed: ${output()}`);
    }),
  ]);
  send(child, "SIGKILL");
  await exited;
  // The CLI starts the provider host apart from itself. As after a power failure, nothing is left of the run.
  endLeft(stack.project, "SIGKILL");
  await untilNoneRuns(stack.project);
  place.front.behave();
  if (engine === "pulumi") {
    const { code, output } = await stack.project.pulumi("cancel", "--yes", "--stack", stack.project.stack);
    expect(code, output).toBe(0);
  }
}

atWireMock((engine, open) => {
  test.each<[string, Declared, number]>([
    ["a set", asSet, 7],
    ["single rules", asSingles, 7],
    ["single rules", asSingles, 12],
  ])(
    "$0: a run that is killed at create $2, and the next makes the rest, and none twice",
    async (_form, declared, atCreate) => {
      const place = await open();
      const stack = await place.stack(engine);
      stack.declare(declared);
      await killedUp(place, stack, engine, atCreate);
      expect((await place.service.rules()).length).toBeGreaterThanOrEqual(atCreate);
      await stack.succeeds("up", { refresh: true });
      expect((await place.service.rules()).map(({ rule }) => rule)).toEqual(
        Object.values(definitions).sort((one, other) => String(one.name).localeCompare(String(other.name))),
      );
      await stack.succeeds("refresh", { previewOnly: true, expectNoChanges: true });
      await stack.succeeds("destroy");
      expect(await place.service.rules()).toEqual([]);
    },
  );
});
