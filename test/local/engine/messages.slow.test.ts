import { describe, expect, test } from "vitest";
import { Project } from "./support.ts";

type Said = Awaited<ReturnType<Project["run"]>>;

/** The warnings, each with the name of its resource. */
function warnings({ events }: Said): string[] {
  return events
    .flatMap((event) =>
      event.kind === "diagnostic" && event.severity === "warning"
        ? [`${event.urn?.split("::").at(-1) ?? "?"}: ${event.message}`]
        : [],
    )
    .sort();
}

describe.concurrent("what a provider says while it works", { timeout: 120_000 }, () => {
  const rules = (names: readonly string[], rest: object): string =>
    names.map((name) => `new Rule("${name}", ${JSON.stringify({ name, ...rest })});`).join("\n");
  const names = ["a", "b", "c", "d"];

  test("is shown once, as a warning of the resource that it is about, by every verb", async () => {
    const say = Object.fromEntries(
      ["create", "read", "delete"].map((verb) => [
        verb,
        [`a sentence in ${verb}`, `warning: with a prefix in ${verb}`, `over two\nlines in ${verb}`],
      ]),
    );
    const project = new Project(rules(names, { say }));
    for (const [verb, hook] of [
      ["up", "create"],
      ["refresh", "read"],
      ["destroy", "delete"],
    ] as const)
      expect(warnings(await project.ok(verb)), verb).toEqual(
        names.flatMap((name) => [
          `${name}: a sentence in ${hook}`,
          `${name}: over two\nlines in ${hook}`,
          `${name}: with a prefix in ${hook}`,
        ]),
      );
  });

  test("stands with the word warning once, on a line of its own; what is told as a fact, without it", async () => {
    const project = new Project(
      rules(["a"], { say: { create: ["one", "warning: two"] }, tell: { create: ["three\nfour"] } }),
    );
    const { stdout } = project.cli(["up", "--yes"]);
    expect(stdout.split("\n").filter((line) => /one|two|three|four/.test(line))).toEqual([
      "  warning: fixture:Rule a: one",
      "  warning: fixture:Rule a: two",
      "  fixture:Rule a: three",
      "    four",
    ]);
  });

  test("is not lost when the call fails, and the error stands once", async () => {
    const project = new Project(rules(["a"], { say: { create: ["before it fails"] }, fail: "create" }));
    const failed = await project.run("up");
    expect(warnings(failed)).toEqual(["a: before it fails"]);
    expect(failed.messages.filter((message) => message.includes("refuses"))).toEqual([
      "the service refuses to create this",
    ]);
  });

  test("is not lost when it comes past console: what libraries and Node itself print", async () => {
    const project = new Project(rules(["a"], { print: { create: "warning: from below\nand more" } }));
    expect(warnings(await project.ok("up"))).toEqual(["?: from below\nand more"]);
  });
});
