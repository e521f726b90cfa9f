import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { unsupportedTable } from "../../../local/engine/index.ts";
import { Project, stepNames } from "./support.ts";

describe.concurrent("a run that fails", { timeout: 120_000 }, () => {
  test("keeps what was done, begins nothing more, and is finished by the next run", async () => {
    const project = new Project(`
      const good = new Rule("good", { name: "good" });
      const bad = new Rule("bad", { name: "bad", fail: "create" }, { dependsOn: [good] });
      new Rule("after", { name: "after" }, { dependsOn: [bad] });
    `);
    const failed = await project.run("up");
    expect(failed.ok).toBe(false);
    expect(failed.errors.map(({ message, urn }) => [message, urn?.split("::").at(-1)])).toEqual([
      ["the service refuses to create this", "bad"],
    ]);
    expect(failed.messages.join("\n")).not.toMatch(/^\s+at /m);
    expect(project.takeCalls()).toEqual(["create good"]);
    expect(project.resource("good").id).toMatch(/^rule-/);
    expect(project.state().pending_operations).toEqual([]);
    project.program(`
      const good = new Rule("good", { name: "good" });
      new Rule("bad", { name: "bad" }, { dependsOn: [good] });
    `);
    expect(stepNames(await project.ok("up"))).toEqual(["create bad"]);
  });

  test("names what check finds wrong, and a failing read or delete", async () => {
    const project = new Project(`new Rule("wrong", { name: "wrong", invalid: true });`);
    expect((await project.run("preview")).errors.map(({ message }) => message)).toEqual([
      'wrong is not valid: property "definition": it is invalid',
    ]);
    project.program(`new Rule("a", { name: "a", fail: "delete" }); new Rule("b", { name: "b", fail: "read" });`);
    await project.ok("up");
    const refreshed = await project.run("refresh");
    expect(refreshed.errors.map(({ message }) => message)).toEqual(["the service refuses to read this"]);
    // The host also prints that error, twice in one line and with its stack: neither is for the user.
    expect(refreshed.messages).toEqual(["the service refuses to read this"]);
    expect((await project.run("destroy")).errors.map(({ message }) => message)).toEqual([
      "the service refuses to delete this",
    ]);
    expect(project.resource("a").id).toMatch(/^rule-/);
  });

  test("keeps a half-made resource with its errors, and updates it next time", async () => {
    const project = new Project(`new Rule("half", { name: "half", partial: true });`);
    const failed = await project.run("up");
    expect(failed.errors.map(({ message }) => message)).toEqual(["created, but not ready\n  * not ready"]);
    expect(project.resource("half")).toMatchObject({
      id: expect.stringMatching(/^rule-/),
      initErrors: ["not ready"],
      outputs: { ruleId: expect.any(String) },
    });
    const next = await project.ok("up");
    expect(stepNames(next)).toEqual(["update half"]);
    expect(project.resource("half").initErrors).toBeUndefined();
    expect((await project.ok("up")).summary).toEqual({ same: 2 });
  });

  test("goes on with a replacement that was cut short, on either side of its deletion", async () => {
    const program = (kind: number, fail: string) => `
      new Rule("before", { name: "before"${fail && `, fail: "${fail}"`} }, { deleteBeforeReplace: true }, { kind: ${kind} });
      new Rule("after", { name: "after", fail: "delete" }, {}, { kind: 1 });
    `;
    const project = new Project(program(1, ""));
    await project.ok("up");
    project.program(program(2, "create"));
    expect((await project.run("up")).ok).toBe(false);
    expect(project.resource("before").pendingReplacement).toBe(true);
    project.program(program(2, ""));
    expect(stepNames(await project.ok("up"))).toEqual(["replace before"]);
    expect(project.resource("before").pendingReplacement).toBeUndefined();

    project.program(`new Rule("after", { name: "after" }, {}, { kind: 2 });`);
    expect((await project.run("up")).errors.map(({ message }) => message)).toEqual([
      "the service refuses to delete this",
    ]);
    expect(
      project
        .state()
        .resources.filter(({ urn }) => urn.endsWith("::after"))
        .map((resource) => resource.delete),
    ).toEqual([undefined, true]);
    // What is left to delete is deleted with the inputs that it had: only the service can say otherwise.
    const state = project.stateText().replaceAll('"fail":"delete",', "").replaceAll(',"fail":"delete"', "");
    project.write(project.stateFile, state);
    expect((await project.ok("up")).summary).toEqual({ same: 2 });
    expect(project.state().resources.filter(({ urn }) => urn.endsWith("::after"))).toHaveLength(1);
    expect(project.rules()).toHaveLength(1);
  });

  test("says so when the provider host dies, and does not create the resource again until a person has said what is so", async () => {
    const project = new Project(`new Rule("fatal", { name: "fatal", die: "create" });`);
    const failed = await project.run("up");
    expect(failed.errors.map(({ code, message }) => [code, message])).toEqual([
      [
        "PROVIDER_FAILED",
        "the provider host ended during the create of fatal (exit code 3): whether that took effect is not known",
      ],
    ]);
    expect(project.state().pending_operations).toMatchObject([
      { type: "creating", resource: { urn: expect.stringMatching(/::fatal$/) } },
    ]);
    project.program(`new Rule("fatal", { name: "fatal" });`);
    const next = await project.run("up");
    expect(next.messages).toContainEqual(
      expect.stringMatching(/interrupted during 1 operations:\n {2}\* \S+::fatal, interrupted while creating/),
    );
    expect(next.errors).toMatchObject([
      { message: expect.stringContaining("create fatal failed: an earlier run ended") },
    ]);
    expect(project.rules()).toEqual([]);
    // As with the CLI: whether there is another one somewhere, only a person can say.
    expect(project.state().pending_operations).toMatchObject([{ type: "creating" }]);
    await project.ok("refresh");
    expect(project.state().pending_operations).toMatchObject([{ type: "creating" }]);
    await project.ok("refresh", { clearPendingCreates: true });
    expect(project.state().pending_operations).toEqual([]);
    const later = await project.ok("up");
    expect([stepNames(later), later.messages]).toEqual([["create fatal"], []]);
  });

  test("deletes nothing when the program fails, and shows the program's error", async () => {
    const project = new Project(`new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`);
    await project.ok("up");
    for (const [program, message] of [
      [`new Rule("a", { name: "a" }); throw new Error("program broke");`, /program broke/],
      [`process.exit(5);`, /the program ended with exit code 5/],
      [`new Rule("a", { name: "a" }); new Rule("a", { name: "again" });`, /two resources with the URN/],
    ] as const) {
      project.program(program);
      const result = await project.run("up");
      expect(result.ok).toBe(false);
      expect(result.errors.map((error) => error.message).join("\n")).toMatch(message);
    }
    expect(project.rules()).toHaveLength(2);
    project.program(
      `console.log("a line"); pulumi.log.warn("a warning"); new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`,
    );
    const { messages } = await project.ok("preview");
    expect(messages).toEqual(["a line", "a warning"]);
  });

  test("refuses by name what only the Pulumi CLI handles", async () => {
    const project = new Project("");
    for (const [program, what] of [
      [`new pulumi.StackReference("organization/other/dev");`, "a stack reference"],
      [`new pulumi.CustomResource("aws:s3/bucket:Bucket", "b", {});`, "the resource type aws:s3/bucket:Bucket"],
      [`new pulumi.ProviderResource("aws", "eu", {});`, "the explicit provider aws"],
      [`pulumi.runtime.invoke("aws:index:getRegion", {});`, "the function aws:index:getRegion"],
      [`new Rule("a", {}, { import: "some-id" });`, 'the option "import" of pulumi-nodejs:dynamic/fixture:Rule "a"'],
      [
        `new Rule("a", { file: new pulumi.asset.StringAsset("x") });`,
        'the asset or archive in property "definition.file"',
      ],
    ] as const) {
      project.program(`new Rule("first", { name: "first" }); ${program}`);
      for (const verb of ["preview", "up"] as const) {
        const { errors } = await project.run(verb);
        expect(errors.map(({ message }) => message)).toContain(
          `${what} is not handled by the local engine: install the Pulumi CLI`,
        );
      }
      expect(project.rules()).toEqual([]);
    }
  });

  test("refuses by name the options that only the Pulumi CLI has", () => {
    const project = new Project("");
    for (const words of [["--exclude", "urn"], ["--replace=urn"], ["--continue-on-error"]]) {
      const { status, stderr } = project.cli(["up", "--yes", ...words]);
      expect(stderr).toContain(
        `the option ${words[0]?.split("=")[0]} is not handled by the local engine: install the Pulumi CLI`,
      );
      expect(status).toBe(1);
    }
    expect(project.exists(project.stateFile)).toBe(false);
  });

  test("docs/local-engine.md has the table of what is refused", () => {
    const page = readFileSync(new URL("../../../docs/local-engine.md", import.meta.url), "utf8");
    expect(page).toContain(unsupportedTable());
  });
});

describe.concurrent("a run that is interrupted", { timeout: 120_000 }, () => {
  const program = (paused: string) => `
    const done = new Rule("done", { name: "done" });
    new Rule("open", { name: "open"${paused} }, { dependsOn: [done] });
  `;

  test("by kill -9 loses no id, and the next run goes on from its journal", async () => {
    const project = new Project(program(", pause: true"));
    const { child, exited } = project.start(["up", "--yes"]);
    await project.until(() => project.rules().length === 2);
    child.kill("SIGKILL");
    await exited;
    const journal = `${project.stateFile}.journal`;
    project.write(journal, `${project.read(journal)}[["put",`);
    const done = project.rules().find((file) => JSON.parse(project.read(`service/${file}`)).definition.name === "done");

    project.program(program(""));
    // A preview sees what the journal knows, and leaves it where it is.
    const preview = await project.run("preview");
    expect([stepNames(preview, ["same"]), preview.errors.length]).toEqual([["same done", "same fixture-dev"], 1]);
    expect(project.exists(journal)).toBe(true);
    const next = await project.run("up");
    expect(next.messages).toContainEqual(expect.stringContaining("took over the lock"));
    expect(next.messages).toContainEqual(
      expect.stringMatching(
        /during 1 operations:\n.*::open, interrupted while creating\nA resource that was being created may exist/,
      ),
    );
    expect(stepNames(next)).toEqual([]);
    await project.ok("refresh", { clearPendingCreates: true });
    expect(stepNames(await project.ok("up"))).toEqual(["create open"]);
    expect(`${project.resource("done").id}.json`).toBe(done);
    expect(project.exists(journal)).toBe(false);
  });

  test("by Ctrl-C ends what is under way, writes it, and exits with 1", async () => {
    const project = new Project(program(", pause: true"));
    const { child, exited } = project.start(["up", "--yes"]);
    await project.until(() => project.rules().length === 2);
    child.kill("SIGINT");
    project.write("go", "");
    expect(await exited).toBe(1);
    expect(project.resource("open").id).toMatch(/^rule-/);
    expect(project.exists(`${project.stateFile}.journal`)).toBe(false);
    expect(stepNames(await project.ok("up"))).toEqual([]);
  });

  test("by Ctrl-C twice ends at once, and is taken up by the next run", async () => {
    const project = new Project(program(", pause: true"));
    const { child, exited } = project.start(["up", "--yes"]);
    await project.until(() => project.rules().length === 2);
    child.kill("SIGINT");
    child.kill("SIGTERM");
    expect(await exited).toBe(8);
    project.program(program(""));
    await project.ok("refresh", { clearPendingCreates: true });
    expect(stepNames(await project.ok("up"))).toEqual(["create open"]);
  });
});
