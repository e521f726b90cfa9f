import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadPreset, presetFile, presets } from "../../../sdk/contract/index.ts";
import { described } from "./presets.ts";
import { live, shortLife } from "./steps.ts";

test.each(described)("$preset: rules are made, left alone, changed and destroyed", async (of) => {
  const done: string[] = [];
  await live(of, { engine: "local", form: "a set", steps: shortLife }, (step) => done.push(step));
  expect(done).toEqual(shortLife);
});

test("each preset of a service says what it was tried against, when, and what it lacks, in at most 60 lines", () => {
  const services = presets.filter((preset) => preset !== "seed" && preset !== "illustrative");
  expect(described.map(({ preset }) => preset)).toEqual(services);
  for (const preset of services) {
    const text = readFileSync(presetFile(preset), "utf8");
    expect(text.split("\n").length, preset).toBeLessThanOrEqual(60);
    expect(text, preset).toMatch(/RUN AGAINST VERSION \d|FROM PUBLIC DOCUMENTS, NOT RUN AGAINST THE SERVICE/);
    expect(text, preset).toMatch(/on 20\d\d-\d\d-\d\d/);
    expect(text, preset).toContain("# Not described here:");
    expect(loadPreset(preset).description, preset).toBeDefined();
  }
});
