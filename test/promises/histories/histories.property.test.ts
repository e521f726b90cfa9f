import fc from "fast-check";
import { test, vi } from "vitest";
import { check, timeout } from "../../support/fuzz/runs.ts";
import { explore, type Scenario, scenarios, shown, steps } from "./histories.ts";
import { type Form, type Letters, lettersText } from "./world-model.ts";

/** The hooks wait for each other and for a service that lags. No verdict hangs on how long, so that here all is shorter. */
const shorter = 20;

vi.mock("node:timers/promises", async (importOriginal) => {
  const timers = await importOriginal<typeof import("node:timers/promises")>();
  const { setTimeout } = timers;
  const sleep: typeof setTimeout = (ms = 0, ...rest) => setTimeout(ms / shorter, ...rest);
  return { ...timers, setTimeout: sleep, default: { ...timers, setTimeout: sleep } };
});

const letters: fc.Arbitrary<Letters> = fc.record(
  { M: fc.boolean(), N: fc.boolean(), I: fc.boolean(), L: fc.boolean() },
  { noNullPrototype: true },
);

test.each(Object.entries(scenarios))(
  "whatever happens to a stack, its rules stay its own, and there is a way out: %s",
  async (name, scenario: Scenario) => {
    await check(
      10,
      fc.record({ letters, form: fc.constantFrom<Form>("rules", "set"), history: steps }),
      async ({ letters, form, history }) => {
        const violations = await explore(scenario, letters, form, history);
        const found = violations.find(({ limit }) => limit === undefined);
        if (found !== undefined) throw new Error(shown(found, `${name}, contract ${lettersText(letters)}, ${form}`));
      },
    );
  },
  timeout,
);
