import { afterEach, describe, expect, test } from "vitest";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { beginner, type PageStep, type Reader, stepsOf } from "./follow.ts";
import { pageAt, sectionOf } from "./page.ts";

const moving = pageAt("docs/moving.md");
const look = sectionOf(pageAt("docs/getting-started.md"), "7. Look at the service");

const readers: Reader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.leave();
});

describe("docs/moving.md", () => {
  const guide = sectionOf(moving, "From a hand-written dynamic provider");
  const before = guide.slice(0, guide.indexOf("\n### "));

  async function move(engine: EngineName, heading: string): Promise<void> {
    const reader = await beginner(engine);
    readers.push(reader);
    const adapt = engine === "local" ? forLocalEngine : (steps: PageStep[]) => steps;
    await reader.follow(stepsOf(before, engine));
    if (engine === "pulumi") await reader.run("pulumi stack init dev");
    await reader.run(engine === "pulumi" ? "pulumi up --yes" : "npx --no-install merchant-rules local up --yes");
    const ids = await rulesAt(reader);
    expect(ids.length).toBe(2);
    await reader.follow(adapt(stepsOf(sectionOf(moving, heading), engine)));
    expect(await rulesAt(reader)).toEqual(ids);
  }

  test("keeps every rule and its id with retainOnDelete, on the local engine", () =>
    move("local", "With retainOnDelete"));

  test.skipIf(!hasPulumi).each(["With retainOnDelete", "With pulumi state delete"])(
    "keeps every rule and its id, on the Pulumi CLI: %s",
    (heading) => move("pulumi", heading),
  );
});

/** A page's steps for the Pulumi CLI, as steps for the local engine where that can do them; it prints other lines. */
function forLocalEngine(steps: readonly PageStep[]): PageStep[] {
  return steps.map((step) =>
    step.kind === "run"
      ? { ...step, prints: [], commands: step.commands.replace(/^pulumi /gm, "npx --no-install merchant-rules local ") }
      : step,
  );
}

async function rulesAt(reader: Reader): Promise<string[]> {
  const [step] = stepsOf(look, "local");
  if (step?.kind !== "run") throw new Error("the first page does not look at the service");
  return [...(await reader.run(step.commands)).matchAll(/"ruleId":"(.*?)"/g)].map(([, id = ""]) => id).sort();
}
