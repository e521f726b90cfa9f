import { spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Project } from "./support.ts";

const hasPulumi = spawnSync("pulumi", ["version"]).status === 0;

const program = (more: string) => `
  const first = new Rule("first", { name: "first", list: [1, { deep: true }], token: pulumi.secret("hidden") });
  new Rule("second", { name: "second", after: first.ruleId }, { dependsOn: [first], protect: false, ignoreChanges: ["definition.free"] }, { kind: 1 });
  const group = new Group("group", { dependsOn: [first] });
  ${more}
  exports.id = first.ruleId;
  exports.all = { first: first.definition, group };
`;

describe.skipIf(!hasPulumi)("the Pulumi CLI on the same folder (needs the Pulumi CLI)", { timeout: 180_000 }, () => {
  function tryPulumi(project: Project, args: readonly string[]) {
    const { words, options } = project.pulumi(args);
    return spawnSync("pulumi", words, { ...options, encoding: "utf8" });
  }

  function pulumi(project: Project, args: readonly string[]) {
    const { status, stdout, stderr } = tryPulumi(project, args);
    if (status !== 0) throw new Error(`pulumi ${args.join(" ")} exited with ${status}:\n${stdout}\n${stderr}`);
    return stdout;
  }

  function started(project: Project, args: readonly string[]) {
    const { words, options } = project.pulumi(args);
    return spawn("pulumi", words, { ...options, stdio: "ignore" });
  }

  test("goes on where the local engine stopped: nothing changes, the state imports, destroy destroys", async () => {
    const project = new Project(program(""));
    await project.ok("up");
    const preview = JSON.parse(pulumi(project, ["preview", "--stack", "dev", "--json", "--expect-no-changes"]));
    expect(preview.changeSummary).toEqual({ same: 5 });
    pulumi(project, ["refresh", "--stack", "dev", "--yes", "--skip-preview", "--expect-no-changes"]);
    pulumi(project, ["stack", "export", "--stack", "dev", "--file", "exported.json"]);
    pulumi(project, ["stack", "import", "--stack", "dev", "--file", "exported.json"]);
    expect((await project.ok("preview")).summary).toEqual({ same: 5 });
    project.program(program(`new Rule("third", { name: "third" });`));
    pulumi(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
    expect((await project.ok("refresh")).summary).toEqual({ same: 6 });
    await project.ok("destroy");
    pulumi(project, ["destroy", "--stack", "dev", "--yes", "--skip-preview"]);
  });

  test("goes on from a run of the local engine that was killed: what was made is kept, and what was under way is said", async () => {
    const project = new Project(`
      const done = new Rule("done", { name: "done" });
      new Rule("open", { name: "open", pause: true }, { dependsOn: [done] });
    `);
    const { child, exited } = project.start(["up", "--yes"]);
    await project.until(() => project.rules().length === 2);
    await project.until(() => project.state().resources.some(({ urn }) => urn.endsWith("::done")));
    child.kill("SIGKILL");
    await exited;
    const made = project.resource("done").id;
    // The lock of a process that is gone is still a lock to the CLI, which names this command.
    pulumi(project, ["cancel", "--stack", "dev", "--yes"]);
    const exported = JSON.parse(pulumi(project, ["stack", "export", "--stack", "dev"]));
    expect(exported.deployment.pending_operations).toMatchObject([{ type: "creating", resource: { inputs: {} } }]);
    project.takeCalls();
    project.write("go", "");
    pulumi(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
    expect(project.takeCalls()).toEqual(["create open"]);
    expect(project.resource("done").id).toBe(made);
  });

  test("is gone on from by the local engine when it was killed", async () => {
    const project = new Project(`
      const done = new Rule("done", { name: "done" });
      new Rule("open", { name: "open", pause: true }, { dependsOn: [done] });
    `);
    pulumi(project, ["stack", "init", "dev"]);
    const child = started(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
    await project.until(() => project.rules().length === 2);
    child.kill("SIGKILL");
    await new Promise((ended) => child.on("close", ended));
    const made = project.resource("done").id;
    project.takeCalls();
    project.write("go", "");
    const { messages } = await project.run("up");
    expect(messages.join("\n")).toContain("took over the lock of a run that ended without releasing it");
    expect(messages.join("\n")).toMatch(/open, interrupted while creating/);
    expect(project.takeCalls()).toEqual([]);
    pulumi(project, ["refresh", "--stack", "dev", "--yes", "--skip-preview", "--clear-pending-creates"]);
    project.takeCalls();
    await project.ok("up");
    expect(project.takeCalls()).toEqual(["create open"]);
    expect(project.resource("done").id).toBe(made);
  });

  test("a lock held by one is respected by the other, which says by whom", async () => {
    const project = new Project(`new Rule("open", { name: "open", pause: true });`);
    pulumi(project, ["stack", "init", "dev"]);
    const ours = project.start(["up", "--yes"]);
    await project.until(() => project.rules().length === 1);
    const refused = tryPulumi(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr + refused.stdout).toMatch(new RegExp(`locked by 1 lock[^]*\\(pid ${ours.child.pid}\\)`));
    project.write("go", "");
    expect(await ours.exited).toBe(0);

    project.program(`new Rule("other", { name: "other", pause: true });`);
    rmSync(project.path("go"));
    const theirs = started(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
    await project.until(() => project.rules().length === 2);
    await expect(project.run("up")).rejects.toThrow(new RegExp(`locked by .* \\(pid ${theirs.pid}\\)`));
    project.write("go", "");
    expect(await new Promise((ended) => theirs.on("close", ended))).toBe(0);
  });

  test("tells the runs of both in its history", async () => {
    const project = new Project(`new Rule("a", { name: "a", token: new pulumi.Config().requireSecret("token") });`);
    pulumi(project, ["stack", "init", "dev"]);
    pulumi(project, ["config", "set", "--stack", "dev", "--secret", "token", "hidden"]);
    await project.ok("up");
    pulumi(project, ["refresh", "--stack", "dev", "--yes", "--skip-preview"]);
    await project.ok("destroy");
    const history = JSON.parse(pulumi(project, ["stack", "history", "--stack", "dev", "--json"]));
    expect(history).toMatchObject([
      { kind: "destroy", result: "succeeded", resourceChanges: { delete: 2 } },
      { kind: "refresh", result: "succeeded" },
      {
        kind: "update",
        result: "succeeded",
        resourceChanges: { create: 2 },
        config: { "fixture:greeting": { value: "hello", secret: false }, "fixture:token": { secret: true } },
      },
    ]);
  });

  test("is followed by the local engine, which agrees with it about every change", async () => {
    const project = new Project(program(""));
    pulumi(project, ["stack", "init", "dev"]);
    pulumi(project, ["config", "set", "--stack", "dev", "--secret", "--path", "object.deep", "sesame"]);
    pulumi(project, ["config", "set", "--stack", "dev", "--path", "object.list[0]", "<5>"]);
    pulumi(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
    expect((await project.ok("preview")).summary).toEqual({ same: 5 });
    expect((await project.ok("refresh")).summary).toEqual({ same: 5 });

    project.program(
      program(`new Rule("third", { name: "third" });`).replace("kind: 1", "kind: 2").replace("deep: true", "deep: 7"),
    );
    const theirs = JSON.parse(pulumi(project, ["preview", "--stack", "dev", "--json"]));
    const ours = JSON.parse(project.cli(["preview", "--json"]).stdout);
    const shape = (document: {
      steps: { op: string; urn: string; detailedDiff: unknown; diffReasons?: string[]; replaceReasons?: string[] }[];
    }) =>
      document.steps
        .map(({ op, urn, detailedDiff, diffReasons, replaceReasons }) => ({
          op,
          urn,
          detailedDiff,
          diffReasons,
          replaceReasons,
        }))
        .sort((a, b) => (a.urn < b.urn ? -1 : 1));
    expect(shape(ours)).toEqual(shape(theirs));
    expect(ours.changeSummary).toEqual(theirs.changeSummary);
    expect(ours.config).toEqual(theirs.config);

    await project.ok("up");
    expect(
      JSON.parse(pulumi(project, ["preview", "--stack", "dev", "--json", "--expect-no-changes"])).changeSummary,
    ).toEqual({ same: 6 });
  });
});
