import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { policies } from "../../policy/policies.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { type Declared, evaluate, rule, ruleSet } from "../policy/evaluate.ts";
import { openCommandStack } from "../support/stack/commands.ts";

const pack = fileURLToPath(new URL("../../examples/policy", import.meta.url));
const configuration = join(pack, "policy-config.json");
const withPack = ["--policy-pack", pack, "--policy-pack-config", configuration];

const settings = z
  .record(z.string(), z.looseObject({ enforcementLevel: z.string().optional() }))
  .parse(JSON.parse(readFileSync(configuration, "utf8")));

const largeAmounts: JsonObject = {
  name: "large-amounts",
  priority: 100,
  conditions: [{ field: "amount", operator: "gt", value: 10_000 }],
  actions: [{ type: "decline", reason: "above the limit" }],
};

describe("examples/policy, on the local engine", { timeout: 120_000 }, () => {
  test("stops a rule that breaks the team's own policy, with nothing sent", async () => {
    const { project, service, run } = await openCommandStack("local");
    project.declare({ all: { rules: { "large-amounts": largeAmounts } } });
    const { code, output } = await run("up", ...withPack);
    expect(code).toBe(1);
    expect(output).toContain(
      [
        "        - [mandatory] [severity: high]  owned-declines  (pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet: all)",
        "          A rule that declines payments names the team that answers for it.",
        "          large-amounts: /owner: found no name, allowed the name of a team",
      ].join("\n"),
    );
    expect(output.match(/\[mandatory\]/g)).toHaveLength(1);
    expect(service.requests).toEqual([]);
  });

  test("lets a good rule pass, without the blanks that it had", async () => {
    const { project, service, succeeds } = await openCommandStack("local");
    project.declare({ all: { rules: { "large-amounts": { ...largeAmounts, owner: " fraud-team " } } } });
    const output = (await succeeds("up", ...withPack)).output;
    expect(output).toContain('~ rules["large-amounts"].owner: " fraud-team " => "fraud-team"');
    expect(output).toContain("[advisory] [severity: high]  protected-rules");
    expect(service.rules().map((each) => each.rule.owner)).toEqual(["fraud-team"]);
  });
});

describe("examples/policy/policy-config.json", () => {
  const good = { ...largeAmounts, owner: "fraud-team" };

  /** For each policy that is configured, rules that break it once. */
  const broken: Record<string, Declared[]> = {
    "no-catch-all": [rule("large-amounts", { ...good, conditions: [] })],
    "unique-natural-keys": [rule("large-amounts", good), rule("other", { ...good, priority: 1 })],
    "unique-values": [rule("large-amounts", good), rule("other", { ...good, name: "other" })],
    "required-values": [rule("large-amounts", { ...good, name: null })],
    "forbidden-values": [
      rule("large-amounts", { ...good, conditions: [{ field: "card.number", operator: "in", value: [] }] }),
    ],
    "allowed-values": [rule("large-amounts", { ...good, actions: [{ type: "refund" }] })],
    "number-ranges": [rule("large-amounts", { ...good, priority: 0.5 })],
    "string-patterns": [rule("large-amounts", { ...good, name: "Large amounts" })],
    "maximum-rules": [
      ruleSet(
        "all",
        Object.fromEntries(
          Array.from({ length: 501 }, (_, k) => [
            k === 0 ? "large-amounts" : `r${k}`,
            { ...good, name: `r${k}`, priority: k + 1 },
          ]),
        ),
      ),
    ],
    "maximum-conditions": [
      rule("large-amounts", { ...good, conditions: Array(11).fill({ field: "a", operator: "eq", value: 1 }) }),
    ],
    "definition-schema": [rule("large-amounts", { ...good, isActive: "yes" })],
    "end-dates": [rule("large-amounts", { ...good, validUntil: "2020-12-31" })],
    "protected-rules": [rule("large-amounts", good)],
    "required-rules": [rule("small-amounts", { ...good, name: "small-amounts" })],
    "normal-form": [rule("large-amounts", { ...good, name: "large-amounts " })],
  };

  test("has a rule here for each policy that it names", () => {
    expect(Object.keys(broken).sort()).toEqual(Object.keys(settings).sort());
  });

  test.each(Object.keys(settings))("refuses what %s is there for, and a good rule passes", async (name) => {
    const policy = policies.find((each) => each.name === name);
    if (policy === undefined) throw new Error(`there is no policy ${name}`);
    const { enforcementLevel: _, ...config } = settings[name] ?? {};
    expect((await evaluate(policy, broken[name] ?? [], config)).violations).toHaveLength(1);
    const passing = [rule("large-amounts", good, { opts: { protect: true } })];
    expect(await evaluate(policy, passing, config)).toEqual({ violations: [], notes: [], notApplicable: [] });
  });
});
