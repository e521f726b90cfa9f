import { describe, expect, test } from "vitest";
import { cliPage } from "../../scripts/reference/cli-page.ts";
import { run } from "../cli/command.ts";
import { pageAt, sectionOf } from "./page.ts";

const page = pageAt("docs/reference/cli.md");

describe("docs/reference/cli.md", () => {
  test("is what the script writes (node scripts/write-cli-reference.ts)", async () => {
    expect(page).toBe(await cliPage());
  });

  test.each([...page.matchAll(/^## (.*)$/gm)].map(([, name = ""]) => name))(
    "has what %s --help prints",
    async (name) => {
      const words = name.split(" ").slice(1);
      const { code, stdout } = await run([...words, "--help"]);
      expect(code).toBe(0);
      const shown = sectionOf(page, name).replace(/```(?:text)?/g, "");
      expect(shown.replace(/\s+/g, " ").trim()).toBe(stdout.replace(/\s+/g, " ").trim());
    },
  );

  test("has every subcommand", () => {
    for (const name of ["plan", "drift", "diff", "export", "serve", "local up"])
      expect(page).toContain(`## merchant-rules ${name}\n`);
  });
});
