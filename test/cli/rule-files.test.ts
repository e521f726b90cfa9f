import { dirname } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { loadRules } from "../../provider/index.ts";
import { loadPreset } from "../../sdk/contract/index.ts";
import { command } from "./command.ts";
import { declared, files } from "./declared-files.ts";

const withoutSemantics = { ...loadPreset("illustrative"), semantics: null };

describe("the files of rules", () => {
  test("are named by drift with the line of what differs, overlays too", async () => {
    const { drift, edit, remove, service } = await declared();
    edit("large", {
      conditions: [
        { field: "amount", operator: "gt", value: 10 },
        { field: "currency", operator: "is", value: "USD" },
      ],
    });
    edit("night", { priority: 9, limits: { day: 1, hour: 7 } });
    edit("extra", { priority: 9 });
    edit("rule-1", { priority: 9 });
    remove("gone");
    service.put(undefined, { name: "by-hand" });
    const places = async (...flags: string[]) => {
      const { report, errors } = await drift(...flags);
      expect(errors).toMatch(/^Drift of stack prod/);
      return Object.fromEntries((report?.findings ?? []).map(({ name, file, line }) => [name, [file, line]]));
    };
    const inFiles = {
      large: ["rules/large.yaml", 8],
      night: ["rules/night.json", 3],
      extra: ["overlays/prod/extra.yaml", 2],
      gone: ["rules/gone.yaml", 1],
      "rule-1": [undefined, undefined],
      "by-hand": [undefined, undefined],
    };
    expect(await places("--rules", "rules,overlays/prod")).toEqual(inFiles);
    expect(await places("--rules", "all=rules,overlays/{stack}")).toEqual(inFiles);
    // Of two folders that have the rule, neither is named.
    expect((await places("--rules", "rules", "--rules", "rules,overlays/prod")).large).toEqual([undefined, undefined]);
    expect((await places("--rules", "other=rules")).large).toEqual([undefined, undefined]);
    edit("night", { priority: 2 });
    expect((await places("--rules", "all=rules,overlays/prod")).night).toEqual(["overlays/prod/night.yaml", 3]);
    for (const format of ["text", "markdown", "html"])
      expect((await drift("--rules", "rules,overlays/prod", "--format", format)).text).toContain(
        "overlays/prod/night.yaml:3",
      );
    expect((await drift("--rules", "rules", "--format", "junit")).text).toMatch(
      / name="large" file="rules\/large\.yaml" line="8" time="0">/,
    );
  });

  test("stand in annotations of GitHub, from the root of the repository", async () => {
    const { drift, edit, folder, service } = await declared(
      { ...files, "rules/odd, 100%.yaml": "name: odd\npriority: 1\n" },
      withoutSemantics,
    );
    edit("odd", { priority: "1\r\n::error::x%0A" });
    service.put(undefined, { name: "by: hand\n::warning::y" });
    vi.stubEnv("GITHUB_WORKSPACE", dirname(folder));
    const { errors, code } = await drift("--rules", "rules,overlays/prod", "--annotations", "github");
    expect(code).toBe(7);
    const repository = folder.slice(dirname(folder).length + 1);
    expect(errors.split("\n").slice(0, -1)).toEqual([
      `::error file=${repository}/rules/odd%2C 100%25.yaml,line=2,title=odd%3A changed::priority: 1 → "1\\r\\n::error::x%250A"`,
      expect.stringMatching(/^::error title=by%3A hand[^:]*%3A%3Awarning%3A%3Ay%3A unmanaged::id mw\w+$/),
    ]);
    expect(errors.split("\n").at(-1)).toMatch(/^Drift of stack prod/);
  });

  test("are found by a setting of the stack or of the project, from the project's folder", async () => {
    const { drift, edit, write } = await declared();
    edit("extra", { priority: 9 });
    const place = async () => {
      const { report, errors } = await drift();
      return report?.findings.map(({ file, line }) => [file, line]) ?? errors;
    };
    expect(await place()).toEqual([[undefined, undefined]]);
    write("Pulumi.yaml", 'name: shop\nruntime: nodejs\nconfig:\n  merchant-rules:rules: "rules,overlays/{stack}"\n');
    expect(await place()).toEqual([["overlays/prod/extra.yaml", 2]]);
    // As the Pulumi CLI writes it, with secrets that nothing here can decrypt.
    const cloud = "secretsprovider: awskms://alias/x\nencryptedkey: abc\nconfig:\n  shop:token: { secure: v1:abc }\n";
    write("Pulumi.prod.yaml", `${cloud}  merchant-rules:rules: [other=rules, "all=rules,overlays/prod"]\n`);
    expect(await place()).toEqual([["overlays/prod/extra.yaml", 2]]);
    write("Pulumi.prod.yaml", `${cloud}  merchant-rules:rules: { folder: rules }\n`);
    expect(await place()).toMatch(
      /the setting merchant-rules:rules holds \{"folder":"rules"\}, which names no folder\. What to do: write <folder>, or/,
    );
    const { code, errors } = await drift("--rules", "a,b,c");
    expect([code, errors]).toEqual([2, expect.stringContaining("argument 'a,b,c' is invalid")]);
  });

  test("that cannot be read are an error that names the file and the line", async () => {
    const { drift, write } = await declared();
    write("rules/odd.yaml", "name: odd\nname: again\n");
    const { code, errors } = await drift("--rules", "rules");
    expect(code).toBe(1);
    expect(errors).toMatch(/load rules from rules failed: rules\/odd\.yaml:2: declares a field a second time/);
  });

  test("are named by plan where a check refuses a rule, in the words of either engine", async () => {
    const { folder, write } = await declared({ ...files, "rules/one.yaml": "name: one\nlimits:\n  day: x\n" });
    write("merchant-rules.contract.json", JSON.stringify(withoutSemantics));
    const urnOf = (type: string, name: string) =>
      `urn:pulumi:prod::shop::pulumi-nodejs:dynamic/merchant-rules:${type}::${name}`;
    const pulumi = "pulumi-nodejs:dynamic/merchant-rules";
    const said: [urn: string, message: string, place: string][] = [
      [
        urnOf("MerchantRuleSet", "all"),
        `${pulumi}:MerchantRuleSet resource 'all': property rules.large.conditions[1].value value {EUR} has a problem: is odd`,
        "rules/large.yaml:8",
      ],
      [
        urnOf("MerchantRuleSet", "all"),
        'all is not valid: property "rules.night.limits.hour": is odd',
        "overlays/prod/night.yaml:3",
      ],
      [
        urnOf("MerchantRuleSet", "all"),
        'all is not valid: property "rules.gone": the JSON text at line 1, column 9: priority must be a text',
        "rules/gone.yaml:2",
      ],
      [
        urnOf("MerchantRule", "one"),
        'one is not valid: property "definition.limits.day": must be a number',
        "rules/one.yaml:3",
      ],
      [
        urnOf("MerchantRule", "one"),
        `${pulumi}:MerchantRule resource 'one' has a problem: the JSON text at line 1, column 1: has no value at /name`,
        "rules/one.yaml:1",
      ],
      [urnOf("MerchantRuleSet", "all"), 'all is not valid: property "onUnmanaged": needs operations.list', ""],
      [urnOf("MerchantRule", "one"), "one failed: RULE_CONFLICT", ""],
      ["urn:pulumi:prod::shop::other:Thing::large", 'large is not valid: property "rules.large": is odd', ""],
      ["", "the program failed", ""],
    ];
    const diagnostics = said.map(([urn, message]) => ({
      ...(urn === "" ? {} : { urn }),
      message: `error: ${message}\n`,
      severity: "error",
    }));
    write("failed.json", JSON.stringify({ steps: [], diagnostics, changeSummary: {} }));
    const words = ["plan", "failed.json", "--cwd", folder, "--rules", "rules,overlays/prod"];
    const { code, stdout, stderr } = await command(...words, "--annotations", "github");
    expect(code).toBe(1);
    const lines = said.map(([, message, place]) => `error: ${message}${place === "" ? "" : ` (${place})`}`);
    expect(stdout.split("\n").filter((line) => line.startsWith("error: "))).toEqual(lines);
    for (const [, message, place] of said) {
      const [file, line] = place.split(":");
      const properties = line === undefined ? "" : ` file=${file},line=${line}`;
      expect(stderr).toContain(`::error${properties}::${message}`);
    }
    const junit = await command(...words, "--format", "junit");
    expect(junit.stdout).toContain('name="error 2" file="overlays/prod/night.yaml" line="3"');
  });

  test("are named by plan", async () => {
    const { folder, write } = await declared(files, withoutSemantics);
    write("merchant-rules.contract.json", JSON.stringify(withoutSemantics));
    const side = (rules: object) => ({
      type: "pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet",
      id: "1",
      inputs: { rules },
      outputs: { rules, ruleIds: Object.fromEntries(Object.keys(rules).map((key) => [key, `r-${key}`])), version: 2 },
    });
    const after = loadRules("rules", { overlay: "overlays/prod" });
    const { gone: _new, ...others } = after;
    const before = { ...others, night: { ...after.night, limits: { day: 1, hour: 8 } }, left: { name: "left" } };
    const urn = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet::all";
    const step = { op: "update", urn, oldState: side(before), newState: side(after) };
    write("preview.json", JSON.stringify({ steps: [step] }));
    const { stdout, stderr } = await command(
      "plan",
      "preview.json",
      "--cwd",
      folder,
      "--rules",
      "rules,overlays/prod",
      "--json",
    );
    expect(stderr).toBe("");
    const flags = ["--rules", "rules", "--annotations", "github"];
    const { stderr: warned } = await command("plan", "preview.json", "--cwd", folder, ...flags);
    expect(warned).toMatch(
      /^::warning::1 of 5 rules is to be deleted.*\n::warning title=left%3A delete::MerchantRuleSet all/,
    );
    expect(warned).toContain("\n::warning file=rules/night.json,line=5,title=night%3A update::limits.hour: 8 → 1\n");
    const { stderr: failed } = await command("plan", "preview.json", "--cwd", folder, ...flags, "--expect-no-changes");
    expect(failed).toContain("\n::error file=rules/night.json,line=5,title=night%3A update::limits.hour: 8 → 1\n");
    const findings: { change: string; name: string; file?: string; line?: number }[] = JSON.parse(stdout).findings;
    expect(findings.map(({ change, name, file, line }) => [change, name, file, line])).toEqual([
      ["delete", "left", undefined, undefined],
      ["update", "night", "overlays/prod/night.yaml", 3],
      ["create", "gone", "rules/gone.yaml", 1],
    ]);
  });
});
