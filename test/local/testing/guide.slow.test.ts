import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { faultSchema } from "../../../local/service/faults/schema.ts";
import { blocksOf, codeIn, pageAt, root } from "../../docs/page.ts";

const page = pageAt("docs/testing.md");
const [example = ""] = blocksOf(page, "ts");
const entry = "pulumi-merchant-rules-local/testing";

test("the guide's example passes in a project, under node:test", async () => {
  const folder = mkdtempSync(join(root, "test/local/testing/.guide-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const definition = '{ name: "large-amounts", priority: 100 }';
  const files = {
    "Pulumi.yaml": "name: shop\nruntime: { name: nodejs, options: { typescript: false } }\n",
    "package.json": '{ "type": "module", "main": "index.ts" }',
    "index.ts": `import { MerchantRule } from "pulumi-merchant-rules";\nnew MerchantRule("large-amounts", { definition: ${definition} });\n`,
    "rules.test.ts": example.replace(entry, pathToFileURL(join(root, "local/testing/index.ts")).href),
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  // Else the child takes itself for a part of this run.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined };
  const { stdout } = await promisify(execFile)(process.execPath, ["--test", "--test-reporter=tap", "rules.test.ts"], {
    cwd: folder,
    env,
  });
  expect(stdout).toMatch(/^# pass 1$/m);
});

test("a function with an input that fails has failed: its resource is not taken for one that left the program", async () => {
  const urlOf = (path: string): string => JSON.stringify(pathToFileURL(join(root, path)).href);
  // In a process of its own, for every test framework takes such a failure for the test's.
  const script = `
    import { output } from "@pulumi/pulumi";
    import { startWorld } from ${urlOf("local/testing/index.ts")};
    import { MerchantRule } from ${urlOf("provider/index.ts")};
    process.on("unhandledRejection", () => {});
    let name = "one";
    const world = await startWorld({ program: () => void new MerchantRule("one", { definition: { name } }) });
    await world.up();
    name = output(1).apply(() => { throw new Error("no name"); });
    const failure = await world.up().catch((error) => error.message);
    console.log(JSON.stringify({ failure, rules: world.rules().length, listeners: process.listenerCount("unhandledRejection") }));
    await world.close();`;
  const env = { ...process.env, NODE_OPTIONS: undefined };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    cwd: root,
    env,
  });
  expect(JSON.parse(stdout)).toEqual({
    failure: expect.stringMatching(/^up failed: the program failed: .*no name/),
    rules: 1,
    listeners: 1,
  });
});

test("the guide imports the kit alike for every test framework, and names kinds of faults that there are", () => {
  const frameworks = ["node:test", "vitest", "@jest/globals"];
  const shown = blocksOf(page, "ts").filter((block) => block.includes(entry));
  expect(shown).toHaveLength(frameworks.length);
  for (const framework of frameworks)
    expect(shown.filter((block) => block.includes(`from "${framework}"`))).toHaveLength(1);
  const kinds: string[] = faultSchema.options.map((option) => option.def.shape.kind.value);
  expect(codeIn(page)).toEqual(
    expect.arrayContaining(["latency", "close", "status", "cut-body", "not-json", "stale-list"]),
  );
  expect(kinds).toEqual(expect.arrayContaining(["latency", "close", "status", "cut-body", "not-json", "stale-list"]));
});
