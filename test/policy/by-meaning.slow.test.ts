import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setType } from "../../provider/host/types.ts";
import { run as command } from "../cli/command.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { described, limit } from "./payments.ts";

const pack = join(import.meta.dirname, "../../policy");

const engines = [
  ["local", true],
  ["pulumi", hasPulumi],
] as const satisfies readonly (readonly [EngineName, boolean])[];

const rule = (over: number, more = {}) => ({ name: "night", ...limit(over), ...more });
const sample = Array.from({ length: 100 }, (_, index) => `${JSON.stringify({ amount: 10 * (index + 1) })}\n`).join("");
const amounts = "declines when amount > ";

describe.each(engines)("policies that decide payments, on the engine %s", (engine, isThere) => {
  test.skipIf(!isThere)(
    "refuse a run that accepts more, or gives too many payments of a sample another outcome, and advise where nothing can be shown",
    { timeout: 240_000 },
    async () => {
      const { project, run } = await openCommandStack(engine);
      const deployed = (rules: object) => ({
        version: 3,
        deployment: {
          resources: [
            {
              urn: `urn:pulumi:test::lifecycle::${setType}::all`,
              type: setType,
              custom: true,
              id: "all",
              inputs: { rules },
              outputs: { rules, ruleIds: { night: "r-1" } },
            },
          ],
        },
      });
      const both = { baseline: "baseline.json", semantics: "rules.semantics.json" };
      project.write("rules.semantics.json", JSON.stringify({ ...described, ignored: ["/name"] }));
      project.write("baseline.json", JSON.stringify(deployed({ night: rule(500) })));
      project.write("sample.jsonl", sample);
      project.write(
        "policy-config.json",
        JSON.stringify({ "accepted-payments": both, "flipped-payments": { ...both, file: "sample.jsonl" } }),
      );
      project.set({ PWD: project.folder });
      const flags = ["--policy-pack", pack, "--policy-pack-config", join(project.folder, "policy-config.json")];
      const shown = `night: found more accepted payments, such as {"amount":`;
      const words = `(before: decline by night, which ${amounts}500 (priority 10); now: accept, as no rule applies), allowed`;
      const flips = "the stack: found 20 of 100 payments of sample.jsonl with another outcome, allowed at most 1 %";

      project.declare({ all: { rules: { night: rule(700) } } });
      const refused = await run("preview", ...flags);
      expect(refused.code, refused.output).toBe(1);
      for (const text of [shown, words, flips]) expect(refused.output).toContain(text);

      const planned = ["plan", "--cwd", project.folder, "--stack", project.stack, "--engine", engine, ...flags];
      const plan = await command(planned, project.variables());
      expect(plan.code, plan.stderr).toBe(1);
      for (const text of [shown, words, flips]) expect(plan.stdout.replace(/\n {2}/g, " ")).toContain(text);

      project.write("policy-config.json", JSON.stringify({ "accepted-payments": both }));
      project.declare({ all: { rules: { night: rule(700, { speed: 3 }) } } });
      const advised = await run("preview", ...flags);
      expect(advised.code, advised.output).toBe(0);
      expect(advised.output).toContain("accepted-payments-shown");
      expect(advised.output).toContain("the stack: found no proof, because night cannot be read at /speed");
    },
  );
});
