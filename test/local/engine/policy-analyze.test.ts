import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { main } from "../../../cli/main.ts";
import { hasPulumi } from "../../support/stack/project.ts";
import { Project, passphrase } from "./support.ts";

const pack = join(import.meta.dirname, "fixtures/policies");

/** Runs the command in this process. */
async function analyze(...flags: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const lines = (method: "log" | "error") => vi.spyOn(console, method).mockImplementation(() => {});
  const [log, error] = [lines("log"), lines("error")];
  const code = await main(["local", "policy", "analyze", "--policy-pack", pack, ...flags]);
  const textOf = (spy: typeof log): string => spy.mock.calls.map((words) => `${words.join(" ")}\n`).join("");
  const said = { code, stdout: textOf(log), stderr: textOf(error) };
  vi.restoreAllMocks();
  return said;
}

/** A stack whose rules were made before there was a policy. */
async function stack(): Promise<Project> {
  const project = new Project(`
    const bad = new Rule("bad", { name: pulumi.secret("a name that is too long"), bad: true }, { protect: true });
    new Rule("blank", { name: " blank ", follows: bad.ruleId });
    new Group("group");
  `);
  await project.ok("up");
  project.takeCalls();
  return project;
}

describe("merchant-rules local policy analyze", { timeout: 120_000 }, () => {
  test("has packs look at a state: inputs, outputs, secrets; nothing is run and nothing is changed", async () => {
    const project = await stack();
    const before = project.stateText();
    vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", passphrase);
    const open = await analyze("--state", project.path(project.stateFile));
    expect(open.code).toBe(1);
    expect(open.stdout.split("\n").map((line) => line.replace("pulumi-nodejs:dynamic/", ""))).toEqual([
      "Analyzing stack dev:",
      "Policies:",
      `    ❌ rule-policies@v1.2.3 (local: ${pack})`,
      "        - [remediate]  trimmed  (fixture:Rule: blank)",
      '          ~ definition.name: " blank " => "blank"',
      "        - [mandatory] [severity: high]  no-bad  (fixture:Rule: bad)",
      "          No bad rules.",
      "          the rule is bad",
      "          very bad",
      "        - [mandatory]  known-target  (fixture:Rule: blank)",
      "          Rules follow no made rule.",
      "          it follows a rule",
      "        - [mandatory]  short  (fixture:Rule: bad)",
      "          Names are short.",
      "          found 23 letters, allowed 20",
      "",
    ]);
    // A pack that is asked about a state knows no stack, as with the Pulumi CLI.
    expect(open.stderr).toBe("started for stack\nerror: a mandatory policy is violated\n");

    vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", undefined);
    const closed = await analyze("--state", project.path(project.stateFile), "--json");
    expect(closed.code).toBe(1);
    expect(closed.stderr).toMatch(/warning: secrets in the state cannot be decrypted, .* set PULUMI_CONFIG_PASSPHRASE/);
    const events = closed.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ policyEvent }) => policyEvent?.policyName).filter(Boolean)).toEqual([
      "no-bad",
      "known-target",
    ]);
    expect(events.find(({ policyRemediationEvent }) => policyRemediationEvent)).toMatchObject({
      policyRemediationEvent: {
        resourceUrn: expect.stringMatching(/::blank$/),
        policyName: "trimmed",
        before: { definition: { name: " blank " } },
        after: { definition: { name: "blank" } },
      },
    });
    expect(events.at(-1)).toMatchObject({
      summaryEvent: { result: "failed", PolicyPacks: { [`rule-policies|local|${pack}`]: "1.2.3" } },
    });

    expect(project.stateText()).toBe(before);
    expect(project.takeCalls()).toEqual([]);
  });

  test("reads a stack of the local engine; a stack without resources has nothing to analyze", async () => {
    const project = new Project("");
    vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", passphrase);
    await project.ok("up");
    await project.ok("destroy");
    const place = ["--cwd", project.folder, "--backend", `file://${project.folder}`];
    expect(await analyze(...place, "--stack", "dev")).toMatchObject({
      code: 0,
      stderr: "stack dev has no resources: there is nothing to analyze\n",
    });
    expect((await analyze(...place, "--stack", "none")).code).toBe(6);
    expect((await analyze("--policy-pack-config", "a,b", ...place)).code).toBe(2);
  });
});

describe.skipIf(!hasPulumi)("policies on the Pulumi CLI (needs the Pulumi CLI)", { timeout: 180_000 }, () => {
  /** The violations and the changes, from engine events. */
  function findings(stdout: string): string[] {
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .flatMap(({ policyEvent, policyRemediationEvent }) => {
        const {
          resourceUrn,
          policyName,
          enforcementLevel = "changed",
          message = "",
        } = policyEvent ?? policyRemediationEvent ?? {};
        return policyName === undefined ? [] : `${enforcementLevel} ${policyName} ${resourceUrn}: ${message.trim()}`;
      })
      .sort();
  }

  function pulumi(project: Project, ...words: string[]): string {
    const { words: all, options } = project.pulumi(words);
    return spawnSync("pulumi", all, { ...options, encoding: "utf8" }).stdout;
  }

  test("are violated, and change what is made, as here: in an up, and over its state", async () => {
    const project = await stack();
    vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", passphrase);
    const analyzed = await analyze("--state", project.path(project.stateFile), "--json");
    project.write("export.json", pulumi(project, "stack", "export", "--stack", "dev"));
    const theirs = pulumi(project, "policy", "analyze", "--policy-pack", pack, "--file", "export.json", "--json");
    expect(findings(analyzed.stdout)).toEqual(findings(theirs));

    project.program(`
      const bad = new Rule("bad", { name: "bad", bad: true });
      new Rule("new", { name: " new ", follows: bad.ruleId, unnamed: true, untrimmable: true });
      for (let k = 0; k < 4; k++) new Rule("r" + k, { name: "r" + k });
    `);
    const here = await project.run("preview", { policyPacks: [pack] });
    const lines = pulumi(project, "preview", "--stack", "dev", "--policy-pack", pack, "--color", "never").split("\n");
    const there = lines.slice(lines.indexOf("Policies:") + 1);
    const shown = there.slice(0, there.indexOf("")).filter((line) => !line.includes("[remediate]"));
    const { policyLines } = await import("../../../local/engine/display/policy-lines.ts");
    const ours = policyLines(here.policies)
      .slice(1)
      .map(({ text }) => text);
    expect(ours.filter((line) => !/\[remediate\]|^ +~ /.test(line))).toEqual(shown);
    expect(here.policies.remediations).toHaveLength(1);
  });
});
