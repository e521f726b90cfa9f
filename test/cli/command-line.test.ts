import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commandLine } from "../../cli/main.ts";
import { command } from "./command.ts";

const subcommands = ["help", "plan", "diff", "serve", "local preview", "local up", "local refresh", "local destroy"];

describe("the merchant-rules command", () => {
  test("says its version, which is the package's", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await command("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("lists its subcommands without loading one as their files describe them", async () => {
    expect((await commandLine(() => false)).helpInformation()).toBe((await commandLine()).helpInformation());
  });

  test("has the five of every day in its help, each other one in a group's line, and all of them in help --all", async () => {
    const listed = async (...words: string[]): Promise<string[]> =>
      [...(await command(...words)).stdout.matchAll(/^ {2}(\w+)(?: \[.*| <.*)? {2,}[A-Z]/gm)].map(
        ([, name = ""]) => name,
      );
    expect((await listed("--help")).sort()).toEqual(["drift", "export", "lint", "plan", "pull"]);
    const { stdout } = await command("--help");
    const names = (await commandLine(() => false)).commands.map((each) => each.name());
    for (const name of names) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
    const all = (await command("help", "--all")).stdout;
    for (const name of names) expect(all).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  });

  test("loads late in one place: a subcommand's file, and what few of its calls need", () => {
    const room = new URL("../../cli/", import.meta.url);
    const files = readdirSync(room, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const late = files.filter((name) =>
      /await import\(|^\s*import\("/m.test(readFileSync(new URL(name, room), "utf8")),
    );
    expect(late.sort()).toEqual(["local-package.ts", "main.ts", "plan.ts", "rule-words.ts"]);
  });

  test.each([["--help"], ["local", "--help"]])(
    "%s %s ends with exit codes and an example as well",
    async (...words) => {
      const { code, stdout } = await command(...words);
      expect(code).toBe(0);
      expect(stdout).toMatch(/\nExit codes: [\s\S]+\nExample[^\n]*:\n {2}npx --no-install merchant-rules /);
    },
  );

  test.each(subcommands)("%s --help ends with exit codes and an example", async (words) => {
    const { code, stdout } = await command(...words.split(" "), "--help");
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: merchant-rules ${words}`);
    expect(stdout).toMatch(
      new RegExp(
        `\\nExit codes: 0 [\\s\\S]+2 called wrongly[\\s\\S]+\\nExample[^\\n]*:\\n[\\s\\S]*npx --no-install merchant-rules ${words}`,
      ),
    );
  });

  test.each([
    [["pln"], "unknown command 'pln'\n(Did you mean plan?)"],
    [["local", "prevew"], "unknown command 'prevew'\n(Did you mean preview?)"],
    [["plan", "--stak", "x"], "unknown option '--stak'\n(Did you mean --stack?)"],
    [["diff", "--from", "a", "--to", "b", "--form", "c"], "unknown option '--form'\n(Did you mean"],
    [["diff", "--form", "a", "--to", "b"], "unknown option '--form'\n(Did you mean --from?)"],
    [["diff", "--from", "a"], "required option '--to <name>' not specified"],
    [["local", "import", "--flie", "a"], "unknown option '--flie'\n(Did you mean --file?)"],
    [["local", "import"], "required option '-f, --file <file>' not specified"],
    [["drift", "--json", "--format", "html"], "option '--json' cannot be used with another --format"],
    [["local", "up", "--yess"], "unknown option '--yess'\n(Did you mean --yes?)"],
    [["serve", "--prot", "1"], "unknown option '--prot'\n(Did you mean --port?)"],
  ])("refuses %j and names the nearest there is", async (words, said) => {
    const { code, stdout, stderr } = await command(...words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(said);
  });
});
