import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import ts from "typescript";
import { afterAll, describe, expect, test } from "vitest";
import { analyzeState, readExport } from "../../local/engine/index.ts";
import { ruleType } from "../../provider/host/types.ts";
import { newProject, packageIn, packInto, root } from "./packed.ts";

const { project, remove } = newProject();
afterAll(remove);

const packages = [".", "local"].map((source) => {
  const { folder, tarball } = packInto(project, source);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return { name: packageIn(folder).name, source, folder, tarball, files };
});

describe.each(packages)("the package $name", ({ name, source, folder, tarball, files }) => {
  test("has what its exports name, and a licence", () => {
    const { exports = {} } = packageIn(folder);
    const targets = Object.values(exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target ?? {}).map(String),
    );
    expect(targets.length).toBeGreaterThan(2);
    const needed = [...targets.map((target) => target.replace(/\*$/, "")), "LICENSE", "README.md"];
    expect(needed.filter((target) => !existsSync(join(folder, target)))).toEqual([]);
  });

  test("has each file of its own that its files import, and the main package has the others", () => {
    const compiled = files.filter((file) => /^dist\/.*(\.js|\.d\.ts)$/.test(file));
    const missing = compiled.flatMap((file) =>
      ts
        .preProcessFile(readFileSync(join(folder, file), "utf8"), true, true)
        .importedFiles.map(({ fileName }) => fileName)
        .map((specifier) => ({ file, specifier, target: importedBy(join(folder, file), specifier) }))
        .filter(({ target }) => target !== undefined && !existsSync(target)),
    );
    expect(missing).toEqual([]);
    expect(
      files.filter((file) => file.startsWith("dist/") && source === "local" && !file.startsWith("dist/local/")),
    ).toEqual([]);
  });

  test("has no sources, no tests, and no maps to sources that it does not have", () => {
    const foreign = files.filter(
      (file) => /node_modules/.test(file) || (!/^examples\//.test(file) && /\.map$|\.test\.|(?<!\.d)\.ts$/.test(file)),
    );
    expect(foreign).toEqual([]);
  });

  test("is built before it is packed; where all is built, nothing is done", () => {
    const words = ["run", "--silent", "prepack"];
    expect(execFileSync("npm", words, { cwd: join(root, source), encoding: "utf8" })).not.toContain("Building");
  });

  test("runs nothing when it is installed", () => {
    expect(Object.keys(packageIn(folder).scripts ?? {}).filter((name) => /^(pre|post)?install$/.test(name))).toEqual(
      [],
    );
  });

  test("leads somewhere with every link of its pages", () => {
    const pages = files.filter((file) => file.endsWith(".md"));
    expect(pages).toContain("README.md");
    const dead = pages.flatMap((page) =>
      [...readFileSync(join(folder, page), "utf8").matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
        .map(([, link]) => link ?? "")
        .filter((link) => !existsSync(resolve(folder, dirname(page), link)))
        .map((link) => `${page}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  test.runIf(name === "pulumi-merchant-rules")(
    "has the policy pack, of the same version, and it runs in place",
    async () => {
      const pack = join(folder, "policy");
      expect(packageIn(pack).version).toBe(packageIn(folder).version);
      const state = { type: ruleType, urn: `urn:pulumi:dev::shop::${ruleType}::odd`, custom: true, id: "1" };
      const definition = { name: "odd", note: "4111 1111 1111 1111" };
      const resources = await readExport(
        JSON.stringify({ version: 3, deployment: { resources: [{ ...state, inputs: { definition } }] } }),
        "the state",
      );
      const { packs, violations } = await analyzeState({ resources, policyPacks: [pack] });
      expect(packs).toMatchObject([{ name: "merchant-rules-policies" }]);
      expect(violations).toMatchObject([{ policy: "no-card-numbers", level: "mandatory" }]);
    },
  );

  test("is as publint wants a package", async () => {
    const { messages, pkg } = await publint({ pkgDir: folder, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test("has types under every way of resolving modules", async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball));
    const problems = result.types === false ? ["no types"] : result.problems.map(problemOf);
    // CommonJS requires the ES modules of this package, as Node does since 22.12.
    const known = [/^CJSResolvesToESM /, /^NoResolution \.\/[a-z]+\.schema\.json node10$/];
    expect(problems.filter((problem) => !known.some((each) => each.test(problem)))).toEqual([]);
  });
});

/** Returns the file of these packages that `specifier` names in `file`; undefined for another package's. */
function importedBy(file: string, specifier: string): string | undefined {
  const inside = "pulumi-merchant-rules/internal/";
  if (!specifier.startsWith(".") && !specifier.startsWith(inside)) return undefined;
  const target = specifier.startsWith(".")
    ? resolve(dirname(file), specifier)
    : join(root, "dist", specifier.slice(inside.length));
  return file.endsWith(".d.ts") ? target.replace(/\.[jt]s$/, ".d.ts") : target;
}

function problemOf(problem: { kind: string; entrypoint?: string; resolutionKind?: string }): string {
  return [problem.kind, problem.entrypoint, problem.resolutionKind].filter((word) => word !== undefined).join(" ");
}
