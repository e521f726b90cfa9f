import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { commandLine } from "../../cli/main.ts";
import { loadRules } from "../../provider/resources/load-rules.ts";
import { definitionChecker } from "../../sdk/contract/definition-schema.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = join(root, "examples");
const names = readdirSync(examples, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const programs = names.filter((name) => existsSync(join(examples, name, "package.json")));

const packageSchema = z.looseObject({
  private: z.boolean().optional(),
  type: z.string().optional(),
  version: z.string().optional(),
  engines: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
});
const packageOf = (folder: string) =>
  packageSchema.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
const own = packageOf(root);

describe.each(programs)("examples/%s", (name) => {
  const described = packageOf(join(examples, name));

  test("is a private package of modules, for the Node that this package needs", () => {
    expect(described).toMatchObject({ private: true, type: "module", engines: own.engines });
  });

  test("names exactly the versions that it is tested with, this package's among them", () => {
    const tested: Record<string, string | undefined> = { ...own.devDependencies };
    for (const name of ["pulumi-merchant-rules", "pulumi-merchant-rules-local"]) tested[name] = own.version;
    const named = { ...described.dependencies, ...described.devDependencies };
    expect(named).toMatchObject({ "pulumi-merchant-rules": own.version });
    expect(named).toEqual(Object.fromEntries(Object.keys(named).map((each) => [each, tested[each]])));
  });
});

describe.each(names)("examples/%s, as it is shipped", (name) => {
  const files = readdirSync(join(examples, name), { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !file.includes("node_modules"));

  test("has nothing in it that a run or an installation leaves behind", () => {
    expect(files.filter((file) => /(^|\/)(package-lock\.json|\.pulumi|dist|.*\.(log|sqlite|env))$/.test(file))).toEqual(
      [],
    );
    const stackFiles = files.filter((file) => /^Pulumi\..+\.yaml$/.test(file));
    for (const file of stackFiles)
      expect(readFileSync(join(examples, name, file), "utf8")).not.toMatch(/encryption|secure/);
  });

  test("has a README that names its files, what to run and what to change", () => {
    const readme = readFileSync(join(examples, name, "README.md"), "utf8");
    expect(readme).toMatch(/\bnpm run rules -- |\bnpx --no-install merchant-rules /);
    expect(readme).toContain("pulumi ");
    const parts = new Set(
      files.map((file) => file.replace(/\/.*/, "")).filter((part) => /\.ts$|\.js$|^rules/.test(part)),
    );
    for (const part of parts) expect(readme, part).toContain(`](${part}`);
  });

  test("tells to run only commands and options that there are", async () => {
    const readme = readFileSync(join(examples, name, "README.md"), "utf8");
    for (const [, line = ""] of readme.matchAll(/(?:npm run rules --|npx --no-install merchant-rules) ([^`#\n]+)/g)) {
      let command = await commandLine();
      for (const word of line.trim().split(/\s+/)) {
        if (word.startsWith("--"))
          expect(
            command.options.map(({ long }) => long),
            line,
          ).toContain(word);
        else command = command.commands.find((each) => each.name() === word) ?? command;
      }
      expect(command.name(), line).not.toBe("merchant-rules");
    }
  });
});

test("the index of the examples names every one of them", () => {
  const index = readFileSync(join(examples, "README.md"), "utf8");
  for (const name of names) expect(index).toContain(`| [${name}](${name}) |`);
});

describe("examples/rules-from-files", () => {
  const folder = join(examples, "rules-from-files");
  const shape = { properties: z.record(z.string(), z.json()), required: z.array(z.string()) };
  const schema = z
    .looseObject({ ...shape, definitions: z.object({ Condition: z.looseObject(shape), Action: z.looseObject(shape) }) })
    .parse(JSON.parse(readFileSync(join(folder, "rule.schema.json"), "utf8")));

  test("has files that are as their schema says, and each names it in its first line", () => {
    const rules = loadRules(join(folder, "rules"));
    const faults = definitionChecker(z.record(z.string(), z.json()).parse(schema));
    for (const [key, rule] of Object.entries(rules)) {
      expect(faults(rule), key).toEqual([]);
      const [first] = readFileSync(join(folder, `rules/${key}.yaml`), "utf8").split("\n");
      expect(first).toBe("# yaml-language-server: $schema=../rule.schema.json");
    }
    expect(faults({ ...rules["euro-only"], priority: 0 })).toEqual([{ path: ["priority"], reason: "must be >= 1" }]);
  });

  test("says the same by its type and by its schema", () => {
    const source = ts.createSourceFile(
      "rule.ts",
      readFileSync(join(folder, "rule.ts"), "utf8"),
      ts.ScriptTarget.Latest,
    );
    const types = source.statements.filter(ts.isInterfaceDeclaration).map(({ name, members }) => [
      name.text,
      members.filter(ts.isPropertySignature).map((member) => ({
        name: member.name.getText(source),
        isRequired: member.questionToken === undefined,
      })),
    ]);
    const ofSchema = ({ properties, required }: { properties: object; required: string[] }) =>
      Object.keys(properties).map((name) => ({ name, isRequired: required.includes(name) }));
    expect(Object.fromEntries(types)).toEqual({
      Rule: ofSchema(schema),
      Condition: ofSchema(schema.definitions.Condition),
      Action: ofSchema(schema.definitions.Action),
    });
  });
});
