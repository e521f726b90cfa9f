import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ResourceValidationPolicy, StackValidationPolicy } from "@pulumi/policy";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { levels } from "../../local/engine/policies/findings.ts";
import { policies } from "../../policy/policies.ts";
import { type Declared, evaluate, rule, ruleSet } from "../policy/evaluate.ts";
import { stackExport } from "../policy/stack-export.ts";
import { newFolder } from "../support/folder.ts";
import { blocksOf, pageAt, root, rowsOf, sectionOf } from "./page.ts";

const page = pageAt("docs/policies.md");
const reference = sectionOf(page, "All policies");

type Policy = ResourceValidationPolicy | StackValidationPolicy;

const isRefusing = (policy: Policy): boolean => "validateResource" in policy || "validateStack" in policy;

/** The function that a policy has: of a resource, or of a stack. */
function askedOn(policy: Policy): string {
  const isOnResource = "validateResource" in policy || "remediateResource" in policy;
  return [isOnResource ? ["a resource"] : [], "validateStack" in policy ? ["the stack"] : []].flat().join(" and ");
}

/** The policies whose code stands on the page, as a team has them in a pack. */
async function ownPolicies(): Promise<Policy[]> {
  const pack = newFolder();
  symlinkSync(join(root, "node_modules"), join(pack, "node_modules"), "dir");
  const codes = blocksOf(page, "js").filter((code) => code.startsWith("// "));
  return await Promise.all(
    codes.map(async (code) => {
      const file = join(pack, `${/^\/\/ (\S+)\.js\n/.exec(code)?.[1]}.mjs`);
      writeFileSync(file, code);
      const module: Record<string, Policy> = await import(/* @vite-ignore */ pathToFileURL(file).href);
      const [policy] = Object.values(module);
      if (policy === undefined) throw new Error(`${file} exports nothing`);
      return policy;
    }),
  );
}

describe("docs/policies.md", () => {
  test("has a table of all policies, and of none that does not exist", () => {
    const table = rowsOf(reference.slice(0, reference.indexOf("\n### ")));
    expect(table.map(([name, , asked]) => [name, asked])).toEqual(
      policies.map((policy) => [`[${policy.name}](#${policy.name})`, askedOn(policy)]),
    );
    const headings = [...reference.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(policies.map(({ name }) => name));
  });

  test.each(policies)("has every field of $name with its default, and none that does not exist", (policy) => {
    const { secret, ...fields } = policy.configSchema?.properties ?? {};
    const section = sectionOf(reference, policy.name);
    const expected = Object.entries(fields).map(([name, schema]) => [
      `\`${name}\``,
      `\`${JSON.stringify(schema.default)}\``,
    ]);
    expect(rowsOf(section).map(([name, fallback]) => [name, fallback])).toEqual(expected);
    const shared = `the field \`secret\`, with the default \`${JSON.stringify(secret?.default)}\``;
    if (isRefusing(policy)) expect(reference).toContain(shared);
    const examples = blocksOf(section, "json").flatMap((block) => Object.keys(JSON.parse(block)));
    expect(examples).toEqual([policy.name]);
  });

  test("names the policies that refuse without configuration, and those at another level than mandatory", async () => {
    const isOn = async (policy: Policy): Promise<boolean> => {
      const { notApplicable } = await evaluate(policy, [rule("one", {})]);
      // One that is advisory refuses nothing.
      const doesRefuse = isRefusing(policy) && !["disabled", "advisory"].includes(policy.enforcementLevel ?? "");
      return doesRefuse && notApplicable.length === 0;
    };
    const on = await Promise.all(policies.map(async (policy) => ((await isOn(policy)) ? [policy.name] : [])));
    const linked = (text = ""): string[] => [...text.matchAll(/\]\(#(.*?)\)/g)].map(([, name = ""]) => name);
    expect(linked(/^Without configuration three policies.*?\n\n/ms.exec(page)?.[0])).toEqual(on.flat());
    const others = policies.filter(({ enforcementLevel }) => enforcementLevel !== "mandatory");
    const sentence = /a policy is `mandatory`; only .*?\. /s.exec(page)?.[0] ?? "";
    expect(linked(sentence).sort()).toEqual(others.map(({ name }) => name).sort());
    for (const { name, enforcementLevel } of others)
      expect(sentence).toContain(`[${name}](#${name}) is \`${enforcementLevel}\``);
  });

  const setting = z.union([z.enum(levels), z.looseObject({ enforcementLevel: z.enum(levels).optional() })]);

  test.each(blocksOf(page, "json"))("shows a configuration that the policies take (block %#)", async (block) => {
    const known = [...policies, ...(await ownPolicies())];
    for (const [name, value] of Object.entries(z.record(z.string(), setting).parse(JSON.parse(block)))) {
      const { enforcementLevel: _, ...config } = typeof value === "object" ? value : {};
      if (name === "all") {
        expect(levels).toContain(value);
        continue;
      }
      const policy = known.find((each) => each.name === name);
      if (policy === undefined) throw new Error(`there is no policy ${name}`);
      const baseline = "baseline" in config ? { baseline: stackExport([]) } : {};
      const { notApplicable } = await evaluate(policy, [rule("one", {})], { ...config, ...baseline });
      expect(notApplicable).toEqual([]);
    }
  });

  test("shows policies that find what they are said to find", async () => {
    const [lowest, fallback] = await ownPolicies();
    if (lowest === undefined || fallback === undefined) throw new Error("there are no two policies on the page");
    const conditions = [null, { field: "amount", operator: "gt", value: 7 }, { field: "country", value: 1 }];
    const declared: Declared[] = [rule("small", { conditions }), ruleSet("all", { a: {}, b: { conditions: [] } })];
    expect((await evaluate(lowest, declared)).violations).toEqual([
      "small: small: /conditions/1/value: found 7, allowed 10 or more",
    ]);
    expect((await evaluate(fallback, declared)).violations).toEqual([
      "all: b: /conditions: found none, as in a, allowed one such rule in the stack",
    ]);
  });
});
