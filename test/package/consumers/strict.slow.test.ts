import { afterAll, describe, expect, test } from "vitest";
import type { Consumer } from "./consumer.ts";
import { quickest, strictest } from "./consumers.ts";
import { expectPassed, limitMs } from "./expect-passed.ts";
import { runConsumer } from "./run-consumer.ts";
import { Tools } from "./tools.ts";

const tools = new Tools();
afterAll(() => tools.remove());

describe("a project that installs the tarball", () => {
  test(strictest.name, () => expectPassed(strictest, tools), limitMs);

  test(
    "fails at the step that fails, with what was printed, and goes no further",
    async () => {
      const broken: Consumer = {
        ...quickest,
        name: "broken",
        files: { "rules.test.js": 'throw new Error("the rules are wrong")' },
        steps: ["unit tests", "preview"],
      };
      const results = await runConsumer(broken, tools, () => undefined);
      expect(results.map(({ step, outcome }) => [step, outcome])).toEqual([
        ["install", "passed"],
        ["unit tests", "failed"],
      ]);
      expect(results.at(-1)?.note).toMatch(/the exit code should be 0, and is 1:[\s\S]*the rules are wrong/);
    },
    limitMs,
  );
});
