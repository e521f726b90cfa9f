import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rule } from "../support/rules.ts";
import { type CommandResult, TestProject } from "../support/stack/project.ts";
import { type Served, serve } from "../support/stack/service.ts";

const bin = fileURLToPath(new URL("../../bin/merchant-rules.js", import.meta.url));
const bomb = Array.from(
  { length: 9 },
  (_, n) => `a${n}: &a${n} [${Array(10).fill(n === 0 ? "x" : `*a${n - 1}`)}]\n`,
).join("");
const deep = `{"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`;

let served: Served;
let project: TestProject;
beforeAll(async () => {
  served = await serve();
  project = new TestProject(served.environment);
  project.declare({ a: { definition: rule(1) } });
  const { code, output } = await project.run("local", "up");
  expect(code, output).toBe(0);
});
afterAll(async () => {
  project.remove();
  await served.close();
});

/** One paragraph that begins with the word error and names the file, an exit code that says so, and no stack. */
function expectRefusal({ code, stderr, output }: CommandResult, file: string): void {
  expect([1, 2], output).toContain(code);
  expect(stderr).toMatch(/^error: /);
  expect(stderr).toContain(file);
  expect(output).not.toMatch(/\n\s+at |Maximum call stack|node:internal|Error:/);
  expect(stderr.trimEnd()).not.toContain("\n\n");
}

const state = ".pulumi/stacks/lifecycle/test.json";

test.each<[string, string, string | Buffer]>([
  ["anchors that explode", "Pulumi.yaml", `name: lifecycle\nruntime: nodejs\nconfig:\n${bomb.replace(/^/gm, "  ")}`],
  ["an anchor within itself", "Pulumi.test.yaml", "config:\n  a: &x { b: *x }\n"],
  ["endless nesting", "Pulumi.yaml", deep],
  ["bytes that are no text", "Pulumi.test.yaml", Buffer.from([0x63, 0xff, 0xfe, 0x00])],
  ["endless nesting", "meta.yaml", deep],
  ["nothing", state, ""],
  ["half of it", state, '{"version":3,"checkpoint":{"stack":"organization/lifecycle/test","latest":{"reso'],
  ["endless nesting", state, `{"version":3,"checkpoint":{"stack":"x","latest":{"a":${deep}}}}`],
  ["a number beyond all", state, '{"version":3,"checkpoint":{"stack":"x","latest":{"metadata":{"n":1e400}}}}'],
  ["another format", state, '{"version":3,"checkpoint":{"latest":{"resources":[{"urn":7},{"urn":8}]}}}'],
  ["another format", `${state}.journal`, '{"__proto__":{"polluted":true}}\n[["put",0]]\n'],
])("the command refuses %s in %s without a stack", async (_what, name, content) => {
  const inBackend = name === "meta.yaml" || name.startsWith(".pulumi");
  const path = join(inBackend ? project.backend : project.folder, name === "meta.yaml" ? ".pulumi/meta.yaml" : name);
  const before = existsSync(path) ? readFileSync(path) : undefined;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  try {
    expectRefusal(await project.run("local", "preview"), name.replace(/^\.pulumi\/stacks\/lifecycle\//, ""));
  } finally {
    if (before === undefined) rmSync(path);
    else writeFileSync(path, before);
  }
});

test.each([
  ["anchors that explode", `version: 1\n${bomb}`],
  ["an anchor within itself", "version: 1\ndescription: &x\n  a: *x\n"],
  ["endless nesting", deep],
  ["a name that everything inherits", '{"version": 1, "parameters": {"__proto__": {}}}'],
])("serve refuses %s in a contract without a stack", async (_what, content) => {
  project.write("odd.contract.yaml", content);
  const served = await project.command(process.execPath, [
    bin,
    "serve",
    "--contract",
    "odd.contract.yaml",
    "--port",
    "0",
  ]);
  expectRefusal(served, "odd.contract.yaml");
});

test("a program that loads rules which cannot be loaded says so, without a stack", async () => {
  const program = project.read("index.js");
  project.write("index.js", 'import { loadRules } from "pulumi-merchant-rules";\nloadRules("rules");\n');
  mkdirSync(join(project.folder, "rules"));
  project.write("rules/limit.yaml", "name: x\nname: y\n");
  const { code, output } = await project.run("local", "preview");
  project.write("index.js", program);
  expect(code).toBe(1);
  expect(output).toContain("limit.yaml:2: declares a field a second time");
  expect(output).toContain("What to do: fix the files");
  expect(output).not.toMatch(/\n\s+at |unhandled exception|load-rules\.js/);
});
