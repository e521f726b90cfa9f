import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { run as merchantRules } from "../../cli/command.ts";
import { marking, rule } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { type EngineName, hasPulumi } from "../../support/stack/project.ts";

const total = 1000;

/** A project, and a service with rules that somebody made by hand; the rules are exported into the project. */
async function exported(engine: EngineName, count: number, form: "files" | "program", contract?: ContractInput) {
  const stack = await openCommandStack(engine, contract === undefined ? {} : { contract });
  const { project, service } = stack;
  for (let k = 0; k < count; k += 1) service.put(undefined, rule(k));
  const before = service.rules();
  // A stack that was never applied is there as soon as it has a file.
  if (engine === "local") project.write(`Pulumi.${project.stack}.yaml`, "config: {}\n");
  service.resetRequests();
  const environment = project.variables();
  const words = ["export", "--cwd", project.folder, "--out", project.folder, "--stack", project.stack];
  const { code, stdout, stderr } = await merchantRules([...words, "--engine", engine, "--as", form], environment);
  expect(code, stderr).toBe(0);
  project.write("index.js", 'import "./rules.ts";\n');
  const { counted: asked } = stack;
  return { ...stack, environment, stdout, asked, isUntouched: () => expect(service.rules()).toEqual(before) };
}

/** A service that keeps whose rules are, and tells who asks. */
const telling: ContractInput = { ...marking, auth: { ...marking.auth, identity: { path: "/me", at: "/name" } } };

const pages = { list: total / 200 };

describe.each<EngineName>(["local", "pulumi"])("a thousand rules made by hand (%s)", (engine) => {
  test.skipIf(engine === "pulumi" && !hasPulumi)(
    "come into code and state without one request that writes: export, import, preview, refresh",
    { timeout: 300_000 },
    async () => {
      const { project, succeeds, hasNoDrift, asked, isUntouched, stdout } = await exported(engine, total, "files");
      // One rule is read by itself: the list could have summaries.
      expect(asked()).toEqual({ ...pages, get: 1 });
      expect(stdout).toContain(`Exported ${total} of ${total} rules`);
      if (engine === "local") await succeeds("import", "--file", "import.json");
      else {
        const flags = ["--generate-code=false", "--protect=false", "--yes", "--stack", project.stack];
        const { code, output } = await project.pulumi("import", "--file", "import.json", ...flags);
        expect(code, output).toBe(0);
      }
      expect(asked()).toEqual({});
      await succeeds("preview", "--expect-no-changes");
      expect(asked()).toEqual({});
      await hasNoDrift();
      expect(asked()).toEqual(pages);
      await succeeds("up", "--expect-no-changes");
      expect(asked()).toEqual({});
      isUntouched();
    },
  );
});

describe.each<EngineName>(["local", "pulumi"])("rules of a service that keeps marks (%s)", (engine) => {
  test.skipIf(engine === "pulumi" && !hasPulumi)(
    "come in without a mark, also into a stack that has a connection; the next change of each writes it",
    { timeout: 300_000 },
    async () => {
      const { project, service, succeeds, hasNoDrift, asked, isUntouched, environment } = await exported(
        engine,
        2,
        "program",
        telling,
      );
      const imports = async (file: string): Promise<void> => {
        if (engine === "local") return void (await succeeds("import", "--file", file));
        const flags = ["--generate-code=false", "--protect=false", "--yes", "--stack", project.stack];
        const { code, output } = await project.pulumi("import", "--file", file, ...flags);
        expect(code, output).toBe(0);
      };
      const showsNoChange = async (): Promise<void> => {
        await succeeds("preview", "--expect-no-changes");
        await hasNoDrift();
        asked();
        await succeeds("up", "--expect-no-changes");
        expect(asked()).toEqual({});
      };
      const [{ id }, { outputs }] = JSON.parse(project.read("import.json")).resources;
      expect(outputs).toMatchObject({ owner: id, link: expect.stringMatching(/^[0-9a-f]{32} .* [0-9a-f]{12} http/) });
      await imports("import.json");
      await showsNoChange();
      isUntouched();

      const seventh = service.put(undefined, rule(7));
      const words = ["export", "--cwd", project.folder, "--stack", project.stack, "--engine", engine];
      const more = ["--out", join(project.folder, "more"), "--as", "program", "--include", "rule-7"];
      const { code, stderr } = await merchantRules([...words, ...more], environment);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(project.read("more/import.json")).resources).toMatchObject([
        { name: "rule-7", inputs: { __connection: outputs.link }, outputs: { __connection: outputs.link } },
      ]);
      project.write("index.js", 'import "./rules.ts";\nimport "./more/rules.ts";\n');
      await imports("more/import.json");
      await showsNoChange();

      project.write("more/rules.ts", project.read("more/rules.ts").replace("priority: 7", "priority: 8"));
      await succeeds("up");
      expect(asked()).toMatchObject({ identity: 1, update: 1 });
      const { rule: live } = service.rules().find(({ ruleId }) => ruleId === seventh) ?? {};
      expect(live).toMatchObject({
        priority: 8,
        metadata: { managedBy: expect.stringMatching(/^[0-9a-f.]+ lifecycle/) },
      });
      expect(JSON.stringify(live)).toContain(`"${id}.`);
      await showsNoChange();

      const stranger = { ...environment, MERCHANT_RULES_IDENTITY: "globex" };
      const refused = await merchantRules([...words, "--out", join(project.folder, "none")], stranger);
      expect(refused.stderr).toMatch(/those of "[^"]+", and the setting identity says "globex"; nothing was written/);
      expect([refused.code, existsSync(join(project.folder, "none"))]).toEqual([1, false]);
    },
  );
});

describe("without an import, on the local engine", () => {
  test("a set with adopt takes a thousand rules over, writes none, says it once", { timeout: 300_000 }, async () => {
    const { project, succeeds, hasNoDrift, asked, isUntouched } = await exported("local", total, "files");
    const program = project.read("rules.ts");
    project.write("rules.ts", program.replace('loadRules("rules"),', 'loadRules("rules"), adopt: true,'));
    asked();
    const { output } = await succeeds("up");
    expect(asked()).toEqual(pages);
    expect(output.match(/is as declared and is taken over: (rule-\d+ \(\w+\), ){100}and 900 more/g)).toHaveLength(1);
    isUntouched();
    project.write("rules.ts", program);
    await succeeds("preview", "--expect-no-changes");
    await hasNoDrift();
  });

  test("a program of single rules comes in as well, and what is changed by hand afterwards shows", async () => {
    const { service, run, succeeds, asked, isUntouched } = await exported("local", 3, "program");
    await succeeds("import", "--file", "import.json");
    await succeeds("up", "--expect-no-changes");
    isUntouched();
    asked();
    const [{ ruleId = "" } = {}] = service.rules();
    service.put(ruleId, rule(0, { priority: 77 }));
    const { code, output } = await run("refresh", "--preview-only", "--expect-no-changes", "--diff");
    expect(code).toBe(7);
    expect(output).toMatch(/definition\.priority.*0.*77/);
  });
});

describe("merchant-rules local import", () => {
  test("is refused a second time, with a broken file, and without --yes; then nothing is written", async () => {
    const { project, environment } = await exported("local", 2, "program");
    const words = ["local", "import", "--cwd", project.folder, "--stack", project.stack];
    const imports = (...more: string[]) => merchantRules([...words, ...more], environment);
    const state = (): string => readFileSync(join(project.backend, ".pulumi/stacks/lifecycle/test.json"), "utf8");
    const shown = await imports("--file", "import.json", "--preview-only");
    expect(shown.stdout).toContain("+ 1 to create\n    = 4 to import");
    expect((await imports("--file", "import.json")).stderr).toContain("pass --yes to go ahead");
    expect(state).toThrow("ENOENT");
    expect((await imports("--file", "import.json", "--yes")).code).toBe(0);
    const before = state();
    const refused = async (content: string, message: string, exitCode = 2): Promise<void> => {
      project.write("bad.json", content);
      const { code, stderr } = await imports("--file", "bad.json", "--yes");
      expect(stderr).toContain(message);
      expect(code).toBe(exitCode);
      expect(state()).toBe(before);
    };
    const { resources } = JSON.parse(project.read("import.json"));
    const [owner, connection, first] = resources;
    const fileOf = (...entries: unknown[]): string => JSON.stringify({ resources: entries });
    await refused(project.read("import.json"), "Owner::owner is in the state of stack test already");
    await refused(fileOf(connection), "Connection::default is in the state of stack test already");
    await refused(fileOf(first), "MerchantRule::rule-0 is in the state of stack test already");
    expect(owner.type).toMatch(/Owner$/);
    await refused("{", "bad.json cannot be used: is not JSON");
    await refused('{"resources": []}', "resources: must name a resource");
    await refused(fileOf({ ...first, id: "" }), "at resources.0: id:");
    await refused(fileOf({ ...first, outputs: {} }), "outputs: must be an object with __provider");
    await refused(fileOf(first, first), 'at resources.1: names "rule-0" a second time');
    const twins = fileOf(first, { ...first, type: `${first.type}Set` }, { ...first, name: "n", parent: "rule-0" });
    await refused(twins, 'has the parent "rule-0", and more than one resource of this name');
    await refused(fileOf({ ...first, name: "n", parent: "n" }), '"n" is a parent of itself');
    await refused(fileOf({ ...first, parent: "who" }), 'the parent "who", which is not a resource of the file,', 1);
    await refused(fileOf({ ...first, component: true }), '"component" in an import file', 1);
    await refused('{"nameTable": {}, "resources": []}', '"nameTable" in an import file', 1);
    await refused(fileOf({ ...first, type: "aws:s3/bucket:Bucket" }), "the resource type aws:s3/bucket:Bucket", 1);
    const missing = await imports("--file", "nowhere.json", "--yes");
    expect(missing.stderr).toContain("nowhere.json cannot be read");
  });
});
