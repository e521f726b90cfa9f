import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { jsonDocument } from "../../../local/engine/display/json.ts";
import type { RunOptions, RunResult } from "../../../local/engine/index.ts";
import { many } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { Project } from "./support.ts";

const pack = join(import.meta.dirname, "fixtures/policies");
const withPack: Partial<RunOptions> = { policyPacks: [pack] };

/** The violations, each as `mandatory no-bad b`. */
function violated({ policies }: Pick<RunResult, "policies">): string[] {
  return policies.violations.map(({ level, policy, urn }) => `${level} ${policy} ${urn.split("::").at(-1)}`).sort();
}

describe.concurrent("policy packs", { timeout: 120_000 }, () => {
  test("advise, and change what they may: the rule is made, shown and kept as the policy made it", async () => {
    const project = new Project(`
      const a = new Rule("a", { name: " a ", token: pulumi.secret("hush") });
      new Rule("b", { name: "b", unnamed: true, follows: a.ruleId });
    `);
    const result = await project.run("preview", withPack);
    const { ok, policies, messages, events } = result;
    expect(ok).toBe(true);
    expect(policies.packs).toEqual([{ name: "rule-policies", version: "1.2.3", folder: pack }]);
    expect(messages).toContain("started for dev");
    expect(violated({ policies })).toEqual(["advisory known-target b", "advisory named b"]);
    expect(policies.violations.find(({ policy }) => policy === "known-target")?.message).toMatch(
      /can't run policy 'known-target' .* during preview: .*follows/,
    );
    expect(events.filter(({ kind }) => kind === "violation" || kind === "remediation")).toHaveLength(3);
    expect(jsonDocument(result, [])).toMatchObject({
      policyViolations: [{ policyName: expect.any(String) }, { enforcementLevel: "advisory", color: "never" }],
      policyRemediations: [
        { policyName: "trimmed", after: { definition: { name: "a", token: { ciphertext: "[secret]" } } } },
      ],
    });

    project.write("Pulumi.dev.yaml", "config:\n  fixture:greeting: oi\n");
    project.program(`new Rule("a", { name: " a ", token: pulumi.secret("hush") });`);
    const up = await project.ok("up", withPack);
    expect(up.policies.remediations).toMatchObject([
      { policy: "polite", before: { "fixture:greeting": "oi" }, after: { "fixture:greeting": "good day" } },
      { policy: "trimmed", before: { definition: { name: " a " } }, after: { definition: { name: "a" } } },
    ]);
    expect(JSON.parse(project.read("config.json"))).toMatchObject({ "fixture:greeting": "good day" });
    expect(project.takeCalls()).toEqual(["create a"]);
    expect(project.resource("a").inputs).toMatchObject({
      definition: { name: "a", token: { ciphertext: expect.any(String) } },
      __provider: expect.any(String),
    });
    expect(up.messages.filter((message) => message === "started for dev")).toHaveLength(1);

    // Pulumi's own engine makes replacements from the inputs as they were before any policy changed them.
    project.program(`new Rule("a", { name: " a ", token: pulumi.secret("hush") }, {}, { kind: "other" });`);
    await project.ok("up", { ...withPack, previewed: true });
    expect(project.takeCalls()).toEqual(["create a", "delete a"]);
    expect(project.resource("a").inputs).toMatchObject({ definition: { name: "a" }, kind: "other" });
  });

  test("that are mandatory stop an up before anything is asked of the service, and all that is violated is said", async () => {
    const project = new Project(`
      new Rule("good", { name: "good" });
      new Rule("bad", { name: "bad", bad: true });
      new Group("group");
      new Rule("odd", { name: "odd", untrimmable: true });
      for (let k = 0; k < 3; k++) new Rule("r" + k, { name: "r" + k });
    `);
    const result = await project.run("up", withPack);
    expect(result).toMatchObject({ ok: false, preview: true, summary: { create: 9 } });
    expect(violated(result)).toEqual(["mandatory few fixture-dev", "mandatory no-bad bad", "mandatory trimmed odd"]);
    expect(result.errors.map(({ code, message }) => ({ code, message }))).toContainEqual({
      code: "POLICY_VIOLATED",
      message:
        "bad violates the mandatory policy no-bad of rule-policies@v1.2.3: No bad rules.\nthe rule is bad\nvery bad",
    });
    expect(result.messages.filter((message) => message.includes("violates"))).toEqual([]);
    expect(project.takeCalls()).toEqual([]);
    expect(project.exists(project.stateFile)).toBe(false);
  });

  test("that only an update can answer stop it there: nothing of that rule is sent", async () => {
    const project = new Project(`
      const a = new Rule("a", { name: "a" });
      new Rule("b", { name: "b", follows: a.ruleId });
    `);
    const result = await project.run("up", withPack);
    expect(result).toMatchObject({ ok: false, preview: false });
    expect(violated(result)).toEqual(["mandatory known-target b"]);
    expect(project.takeCalls()).toEqual(["create a"]);
    expect(project.resource("a").id).toMatch(/^rule-/);
  });

  test("that break fail the run, and nothing is sent", async () => {
    const project = new Project(`new Rule("a", { name: "a", odd: "throw" });`);
    const { ok, errors } = await project.run("up", { ...withPack, previewed: true });
    expect(ok).toBe(false);
    expect(errors.map(({ code, message }) => `${code} ${message}`)).toEqual([
      [
        `POLICY_PACK the policy pack in ${pack} failed to analyze a: Error validating resource with policy 'odd' from policy pack 'rule-policies@v1.2.3':`,
        "Error: the policy is broken",
        "What to do: fix the policy, or disable it in the pack's configuration",
      ].join("\n"),
    ]);
    expect(project.takeCalls()).toEqual([]);
  });

  test("end with a run that is cancelled, also one that is busy for ever", async () => {
    const project = new Project("");
    project.program(`new Rule("a", { name: "a", odd: "hang", folder: ${JSON.stringify(project.folder)} });`);
    const cancel = new AbortController();
    const running = project.run("up", { ...withPack, signal: cancel.signal });
    await project.until(() => project.exists("hanging") && project.read("hanging") !== "");
    cancel.abort();
    expect(await running).toMatchObject({ ok: false, cancelled: true, errors: [] });
    const pid = Number(project.read("hanging"));
    await sleep(1);
    expect(() => process.kill(pid, 0)).toThrow(expect.objectContaining({ code: "ESRCH" }));
    expect(project.takeCalls()).toEqual([]);
  });

  test("look into a set of rules, and name the key: no request reaches the service", async () => {
    const { project, service, run } = await openCommandStack("local");
    const rules = many(3);
    project.declare({ all: { rules: { ...rules, r1: { ...rules.r1, bad: true } } } });
    const { code, output } = await run("up", "--policy-pack", pack);
    expect(code).toBe(1);
    expect(output).toContain(
      [
        "Policies:",
        `    ❌ rule-policies@v1.2.3 (local: ${pack})`,
        "        - [mandatory] [severity: high]  no-bad  (pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet: all)",
        "          No bad rules.",
        "          r1: the rule is bad",
        "          very bad",
      ].join("\n"),
    );
    expect(output).toContain("error: a mandatory policy is violated: nothing was done\n");
    expect(service.requests).toEqual([]);
  });
});
