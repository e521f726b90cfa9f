import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { Reader, stepsOf } from "./follow.ts";
import { pageAt } from "./page.ts";

const page = pageAt("docs/getting-started.md");

const readers: Reader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.leave();
});

const workflow = z.looseObject({
  jobs: z.record(
    z.string(),
    z.looseObject({
      steps: z.array(z.looseObject({ run: z.string().optional(), env: z.record(z.string(), z.string()).optional() })),
    }),
  ),
});

/** Does all that the page says, and then what its CI jobs do. */
async function follow(engine: EngineName): Promise<void> {
  const steps = stepsOf(page, engine);
  const reader = new Reader(engine);
  readers.push(reader);
  await reader.follow(steps);
  // The page ends in the project that the command has written.
  expect(await doesItsCheck(reader)).toBe(2);
  await reader.run("cd ..");
  expect(await doesItsCheck(reader)).toBe(1);
}

/** Does what the CI job of the reader's folder does. @returns how many commands that are */
async function doesItsCheck(reader: Reader): Promise<number> {
  const { jobs } = workflow.parse(parse(reader.read(".github/workflows/payment-rules-check.yml")));
  const commands = Object.values(jobs)
    .flatMap((job) => job.steps)
    .flatMap(({ run, env }) => (run === undefined || run === "npm ci" ? [] : [{ run, env }]));
  let printed = "";
  for (const { run, env } of commands)
    printed = await reader.run(run.replace(/\$\{\{ matrix\.stack \}\}/, "check"), env);
  expect(printed).toContain("4 to create");
  return commands.length;
}

/** It installs packages, which may take a slow registry minutes. */
const limitMs = 600_000;

describe("docs/getting-started.md", () => {
  test("has files, commands and what they print for each of the two engines", () => {
    for (const engine of ["local", "pulumi"] as const) {
      const steps = stepsOf(page, engine);
      const files = steps.flatMap((step) => (step.kind === "write" ? [step.file] : []));
      expect(files).toContain("index.ts");
      const runs = steps.flatMap((step) => (step.kind === "run" ? [step] : []));
      expect(runs.filter(({ prints }) => prints.length > 0).length).toBeGreaterThanOrEqual(9);
      expect(runs.map(({ commands }) => commands).join("")).toContain("npm run rules -- contract init");
      const verbs = engine === "pulumi" ? /^pulumi (\w+)/gm : /^npm run rules -- local (\w+)/gm;
      const typed = [
        ...runs
          .map(({ commands }) => commands)
          .join("")
          .matchAll(verbs),
      ].map(([, verb]) => verb);
      const all = ["preview", "up", "preview", "up", "destroy"];
      expect(typed).toEqual(engine === "pulumi" ? ["stack", ...all] : all);
      expect(steps.filter(({ kind }) => kind === "edit").length).toBe(1);
    }
  });

  test("can be followed word for word without the Pulumi CLI", () => follow("local"), limitMs);

  test.skipIf(!hasPulumi)("can be followed word for word with the Pulumi CLI", () => follow("pulumi"), limitMs);
});
