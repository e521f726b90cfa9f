import { describe, expect, test } from "vitest";
import { stub } from "./payments.ts";
import { atWireMock } from "./place.ts";

const total = 7;

atWireMock((engine, open) => {
  describe.each(["files", "program"])("rules made by hand, exported as %s", (form) => {
    test("come into code and state without a write, and the first change of one marks that one", async () => {
      const place = await open();
      const stack = await place.stack(engine);
      const { project } = stack;
      for (let k = 0; k < total; k += 1) await place.service.put(stub(k));
      const before = await place.service.rules();
      const succeeds = async (run: Promise<{ code: number; output: string }>): Promise<string> => {
        const { code, output } = await run;
        expect(code, output).toBe(0);
        return output;
      };
      const words = ["--cwd", project.folder, "--out", project.folder, "--stack", project.stack];
      const said = await succeeds(project.merchantRules("export", ...words, "--engine", engine, "--as", form));
      expect(said).toContain(`Exported ${total} of ${total} rules`);
      project.write("index.js", 'import "./rules.ts";\n');
      const flags = ["--file", "import.json", "--yes", "--stack", project.stack];
      if (engine === "local") await succeeds(project.merchantRules("local", "import", ...flags));
      else await succeeds(project.pulumi("import", ...flags, "--generate-code=false", "--protect=false"));
      await succeeds(project.run(engine, "refresh", "--preview-only", "--expect-no-changes"));
      await succeeds(project.run(engine, "up", "--expect-no-changes"));
      expect(place.writes()).toEqual([]);
      expect(await place.service.rules()).toEqual(before);

      const file = form === "files" ? "rules/rule-3.yaml" : "rules.ts";
      project.write(file, project.read(file).replace(/@\.amount > 300\b/, "@.amount > 333"));
      await succeeds(project.run(engine, "up"));
      expect(place.writes()).toEqual(["PUT"]);
      const rules = await place.service.rules();
      expect(rules.map(({ ruleId }) => ruleId)).toEqual(before.map(({ ruleId }) => ruleId));
      expect(rules.flatMap(({ rule, mark }) => (mark === undefined ? [] : [rule]))).toEqual([stub(3, { over: 333 })]);
    });
  });

  test("a set with adopt takes rules over without a write; without the word they are refused", async () => {
    const place = await open();
    const stack = await place.stack(engine);
    const rules = Object.fromEntries(Array.from({ length: total }, (_, k) => [`r${k}`, stub(k)]));
    for (const rule of Object.values(rules)) await place.service.put(rule);
    const before = await place.service.rules();
    await stack.upFails({ limits: { rules } }, {}, /rule-0/, /adopt/);
    await stack.up({ limits: { rules, adopt: true } });
    await stack.up({ limits: { rules } });
    await stack.isUnchanged();
    expect(place.writes()).toEqual([]);
    expect(await place.service.rules()).toEqual(before);
  });
});
