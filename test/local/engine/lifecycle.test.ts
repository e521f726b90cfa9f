import { describe, expect, test } from "vitest";
import { Project, pathsOf, stepNames } from "./support.ts";

// What each operation and option comes to is in test/local/conformance.
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
});
