import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hasPulumi } from "../../support/stack/project.ts";
import { cases } from "./cases.ts";
import { local, play, pulumi, recordOf } from "./engines.ts";

const named = cases.map((history) => [history.name, history] as const);

// What the Pulumi CLI did is kept in recorded/. Where there is a CLI, `-u` records it anew.
describe.concurrent("conformance", { timeout: 300_000 }, () => {
  test.each(named)("of the local engine with the Pulumi CLI: %s", async (_name, history) => {
    const recorded: unknown = JSON.parse(readFileSync(recordOf(history), "utf8"));
    expect(await play(history, local)).toEqual(recorded);
  });
});

describe.skipIf(!hasPulumi)("the Pulumi CLI does what is recorded (needs the Pulumi CLI)", { timeout: 300_000 }, () => {
  test.each(named)("%s", async (_name, history) => {
    expect(existsSync(recordOf(history)) || process.env.CI === undefined).toBe(true);
    const observed = await play(history, pulumi);
    await expect(`${JSON.stringify(observed, null, 1)}\n`).toMatchFileSnapshot(recordOf(history));
  });
});
