import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { projectName, projectPaths } from "../../cli/init/project-files.ts";
import { loadContract, presets } from "../../sdk/contract/index.ts";
import { root } from "../docs/page.ts";
import { newFolder } from "../support/folder.ts";
import { command, setVariables } from "./command.ts";

/** All files below a folder, hidden ones too, sorted. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : []))
    .sort();
}

describe("merchant-rules init", () => {
  test("writes a project whose own test passes", async () => {
    const folder = join(newFolder(), "Shop Rules");
    const { code, stdout, stderr } = await command("init", folder, "--preset", "illustrative");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(filesIn(folder)).toEqual([...projectPaths].sort());
    for (const file of projectPaths) expect(stdout).toContain(join(folder, file));
    expect(parse(readFileSync(join(folder, "Pulumi.yaml"), "utf8"))).toMatchObject({ name: "shop-rules" });
    expect(readFileSync(join(folder, "rules/large-amounts.yaml"), "utf8")).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/rule\.schema\.json\n# Illustrative\. .*\nname: large-amounts\n/,
    );
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const environment = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_|MERCHANT_RULES_)/.test(name));
    const printed = execFileSync("bash", ["-c", scripts.test.replace(/^node/, process.execPath)], {
      cwd: folder,
      encoding: "utf8",
      env: Object.fromEntries(environment),
    });
    expect(printed).toMatch(/pass 1\b/);
  }, 60_000);

  test("writes a check for CI that needs no key, where the program reads overlays and secrets of the stack's config", async () => {
    const folder = newFolder();
    await command("init", folder, "--preset", "illustrative");
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const { jobs } = parse(readFileSync(join(folder, ".github/workflows/payment-rules-check.yml"), "utf8"));
    const { run, env } = jobs.check.steps.at(-1);
    expect(jobs.check.strategy).toEqual({ matrix: { stack: ["check"] } });
    writeFileSync(
      join(folder, "index.ts"),
      `import { Config, getStack } from "@pulumi/pulumi";
      import { loadRules, MerchantRuleSet } from "pulumi-merchant-rules";
      new Config("shop").requireSecret("key");
      new MerchantRuleSet("all", { rules: loadRules("rules", { overlay: \`overlays/\${getStack()}\` }) });\n`,
    );
    mkdirSync(join(folder, "overlays/production"), { recursive: true });
    const secret =
      "secretsprovider: awskms://alias/rules\nencryptedkey: a2V5\nconfig:\n  shop:key:\n    secure: v1:abc:def\n";
    writeFileSync(join(folder, "Pulumi.production.yaml"), secret);
    setVariables(env);
    const words = run
      .replace("npx --no-install merchant-rules ", "")
      .replace(/\$\{\{ matrix\.stack \}\}/, "production");
    const { code, stdout } = await command(...words.split(" "), "--cwd", folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining("4 to create")]);
  }, 60_000);

  test.each(presets)("writes a rule that the contract %s takes, with what it finds a rule by", async (preset) => {
    const folder = newFolder();
    expect(await command("init", folder, "--preset", preset)).toMatchObject({ code: 0 });
    const rule = parse(readFileSync(join(folder, "rules/large-amounts.yaml"), "utf8"));
    const { naturalKey } = loadContract(join(folder, "merchant-rules.contract.yaml")).rule;
    if (naturalKey !== null) expect(rule).toHaveProperty(naturalKey.slice(1).replaceAll("/", "."), "large-amounts");
  });

  test("takes the user's own rule, and writes none that the contract refuses", async () => {
    const folder = newFolder();
    const [rule, own] = [join(folder, "rule.yaml"), join(folder, "own")];
    const schema = "rule.schema={type: object, required: [limit], properties: {limit: {type: integer}}}";
    const refused = await command("init", own, "--set", schema);
    expect(refused.stderr).toMatch(/refuses the illustrative rule: .*limit.*What to do: put a rule .* --definition/);
    expect([refused.code, existsSync(own)]).toEqual([1, false]);
    writeFileSync(rule, "limit: 5\n");
    expect(await command("init", own, "--set", schema, "--definition", rule)).toMatchObject({ code: 0 });
    expect(readFileSync(join(own, "rules/large-amounts.yaml"), "utf8")).toMatch(/rule\.schema\.json\nlimit: 5\n/);
    writeFileSync(rule, "- 5\n");
    const list = await command("init", join(folder, "b"), "--set", schema, "--definition", rule);
    expect(list.stderr).toMatch(/read the rule of .* failed: it holds no object\. What to do: /);
  });

  test("names all files that stand in the way, and writes nothing", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "test"));
    writeFileSync(join(folder, "Pulumi.yaml"), "name: mine");
    symlinkSync("nowhere", join(folder, "test/rules.test.ts"));
    const { stderr, code } = await command("init", folder, "--preset", "seed");
    expect(stderr).toContain(
      `these files are there already, so nothing was written: ${join(folder, "Pulumi.yaml")}, ${join(folder, "test/rules.test.ts")}. What to do: move them away`,
    );
    expect(code).toBe(1);
    expect(filesIn(folder)).toEqual(["Pulumi.yaml"]);
  });

  test("keeps a package.json, adds what it lacks, and prints that", async () => {
    const folder = newFolder();
    const path = join(folder, "package.json");
    const own = {
      name: "mine",
      main: "./index.ts",
      scripts: { test: "exit 1" },
      dependencies: { "pulumi-merchant-rules": "file:../a.tgz" },
    };
    writeFileSync(path, JSON.stringify(own, null, "\t"));
    const { code, stdout, stderr } = await command("init", folder, "--preset", "seed");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(
      "was there and is kept; added: type, scripts.rules, dependencies.@pulumi/pulumi, devDependencies.pulumi-merchant-rules-local.",
    );
    expect(stdout).toContain('  node --test "test/*.test.ts"\n');
    expect(filesIn(folder)).toEqual([...projectPaths].sort());
    const text = readFileSync(path, "utf8");
    expect(text).toMatch(/^\{\n\t"name": "mine",\n[\s\S]*\}$/);
    expect(JSON.parse(text)).toEqual({
      ...own,
      type: "module",
      scripts: { ...own.scripts, rules: "merchant-rules" },
      dependencies: { ...own.dependencies, "@pulumi/pulumi": expect.any(String) },
      devDependencies: { "pulumi-merchant-rules-local": expect.any(String) },
    });
  });

  test.each([
    [
      '{"type":"commonjs","main":"index.js"}',
      'says "main": "index.js" and "type": "commonjs"',
      "npm pkg set type=module",
    ],
    ['{"scripts":[]}', 'has "scripts" that is no object', "correct it"],
    ["{", "cannot be read: ", "correct it"],
  ])("refuses the package.json %s before anything is written", async (text, reason, advice) => {
    const folder = newFolder();
    writeFileSync(join(folder, "package.json"), text);
    const { code, stderr } = await command("init", folder, "--preset", "seed");
    expect(stderr).toContain(`package.json ${reason}`);
    expect(stderr).toContain(`What to do: ${advice.startsWith("npm") ? "run `" : ""}${advice}`);
    expect([code, filesIn(folder)]).toEqual([1, ["package.json"]]);
    expect(readFileSync(join(folder, "package.json"), "utf8")).toBe(text);
  });

  test("names a file that stands where a folder has to be", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "rules"), "a file where a folder has to be");
    const { stderr, code } = await command("init", folder, "--preset", "seed");
    expect(stderr).toContain(`this file is there already, so nothing was written: ${join(folder, "rules")}.`);
    expect(code).toBe(1);
    expect(readdirSync(folder)).toEqual(["rules"]);
  });

  test("is called wrongly without answers and without a terminal", async () => {
    const folder = newFolder();
    const { stderr, code } = await command("init", folder);
    expect(stderr).toMatch(/no terminal to ask on/);
    expect([code, readdirSync(folder)]).toEqual([2, []]);
  });

  test.each([
    ["Shop Rules", "shop-rules"],
    ["..", "payment-rules"],
    ["_x.", "x"],
    ["Zahlung/é", "zahlung"],
  ])("names the project of folder %j %s", (folder, name) => expect(projectName(folder)).toBe(name));
});
