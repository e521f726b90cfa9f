import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../support/folder.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { run } from "./command.ts";

function folderWith(files: Readonly<Record<string, object>>): string {
  const folder = newFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
  return folder;
}

const schema = {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" }, priority: { type: "integer" } },
};
const contract = { rule: { schema } };

test("merchant-rules schema writes what a rule may hold, and the line by which a rule file names it", async () => {
  const folder = folderWith({ "merchant-rules.contract.yaml": contractOf(contract) });
  const printed = await run(["schema", "--cwd", folder]);
  expect([printed.code, printed.stderr]).toEqual([0, ""]);
  expect(JSON.parse(printed.stdout)).toEqual(schema);
  const output = join(folder, "rule.schema.json");
  const written = await run(["schema", "--cwd", folder, "--output", output]);
  expect([written.code, written.stdout]).toEqual([0, ""]);
  expect(written.stderr).toContain("# yaml-language-server: $schema=../rule.schema.json");
  expect(readFileSync(output, "utf8")).toBe(`${printed.stdout}\n`);
});

test("it takes the contract of a connection, or of a stack's config", async () => {
  const folder = folderWith({
    "merchant-rules.contract.yaml": contractOf(),
    "described.yaml": contractOf(contract),
    "Pulumi.yaml": { name: "shop", runtime: "nodejs" },
    "Pulumi.dev.yaml": { config: { "merchant-rules:contract": "described.yaml" } },
  });
  const words = ["schema", "--cwd", folder];
  const none = await run(words);
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(
    /write the schema of a rule failed: the contract has no rule\.schema\. What to do: describe the fields of a rule in rule\.schema/,
  );
  const over = await run([...words, "--connection", "shop"], { MERCHANT_RULES_SHOP__CONTRACT: "described.yaml" });
  expect(JSON.parse(over.stdout)).toEqual(schema);
  const ofStack = await run([...words, "--stack", "dev", "--engine", "local"]);
  expect(JSON.parse(ofStack.stdout)).toEqual(schema);
  const without = await run(["schema", "--cwd", folderWith({})]);
  expect(without.code).toBe(1);
  expect(without.stderr).toMatch(/no contract was found in .*What to do: run this in the project's folder/);
});
