import { afterAll, describe, test } from "vitest";
import { onBothEngines } from "../../support/stack/engines.ts";
import type { EngineName } from "../../support/stack/project.ts";
import { described } from "./presets.ts";
import { type Form, live, stepNames } from "./steps.ts";

const forms: readonly Form[] = ["a set", "single rules"];
/** By preset, engine and form: the steps that ended well. */
const table: string[] = [];

afterAll(() => {
  const head = ["preset", "engine", "form", ...stepNames];
  console.log(
    [head, head.map(() => "---")]
      .map((cells) => `| ${cells.join(" | ")} |`)
      .concat(table)
      .join("\n"),
  );
});

onBothEngines((engine: EngineName) => {
  describe.each(described)("$preset", (of) => {
    test.each(forms)("%s: through every step of its life", async (form) => {
      const done = new Set<string>();
      try {
        await live(of, { engine, form }, (step) => done.add(step));
      } finally {
        const cells = stepNames.map((step) => (done.has(step) ? "yes" : "no"));
        table.push(`| ${[of.preset, engine, form, ...cells].join(" | ")} |`);
      }
    });
  });
});
