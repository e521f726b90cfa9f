import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { othersMarkBy, rule } from "../support/rules.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { run } from "./command.ts";

const rowsSchema = z.array(
  z.strictObject({
    id: z.string(),
    name: z.string(),
    state: z.string(),
    weight: z.string(),
    about: z.array(z.string()),
    connection: z.string(),
    text: z.string(),
    paths: z.array(z.array(z.string())),
  }),
);

/** The rules in a page. */
function rowsIn(page: string): z.output<typeof rowsSchema> {
  const [, data = ""] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
  return rowsSchema.parse(JSON.parse(data));
}

describe.each(["local", "pulumi"] as const)("merchant-rules catalog, of a stack of %s", (engine: EngineName) => {
  test.skipIf(engine === "pulumi" && !hasPulumi)(
    "has every rule of the stack and the unmanaged ones, each with its state, and no secret",
    async () => {
      const contract = contractOf({ rule: { secret: ["/vault/pin"], owner: { at: "/owner" } } });
      const { project, service, succeeds, edit, idOf } = await openCommandStack(engine, { contract });
      project.declare({
        all: { rules: { a: rule(1), b: rule(2), c: rule(3, { vault: { pin: "hush-1", note: "seen" } }) } },
        one: { definition: rule(4) },
      });
      await succeeds("up");
      edit("rule-2", { priority: 99 });
      edit("rule-3", { vault: { pin: "hush-2", note: "seen" } });
      service.remove(idOf("rule-4"));
      service.put("stray", rule(5, { vault: { pin: "hush-3" }, name: "</script><b>" }));
      service.put("theirs", { ...rule(6), owner: othersMarkBy("shop/test/limits") });

      const output = join(project.folder, "rules.html");
      const words = ["catalog", "--cwd", project.folder, "--stack", project.stack, "--engine", engine];
      service.resetRequests();
      const { code, stderr } = await run([...words, "--output", output], project.variables());
      expect([code, stderr]).toEqual([0, expect.stringContaining(`a page of 6 rules (written to ${output})`)]);
      // The GET says that the missing rule is gone indeed.
      expect(service.requests.map(({ operation }) => operation)).toEqual(["list", "get"]);

      const page = readFileSync(output, "utf8");
      expect(page).not.toMatch(/hush|<b>|https?:|src=|href=/);
      const rows = rowsIn(page);
      expect(rows.map(({ name, state }) => [name, state])).toEqual([
        ["</script><b>", "unmanaged"],
        ["rule-1", "declared"],
        ["rule-2", "drifted"],
        ["rule-3", "drifted"],
        ["rule-4", "missing"],
        ["rule-6", "another's"],
      ]);
      const [stray, , drifted, masked, missing, theirs] = rows;
      expect(drifted?.paths).toEqual([["priority", String(rule(2).priority), "99"]]);
      expect(masked?.paths).toEqual([["vault.pin", "[secret]", "[another secret]"]]);
      expect(drifted?.about).toEqual(["MerchantRuleSet all", "key b", expect.stringMatching(/^id /)]);
      expect(JSON.parse(masked?.text ?? "")).toMatchObject({
        name: "rule-3",
        vault: { pin: "[secret]", note: "seen" },
      });
      expect(JSON.parse(missing?.text ?? "")).toMatchObject({ name: "rule-4" });
      expect(JSON.parse(stray?.text ?? "")).toMatchObject({ vault: { pin: "[secret]" } });
      expect(theirs?.about).toContainEqual(expect.stringContaining("owner shop/test/limits"));

      const nowhere = join(project.folder, "none/rules.html");
      const failed = await run([...words, "--output", nowhere], project.variables());
      expect([failed.code, existsSync(nowhere)]).toEqual([1, false]);
      expect(failed.stderr).toContain(`write to ${nowhere}`);
      expect((await run([...words, "--state", "-"], project.variables())).code).toBe(2);
    },
  );
});
