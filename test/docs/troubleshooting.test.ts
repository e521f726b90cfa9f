import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { engineExamples } from "./error-examples.ts";
import { firstMessages } from "./first-messages.ts";
import { blocksOf, pageAt, root, sectionOf } from "./page.ts";

const page = pageAt("docs/troubleshooting.md");
const headings = [...page.matchAll(/^### (.*)$/gm)].map(([, heading = ""]) => heading);

/** Messages of others: npm, Node, the TypeScript compiler, the Pulumi CLI. Seen once, and kept here by name. */
const ofOthers = [
  "The command is not found",
  "The package is not found",
  "TS6046",
  "TS1479",
  "Syntax that Node does not strip",
  "A file of the program is not found",
  "A run was killed",
];

/** Messages that the code of this package has, which it takes whole runs to produce. */
const ofSources = [
  "Node is too old",
  "The option import is refused",
  "A rule alone as the target",
  "An earlier run ended while it created",
  "The passphrase is missing",
];

/** The parts of the message that a section shows, in order; between them something is left out. */
function partsOf(heading: string): string[] {
  const [shown = ""] = blocksOf(sectionOf(page, heading), "text");
  return shown
    .replace(/\s+/g, " ")
    .split("…")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

describe("docs/troubleshooting.md", () => {
  test("has about twenty messages, each with the message and with what to do", () => {
    expect(headings.length).toBeGreaterThanOrEqual(20);
    for (const heading of headings) {
      expect(partsOf(heading).length, heading).toBeGreaterThan(0);
      const words = sectionOf(page, heading).replace(/^```.*?^```$/gms, "");
      expect(words.trim().length, heading).toBeGreaterThan(80);
    }
  });

  test("has no message that nothing here looks after", () => {
    expect(headings.toSorted()).toEqual([...Object.keys(firstMessages), ...ofOthers, ...ofSources].sort());
  });

  test.each(Object.entries(firstMessages))("shows the message of %s as it really reads", async (heading, produce) => {
    const message = (await produce()).replace(/\s+/g, " ");
    let from = 0;
    for (const part of partsOf(heading)) {
      const at = message.indexOf(part, from);
      expect(at, `${part}\nis not in\n${message}`).toBeGreaterThanOrEqual(from);
      from = at + part.length;
    }
  });

  test("shows the others of this package in words that its code has", () => {
    const rooms = ["bin", "local", "provider", "stack"];
    const sources = rooms
      .flatMap((room) =>
        readdirSync(root + room, { recursive: true, encoding: "utf8" })
          .filter((name) => /\.[jt]s$/.test(name) && !/^dist\/|node_modules/.test(name))
          .map((name) => readFileSync(`${root}${room}/${name}`, "utf8")),
      )
      .join("\n");
    for (const heading of ofSources)
      for (const part of partsOf(heading).flatMap((each) => each.split(/error: |rule x, /)))
        for (const words of part.split(/; this is |; $/).filter((each) => each.length > 8))
          expect(sources, heading).toContain(words.trim().replace(/ To take over$/, ""));
  });

  test("links to an error code that has the message that it repeats", async () => {
    expect(Object.keys(engineExamples)).toContain("PASSPHRASE");
    for (const [, code = ""] of page.matchAll(/errors\.md#(\w+)/g))
      expect(pageAt("docs/reference/errors.md")).toContain(`### ${code.toUpperCase()}\n`);
  });
});
