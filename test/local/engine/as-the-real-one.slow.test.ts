import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Project } from "./support.ts";

// What the Pulumi CLI does, seen by running it.
describe.concurrent("as the real engine", { timeout: 120_000 }, () => {
  test("a program without dynamic resources ends well, and nothing is said after its end", async () => {
    const project = new Project(`new pulumi.ComponentResource("fixture:index:Group", "a"); exports.done = true;`);
    for (const verb of ["up", "preview", "up"] as const) {
      const result = await project.run(verb);
      await sleep(200);
      expect(result).toMatchObject({ ok: true, errors: [] });
      expect(result.messages.filter((message) => message.includes("provider host"))).toEqual([]);
    }
  });

  test.each(["setTimeout(() => process.exit(0), 1)", "process.reallyExit(0)"])(
    "a program that leaves by %s fails, and nothing is deleted",
    async (leave) => {
      const project = new Project(`exports.kept = "yes"; new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`);
      await project.ok("up");
      project.program(`new Rule("a", { name: "a" }).urn.apply(() => ${leave});`);
      for (const verb of ["preview", "up"] as const) {
        const { ok, errors } = await project.run(verb);
        expect(ok).toBe(false);
        expect(errors.map(({ message }) => message)).toEqual([
          expect.stringMatching(/process\.exit.*Nothing was deleted/),
        ]);
      }
      expect(project.rules()).toHaveLength(2);
      expect(project.resource("b").id).toMatch(/^rule-/);
      expect(project.resource("fixture-dev").outputs).toEqual({ kept: "yes" });
    },
  );

  test.each(["process.exit(0)", "setTimeout(() => process.exit(0), 1)"])(
    "a program that leaves by %s once all that it declares is done has ended well",
    async (leave) => {
      const project = new Project("");
      const rules = `const a = new Rule("a", { name: "a" }); const b = new Rule("b", { name: "b" });`;
      project.program(`${rules} pulumi.all([a.id, b.id]).apply(() => ${leave});`);
      expect(await project.ok("up")).toMatchObject({ errors: [], summary: { create: 3 } });
      expect(await project.ok("up")).toMatchObject({ errors: [], summary: { same: 3 } });
      expect(project.rules()).toHaveLength(2);
    },
  );

  test("a program that leaves by process.exit(0) while a create is under way fails; the resource is in the state", async () => {
    const project = new Project(`
      const { existsSync, writeFileSync } = require("node:fs");
      new Rule("a", { name: "a", pause: true });
      process.on("exit", () => writeFileSync("go", ""));
      setInterval(() => existsSync("waiting") && process.exit(0), 10);
    `);
    expect((await project.run("up")).ok).toBe(false);
    expect(project.resource("a").id).toMatch(/^rule-/);
  });

  test.each([
    ["up", ["delete first", "delete second"]],
    ["destroy", ["delete third", "delete second", "delete first"]],
  ] as const)("of several generations of one name %s deletes %j, in this order", async (verb, order) => {
    const project = new Project("");
    for (const [kind, name] of ["first", "second", "third"].entries()) {
      project.program(
        `new Rule("a", { name: "${name}"${kind < 2 ? ', fail: "delete"' : ""} }, {}, { kind: ${kind} });`,
      );
      await project.run("up");
    }
    // From now on the service lets the old ones go.
    project.write(project.stateFile, project.stateText().replaceAll(/"fail":\s*"delete"/g, '"fail":"no more"'));
    project.takeCalls();
    await project.ok(verb, { parallel: 1 });
    expect(project.takeCalls()).toEqual(order);
    expect(project.rules()).toHaveLength(verb === "up" ? 1 : 0);
  });

  test("an error that a program logs is shown, and the run goes on to its end", async () => {
    const project = new Project(`new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`);
    await project.ok("up");
    project.program(`
      console.log("error: [runtime] printed, not logged");
      pulumi.log.error("told so\\nover two lines");
      console.log("printed");
      pulumi.log.warn("twice");
      console.error("as well");
      new Rule("a", { name: "a" });
    `);
    const { messages, summary } = await project.ok("up");
    expect(messages).toEqual(
      expect.arrayContaining(["told so\nover two lines", "printed", "twice", "as well", "printed, not logged"]),
    );
    expect(summary).toEqual({ same: 2, delete: 1 });
  });

  test("a run that was killed leaves a state file that says what was done and what was under way", async () => {
    const project = new Project(`
      const done = new Rule("done", { name: "done" });
      new Rule("open", { name: "open", pause: true }, { dependsOn: [done] });
    `);
    const { child, exited } = project.start(["up", "--yes"]);
    await project.until(() => project.rules().length === 2);
    const underWay = (): string[] => project.state().pending_operations.map(({ type }) => type);
    await project.until(() => project.state().resources.some(({ urn }) => urn.endsWith("::done")));
    child.kill("SIGKILL");
    await exited;
    expect(underWay()).toEqual(["creating"]);
    expect(project.resource("done").id).toMatch(/^rule-/);
  });

  test("before its first write the state file says what is under way", async () => {
    const project = new Project(`new Rule("open", { name: "open", pause: true });`);
    const { child, exited } = project.start(["up", "--yes"]);
    await project.until(() => project.rules().length === 1);
    child.kill("SIGKILL");
    await exited;
    expect(project.state().pending_operations).toMatchObject([{ type: "creating" }]);
  });

  test("the state file names every create before its request is sent", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const project = new Project(`
      for (const name of ${JSON.stringify(names)}) new Rule(name, { name, pause: true });
    `);
    const { child, exited } = project.start(["up", "--yes", "--parallel", "6"]);
    await project.until(() => project.rules().length === names.length);
    child.kill("SIGKILL");
    await exited;
    const open = project
      .state()
      .pending_operations.map(({ type, resource }) => `${type} ${resource.urn.split("::").at(-1)}`);
    expect(open.sort()).toEqual(names.map((name) => `creating ${name}`));
  });

  test("each run stands in the history, with the state after it, and a backup", async () => {
    const project = new Project(`new Rule("a", { name: "a" });`);
    await project.ok("up");
    await project.ok("preview");
    const after = project.stateText();
    project.program(`new Rule("b", { name: "b", fail: "create" });`);
    await project.run("up");
    const kept = (kind: string): string[] => readdirSync(project.path(`.pulumi/${kind}/fixture/dev`)).sort();
    const records = kept("history").filter((name) => name.endsWith(".history.json"));
    expect(records.map((name) => JSON.parse(project.read(`.pulumi/history/fixture/dev/${name}`)))).toMatchObject([
      { kind: "update", result: "succeeded", resourceChanges: { create: 2 }, config: { "fixture:greeting": "hello" } },
      { kind: "update", result: "failed" },
    ]);
    const [checkpoint = ""] = kept("history").filter((name) => name.endsWith(".checkpoint.json"));
    expect(project.read(`.pulumi/history/fixture/dev/${checkpoint}`)).toBe(after);
    const [backup = "", ...others] = kept("backups");
    expect(project.read(`.pulumi/backups/fixture/dev/${backup}`)).toBe(after);
    expect(others).toHaveLength(1);
    await project.ok("destroy", { env: { ...project.env, PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true" } });
    expect(kept("backups")).toHaveLength(2);
  });
});
