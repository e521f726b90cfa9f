import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandLine } from "../../../cli/main.ts";
import { leftIn, processesOf, quickstart, root, temporaryFolder } from "./quickstart.ts";

/** The files where an engine would write: beside the program, and at the top. */
const sources = (): string[] => ["", "examples/quickstart"].flatMap((folder) => readdirSync(join(root, folder)));

describe("npm run quickstart", () => {
  test("tells the whole story on the local engine, says what is next, and leaves nothing behind", async () => {
    const temporary = temporaryFolder();
    const before = sources();
    const { code, output } = await quickstart({ temporary }, "--engine", "local");
    expect(code, output).toBe(0);
    const steps = [...output.matchAll(/^\d+\. (.*)$/gm)].map(([, step]) => step);
    expect(steps).toEqual([
      "The engine",
      "The service",
      "The project",
      "Preview",
      "Up",
      "Read them back",
      "Preview again",
      "Somebody edits a rule at the service",
      "Drift check",
      "Up heals",
      "Destroy",
      "Next",
    ]);
    expect(partOf(output, "Preview")).toContain(
      [
        "create  merchant-rules:MerchantRule large-amounts",
        "   |        + definition:",
        '   |        +   actions: [{"reason":"above the limit","type":"decline"}]',
        '   |        +   conditions: [{"field":"amount","operator":"gt","value":10000}]',
        "   |        +   isActive: true",
        '   |        +   name: "large-amounts"',
        "   |        +   priority: 100",
      ].join("\n"),
    );
    expect(partOf(output, "Drift check")).toContain("~ definition.priority: 100 => 1");
    expect(leftIn(temporary)).toEqual([]);
    expect(processesOf(temporary)).toEqual([]);
    expect(sources()).toEqual(before);

    const next = partOf(output, "Next");
    const pages = [...next.matchAll(/\$ npx --no-install merchant-rules help (\S+)/g)].map(([, page]) => page);
    expect(pages).toEqual(["getting-started", "contract", "existing-rules"]);
    for (const page of pages) expect(existsSync(join(root, "docs", `${page}.md`)), page).toBe(true);
    const known = (await commandLine(() => false)).commands.map((command) => command.name());
    const named = [...next.matchAll(/\$ npx --no-install merchant-rules (\w+)/g)].map(([, name]) => name);
    expect(named).toEqual(["help", "help", "help", "export", "plan", "drift"]);
    expect(known).toEqual(expect.arrayContaining(named));
    const lines = next.trim().split("\n").slice(1);
    expect(lines.length).toBeGreaterThanOrEqual(5);
    expect(lines.length).toBeLessThanOrEqual(9);
  });

  test("refuses an engine that it does not know", async () => {
    const { code, output } = await quickstart({ temporary: temporaryFolder() }, "--engine", "other");
    expect(code).toBe(2);
    expect(output).toContain("local");
  });
});

/** A step of the story, with its title. */
function partOf(output: string, title: string): string {
  return output.split(/^\d+\. /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
}
