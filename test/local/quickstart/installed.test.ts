import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findPackages, makeProject } from "../../../local/quickstart/project.ts";
import { root, temporaryFolder } from "./quickstart.ts";

test("a program that is itself in node_modules is copied whole, without its own packages, and finds the product and the SDK", () => {
  const temporary = temporaryFolder();
  const program = join(temporary, "node_modules/pulumi-merchant-rules-local/quickstart");
  cpSync(join(root, "examples/quickstart"), program, { recursive: true });
  mkdirSync(join(program, "node_modules/other"), { recursive: true });
  symlinkSync(root, join(temporary, "node_modules/pulumi-merchant-rules"));

  const packages = findPackages(program);
  const project = join(temporary, "project");
  makeProject(program, project, packages);
  expect(readdirSync(project).sort()).toEqual(["Pulumi.yaml", "README.md", "index.ts", "node_modules", "package.json"]);
  expect(JSON.parse(readFileSync(join(project, "package.json"), "utf8"))).toEqual({
    name: "quickstart",
    private: true,
    type: "module",
    main: "index.ts",
    scripts: { rules: "merchant-rules" },
    engines: { node: ">=22.19" },
  });
  const found = createRequire(join(project, "index.ts"));
  expect(found.resolve("pulumi-merchant-rules/package.json")).toBe(join(root, "package.json"));
  expect(found.resolve("@pulumi/pulumi")).toBe(createRequire(join(root, "package.json")).resolve("@pulumi/pulumi"));
  expect(readdirSync(join(project, "node_modules/.bin"))).toEqual(["merchant-rules"]);
});

test("a package that is missing is named, with the command that installs it", () => {
  expect(() => findPackages(temporaryFolder())).toThrow(
    "the package pulumi-merchant-rules is not installed. What to do: npm install pulumi-merchant-rules",
  );
});
