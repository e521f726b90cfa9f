import { describe, expect, test } from "vitest";
import { Project, pathsOf, stepNames } from "./support.ts";

describe.concurrent("a stack from its beginning to its end", { timeout: 120_000 }, () => {
  test("is created, left alone, updated path by path, replaced, cut down and destroyed", async () => {
    const project = new Project(`
      new Rule("a", { name: "a", priority: 1, tags: ["x", "y"] });
      new Rule("b", { name: "b" }, {}, { kind: "one" });
      exports.greeting = new pulumi.Config().get("greeting");
    `);
    const planned = await project.ok("preview");
    expect(planned.summary).toEqual({ create: 3 });
    expect(project.exists(".pulumi")).toBe(false);
    expect(project.exists("Pulumi.dev.yaml")).toBe(false);

    const created = await project.ok("up");
    expect(created.summary).toEqual({ create: 3 });
    expect(created.outputs).toEqual({ greeting: "hello" });
    expect(created.messages).toContain("Created stack 'dev'");
    expect(project.read("Pulumi.dev.yaml")).toMatch(/^encryptionsalt: v1:\S+:v1:\S+:\S+$/m);
    expect(project.resource("a").id).toMatch(/^rule-/);
    expect(project.rules()).toHaveLength(2);

    const written = project.stateText();
    const again = await project.ok("up");
    expect(again.summary).toEqual({ same: 3 });
    expect(project.stateText()).toBe(written);

    project.program(`
      new Rule("a", { name: "a", priority: 99, tags: ["x"], extra: true });
      new Rule("b", { name: "b" }, {}, { kind: "two" });
      new Rule("c", { name: "c" });
    `);
    project.takeCalls();
    const changed = await project.ok("up");
    expect(stepNames(changed)).toEqual(["create c", "replace b", "update a"]);
    expect(pathsOf(changed, "a")).toEqual({
      "definition.extra": "add",
      "definition.priority": "update",
      "definition.tags[1]": "delete",
    });
    // Created before the old one goes, which is the order without deleteBeforeReplace.
    expect(project.takeCalls().filter((call) => call.endsWith(" b"))).toEqual(["create b", "delete b"]);

    project.program(`new Rule("a", { name: "a", priority: 99, tags: ["x"], extra: true });`);
    expect(stepNames(await project.ok("up"))).toEqual(["delete b", "delete c"]);

    const destroyed = await project.ok("destroy");
    expect(destroyed.summary).toEqual({ delete: 2 });
    expect(project.rules()).toEqual([]);
    expect(project.state().resources).toEqual([]);
    expect((await project.ok("destroy")).summary).toEqual({});
  });

  test("keeps dependencies in order, both ways, through components", async () => {
    const project = new Project(`
      const first = new Rule("first", { name: "first" });
      const second = new Rule("second", { name: "second", after: first.ruleId });
      const group = new Group("group", { dependsOn: [second] });
      exports.inner = group.rule.ruleId;
    `);
    const up = await project.ok("up", { parallel: 4 });
    expect(project.takeCalls()).toEqual(["create first", "create second", "create group"]);
    expect(up.outputs.inner).toBe(project.resource("group-inner").id);
    expect(project.resource("group-inner").parent).toMatch(/Group::group$/);
    expect(project.resource("group").outputs).toEqual({ ruleId: up.outputs.inner });
    expect(project.resource("second").propertyDependencies).toMatchObject({
      definition: [expect.stringMatching(/::first$/)],
    });
    await project.ok("destroy");
    expect(project.takeCalls()).toEqual(["delete group", "delete second", "delete first"]);
  });

  test("deletes before it replaces where that is asked for, with what depends on it", async () => {
    const program = (kind: string) => `
      const root = new Rule("root", { name: "root" }, { deleteBeforeReplace: true }, { kind: "${kind}" });
      new Rule("leaf", { name: "leaf" }, {}, { kind: root.ruleId });
      new Rule("aside", { name: "aside", of: root.ruleId });
    `;
    const project = new Project(program("one"));
    await project.ok("up");
    project.takeCalls();
    project.program(program("two"));
    const result = await project.ok("up");
    expect(stepNames(result)).toEqual(["replace leaf", "replace root", "update aside"]);
    expect(project.takeCalls().slice(0, 3)).toEqual(["delete leaf", "delete root", "create root"]);
    expect(project.rules()).toHaveLength(3);
    expect((await project.ok("preview")).summary).toEqual({ same: 4 });
  });
});

describe.concurrent("resource options", { timeout: 120_000 }, () => {
  test("an alias keeps a renamed or moved resource, and what depends on it", async () => {
    const project = new Project(`
      const old = new Rule("old", { name: "rule" });
      new Rule("user", { uses: old.ruleId });
      new Rule("loose", { name: "loose" });
    `);
    await project.ok("up");
    const { id } = project.resource("old");
    project.program(`
      const renamed = new Rule("new", { name: "rule" }, { aliases: [{ name: "old" }] });
      new Rule("user", { uses: renamed.ruleId });
      const group = new Group("group");
      new Rule("loose", { name: "loose" }, { parent: group, aliases: [{ parent: pulumi.rootStackResource }] });
    `);
    const result = await project.ok("up");
    expect(stepNames(result)).toEqual(["create group", "create group-inner"]);
    expect(project.resource("new").id).toBe(id);
    expect(project.resource("user").dependencies).toEqual([expect.stringMatching(/::new$/)]);
    expect(project.resource("loose").urn).toContain("fixture:index:Group$");
    expect((await project.ok("preview")).summary).toEqual({ same: 6 });
  });

  test("ignoreChanges keeps the old value, replaceOnChanges replaces for the paths it names", async () => {
    const program = (value: number) => `
      new Rule("ignoring", { name: "i", priority: ${value}, deep: [{ x: ${value} }] }, { ignoreChanges: ["definition.priority", "definition.deep[0].x"] });
      new Rule("replacing", { name: "r", priority: ${value} }, { replaceOnChanges: ["definition.priority"] });
      new Rule("vague", { name: "v", priority: ${value} }, {}, { vague: true });
    `;
    const project = new Project(program(1));
    await project.ok("up");
    project.program(program(2));
    const result = await project.ok("up");
    expect(stepNames(result)).toEqual(["replace replacing", "update vague"]);
    expect(pathsOf(result, "replacing")).toEqual({ "definition.priority": "update-replace" });
    expect(project.resource("ignoring").inputs).toMatchObject({ definition: { priority: 1, deep: [{ x: 1 }] } });
  });

  test("protect stops a deletion and a replacement, and says so", async () => {
    const project = new Project(`
      new Rule("kept", { name: "kept" }, { protect: true }, { kind: 1 });
      new Rule("other", { name: "other" });
    `);
    await project.ok("up");
    project.program(`new Rule("kept", { name: "kept" }, { protect: true }, { kind: 2 });`);
    const replacing = await project.run("up");
    expect(replacing.errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("kept cannot be replaced because it is protected"),
    ]);
    expect(project.rules()).toHaveLength(2);

    const destroying = await project.run("destroy");
    expect(destroying.errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("kept cannot be deleted because it is protected"),
    ]);
    expect(stepNames(destroying)).toEqual(["delete other"]);
    expect(project.resource("kept").protect).toBe(true);
  });

  test("retainOnDelete and deletedWith spare the provider the call", async () => {
    const project = new Project(`
      const host = new Rule("host", { name: "host" });
      new Rule("guest", { name: "guest" }, { deletedWith: host });
      new Rule("kept", { name: "kept" }, { retainOnDelete: true });
    `);
    await project.ok("up");
    project.takeCalls();
    expect((await project.ok("destroy")).summary).toEqual({ delete: 4 });
    expect(project.takeCalls()).toEqual(["delete host"]);
    expect(project.rules()).toHaveLength(2);
  });
});
