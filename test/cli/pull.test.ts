import { existsSync, readdirSync, renameSync, statSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandFor } from "../../cli/engine-commands.ts";
import { nextSteps } from "../../cli/pull/say.ts";
import { loadRules } from "../../provider/index.ts";
import { loadPreset } from "../../sdk/contract/index.ts";
import { marking, othersMarkBy, rule } from "../support/rules.ts";
import { exportOf } from "../support/stack/states.ts";
import { command } from "./command.ts";
import { declared, files } from "./declared-files.ts";

const folders = ["--rules", "all=rules,overlays/prod"];

describe("merchant-rules pull", () => {
  test("shows what it would write, and writes nothing without --yes", async () => {
    const { pull, edit, remove, read, write, service } = await declared();
    expect(await pull(...folders)).toEqual({
      code: 0,
      stdout: "Pull of stack prod: nothing to do, the files say what is live\n",
      stderr: "",
    });
    // Files of rules that no run has made yet, beside them and alone.
    write("rules/next.yaml", "name: next\n");
    const some = await pull(...folders);
    expect([some.code, some.stdout]).toEqual([
      7,
      "Pull of stack prod: nothing to pull, the files say what is live of the other rules. 1 rule of the files is not in the stack's state: run `pulumi up` to make it\n",
    ]);
    unlinkSync("rules/next.yaml");
    write("destroyed.json", exportOf([]));
    const none = await command("pull", "--state", "destroyed.json", ...folders);
    expect([none.code, none.stderr, none.stdout]).toEqual([
      7,
      "",
      "Pull of stack prod: nothing to pull, the stack's state has no rules. 5 rules of the files are not in the stack's state: run `pulumi up` to make them\n",
    ]);
    const bare = await command("pull", "--state", "destroyed.json");
    expect([bare.code, bare.stdout]).toEqual([
      0,
      "Pull of stack prod: nothing to pull, the stack's state has no rules\n",
    ]);

    edit("large", { priority: 9 });
    edit("rule-1", { priority: 8 });
    remove("gone");
    service.resetRequests();
    const { code, stdout } = await pull(...folders);
    expect([code, stdout]).toEqual([
      7,
      `  - leave out  gone  overlays/prod/gone.yaml
  ~ change  large  rules/large.yaml
      - priority: 1
      + priority: 9
  ! by hand  rule-1  MerchantRule one, no rule file declares it: change the program (or name the folder of its files with --rules)
      - priority: 1
      + priority: 8

Pull of stack prod: 1 to leave out, 1 to change, 1 by hand. Nothing was written: --yes writes it
`,
    ]);
    expect(service.requests.every(({ operation }) => operation === "list" || operation === "get")).toBe(true);
    for (const [name, text] of Object.entries(files)) expect(read(name)).toBe(text);
    expect((await pull()).stdout).toContain("! by hand  large  MerchantRuleSet all, key large, no rule file");
    expect((await pull(...folders, "--include", "lar*")).stdout).toContain("Pull of stack prod: 1 to change. Nothing");
  });

  test("takes each value into the file from which it came, and changes nothing else there", async () => {
    const { pull, edit, read } = await declared();
    edit("large", {
      priority: 9,
      conditions: [
        { field: "currency", operator: "is", value: "USD" },
        { field: "amount", operator: "gt", value: 10 },
      ],
    });
    edit("night", { priority: 7, limits: { day: 3, hour: 4 } });
    edit("extra", { name: "extra: one", priority: 1 });
    edit("listed", { unknownToTheFile: true });
    const { code, stdout, stderr } = await pull(...folders, "--yes");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(
      "\nPull of stack prod: 3 changed\n\nNext:\n  pulumi refresh     # takes the live values into the state, too\n  pulumi preview     # shows no change\n",
    );
    expect(read("rules/large.yaml")).toBe(
      files["rules/large.yaml"]
        .replace("priority: 1", "priority: 9")
        .replace(
          /conditions:[\s\S]*$/,
          "conditions:\n  - { field: currency, operator: is, value: USD }\n  - field: amount\n    operator: gt\n    value: 10\n",
        ),
    );
    expect(read("rules/night.json")).toBe(
      files["rules/night.json"].replace('"priority": 2', '"priority": 7').replace('"day": 1', '"day": 3'),
    );
    expect(read("overlays/prod/night.yaml")).toBe("# prod is stricter\nlimits:\n  hour: 4\n");
    expect(read("overlays/prod/extra.yaml")).toBe('name: "extra: one"\npriority: 1\n');
    expect(read("rules/inList.yaml")).toBe(files["rules/inList.yaml"]);
    // The state says what was declared before: the files are not changed twice.
    expect((await pull(...folders, "--yes")).stdout).toContain("the files say so already");
  });

  test("leaves alone what the service stores in another form", async () => {
    const forms = [
      { at: "/limits/*", is: "decimal" as const },
      { at: "/conditions/*/field", is: "upper" as const },
      { at: "/name", is: "upper" as const },
    ];
    const preset = loadPreset("illustrative");
    const { pull, edit, read } = await declared(files, { ...preset, rule: { ...preset.rule, forms } });
    expect(await pull(...folders)).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to do") });
    edit("night", { name: "Night", limits: { day: "1.0", hour: 7 } });
    expect(await pull(...folders, "--yes")).toMatchObject({ code: 0, stdout: expect.stringContaining("1 changed") });
    expect(read("rules/night.json")).toBe(files["rules/night.json"]);
    expect(read("overlays/prod/night.yaml")).toBe('# prod is stricter\nlimits:\n  hour: "7.00"\n');
  });

  test("takes fields and elements away, also from an overlay", async () => {
    const { pull, edit, read } = await declared({
      ...files,
      "rules/tags.yaml": "name: tags\ntags: [a, b, c]   # all of them\nlimits: { day: 1 }\nnote: x\n",
      "overlays/prod/tags.yaml": "limits: { day: 2, week: 3 } # prod\n",
    });
    edit("tags", { tags: ["b"], limits: {}, note: undefined });
    const { code, stdout } = await pull(...folders, "--yes");
    expect(code, stdout).toBe(0);
    expect(read("rules/tags.yaml")).toBe("name: tags\ntags: [b] # all of them\nlimits: { day: 1 }\n");
    expect(read("overlays/prod/tags.yaml")).toBe("limits: { day: null } # prod\n");
  });

  test("takes missing rules out of the files only where that is allowed", async () => {
    const { pull, remove, read, folder } = await declared();
    for (const name of ["gone", "extra", "night"]) remove(name);
    const asked = await pull(...folders, "--yes");
    expect(asked).toMatchObject({
      code: 7,
      stdout: expect.stringMatching(
        /: 1 to remove, 2 to leave out\. Files of missing rules stay: --remove-missing takes them out\n$/,
      ),
    });
    expect(read("rules/gone.yaml")).toBe(files["rules/gone.yaml"]);
    expect(await pull(...folders, "--yes", "--remove-missing")).toMatchObject({ code: 0 });
    expect(read("rules/gone.yaml")).toBe(files["rules/gone.yaml"]);
    expect(readdirSync(join(folder, "overlays/prod")).sort()).toEqual(["gone.yaml", "night.yaml"]);
    expect(Object.keys(loadRules("rules", { overlay: "overlays/prod" }))).toEqual(["inList", "large"]);
    expect(await pull("--rules", "rules", "--yes", "--remove-missing", "--include", "gone")).toMatchObject({ code: 0 });
    expect(existsSync("rules/gone.yaml")).toBe(false);
  });

  test("writes files for unmanaged rules that are named, and says how they are taken over", async () => {
    const { pull, service, read, folder } = await declared({
      ...files,
      "rules/large.yaml": `# yaml-language-server: $schema=../rule.schema.json\n${files["rules/large.yaml"]}`,
    });
    const [one, two] = [
      { name: "By hand/1", id: "x", on: "yes" },
      { name: "large ", tags: [] },
    ].map((each) => service.put(undefined, each));
    service.put(undefined, { name: "legacy" });
    expect((await pull("--rules", "all=rules")).stdout).toContain("nothing to do");
    const { code, stdout } = await pull("--rules", "all=rules", "--unmanaged", "By*", "large*", "--yes");
    expect(code, stdout).toBe(0);
    expect(stdout).toContain("Pull of stack prod: 2 added\n");
    expect(stdout).toContain(
      `in the program, for one run: MerchantRuleSet all takes them over with adopt: { "By hand-1": "${one}", "large-2": "${two}" }`,
    );
    expect(read("rules/By hand-1.yaml")).toBe(
      '# yaml-language-server: $schema=../rule.schema.json\nname: By hand/1\n"on": "yes"\n',
    );
    expect(statSync(join(folder, "rules/By hand-1.yaml")).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(loadRules("rules")["large-2"]).toEqual({ name: "large ", tags: [] });
    // Of one environment alone: it goes to the overlay.
    const inOverlay = await pull(...folders, "--unmanaged", "legacy", "--yes");
    expect(inOverlay.stdout).toContain("+ add  legacy  overlays/prod/legacy.yaml");
    const several = await pull("--rules", "a=rules", "--rules", "b=rules", "--unmanaged", "*");
    expect(several).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /there are several folders \(a=rules, b=rules\)\. What to do: name the resource with --into/,
      ),
    });
    expect((await pull("--rules", "a=rules", "--rules", "b=rules", "--unmanaged", "*", "--into", "b")).code).toBe(7);
  });

  test("leaves to people a rule without a natural key, which a preview refuses", async () => {
    const { pull, edit, service, read } = await declared();
    const id = service.put(undefined, { priority: 1 });
    edit("large", { name: "", priority: 9 });
    const { code, stdout } = await pull(...folders, "--unmanaged", "*", "--yes");
    expect(code).toBe(7);
    const why =
      "it has no value at /name, the natural key (rule.naturalKey in the contract), so that a preview refuses it: give it one at the service";
    expect(stdout).toContain(`! by hand  large  MerchantRuleSet all, key large, ${why}\n`);
    expect(stdout).toContain(`! by hand  ${id}  id ${id}, ${why}\n`);
    expect(stdout).toContain("Pull of stack prod: 2 by hand\n");
    expect(read("rules/large.yaml")).toBe(files["rules/large.yaml"]);
    edit("", { name: "large" });
    service.put(id, { name: "named" });
    expect((await pull(...folders, "--unmanaged", "*", "--yes")).stdout).toContain(
      "Pull of stack prod: 1 changed, 1 added\n",
    );
  });

  test("leaves to people a value that no program may declare, and names the stack in what is to be run next", async () => {
    const { pull, edit, read } = await declared();
    edit("large", { priority: { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" } });
    const { code, stdout } = await pull(...folders, "--yes");
    expect([code, stdout]).toEqual([7, expect.stringContaining("! by hand  large  MerchantRuleSet all, key large, ")]);
    expect(read("rules/large.yaml")).toBe(files["rules/large.yaml"]);
    const written = { verb: "change", name: "a", about: [], differences: [] } as const;
    const file = { file: "a.yaml", folder: ".", before: "", after: "" };
    const steps = nextSteps([{ ...written, files: [file] }], undefined, (verb) => commandFor(verb, "local", "prod"));
    expect(steps[1]).toMatch(/^ {2}npx --no-install merchant-rules local refresh --stack prod {5}#/);
  });

  test("leaves to people what the files do not say, and what it must not touch", async () => {
    const { pull, edit, write, read, folder } = await declared({
      ...files,
      "rules/anchor.yaml": "name: anchor\npriority: &n 1\nagain: *n\n",
      "rules/linked.yaml": "name: linked\npriority: 1\n",
    });
    for (const name of ["large", "anchor", "linked", "gone"]) edit(name, { priority: 9 });
    write("rules/large.yaml", files["rules/large.yaml"].replace("priority: 1", "priority: 5"));
    renameSync(join(folder, "rules/linked.yaml"), join(folder, "elsewhere.yaml"));
    symlinkSync("../elsewhere.yaml", join(folder, "rules/linked.yaml"));
    const { code, stdout } = await pull("--rules", "rules", "--yes", "--include", "large", "anchor", "linked");
    expect(code).toBe(7);
    expect(stdout).toContain(
      "key large, priority is 5 in the files, and was declared as 1 by the last up\n      - priority: 1\n      + priority: 9\n",
    );
    expect(stdout).toContain(
      "key anchor, rules/anchor.yaml says something by an anchor or a tag that would change with it",
    );
    expect(stdout).toContain("key linked, rules/linked.yaml is a symbolic link");
    expect(stdout).toContain("Pull of stack prod: 3 by hand\n");
    const shared = await pull("--rules", "rules", "--rules", "other=rules", "--yes", "--include", "gone");
    expect(shared.stdout).toContain("key gone, rules/gone.yaml is read for other, too");
    expect(read("elsewhere.yaml")).toBe("name: linked\npriority: 1\n");
  });

  test("writes no secret, and takes no rule of another's", async () => {
    const preset = loadPreset("illustrative");
    const contract = { ...marking, rule: { ...preset.rule, ...marking.rule, secret: ["/pin", "/keys/*/key"] } };
    const { pull, edit, service, read } = await declared(files, contract);
    service.put(undefined, { name: "with-pin", pin: "hush-1", priority: 1 });
    service.put(undefined, { name: "with-keys", keys: [{ key: "hush-2" }] });
    service.put(undefined, rule(9, { metadata: { managedBy: othersMarkBy("shop/test/limits", "nine") } }));
    edit("large", { metadata: { managedBy: othersMarkBy("shop/test/limits", "large") }, priority: 9 });
    const { code, stdout } = await pull("--rules", "rules", "--unmanaged", "*", "--yes");
    expect(code).toBe(7);
    expect(stdout).not.toContain("hush");
    expect(stdout).toContain("+ add  with-pin  rules/with-pin.yaml");
    expect(stdout).toContain("without its secrets, which are not managed then");
    expect(read("rules/with-pin.yaml")).toBe("name: with-pin\npriority: 1\n");
    expect(stdout).toMatch(
      /! by hand {2}with-keys {2}id \w+, it has a secret in an array, which never goes into a file/,
    );
    expect(stdout).toMatch(/! by hand {2}rule-9 {2}id \w+, "shop\/test\/limits" manages it, as its mark says/);
    expect(stdout).toMatch(/! by hand {2}large {2}.*"shop\/test\/limits" manages it now, as its mark says/);
    expect(read("rules/large.yaml")).toBe(files["rules/large.yaml"]);
  });
});
