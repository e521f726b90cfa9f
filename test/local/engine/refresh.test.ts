import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Project, pathsOf, stepNames } from "./support.ts";

describe.concurrent("a refresh", { timeout: 120_000 }, () => {
  test("shows drift path by path, takes what is gone out of the state, and writes only when asked to", async () => {
    const project = new Project(`
      const first = new Rule("first", { name: "first", priority: 1 });
      const second = new Rule("second", { name: "second", after: first.ruleId, token: pulumi.secret("hidden") });
      new Rule("third", { name: "third" }, { dependsOn: [first, second] });
    `);
    await project.ok("up");
    expect((await project.ok("refresh")).summary).toEqual({ same: 4 });

    const fileOf = (name: string) => `service/${project.resource(name).id}.json`;
    const second = JSON.parse(project.read(fileOf("second")));
    project.write(
      fileOf("second"),
      JSON.stringify({
        ...second,
        definition: { ...second.definition, name: "edited", added: { x: 1 }, token: "changed" },
      }),
    );
    rmSync(project.path(fileOf("first")));

    const before = project.stateText();
    const drift = await project.ok("refresh", { previewOnly: true });
    expect(stepNames(drift)).toEqual(["delete first", "update second"]);
    expect(pathsOf(drift, "second")).toEqual({
      "definition.added": "add",
      "definition.name": "update",
      "definition.token": "update",
    });
    expect(project.stateText()).toBe(before);

    await project.ok("refresh");
    expect(project.state().resources.map(({ urn }) => urn.split("::").at(-1))).toEqual([
      "fixture-dev",
      "default",
      "second",
      "third",
    ]);
    expect(project.resource("third").dependencies).toEqual([expect.stringMatching(/::second$/)]);
    expect(project.resource("second")).toMatchObject({ inputs: { definition: { name: "edited", added: { x: 1 } } } });
    expect(project.stateText()).not.toContain("changed");
    expect((await project.ok("refresh")).summary).toEqual({ same: 3 });

    // up then brings the rules back to what the program says.
    const repaired = await project.ok("up");
    expect(stepNames(repaired)).toEqual(["create first", "update second"]);
    expect(JSON.parse(project.read(fileOf("second")))).toMatchObject({
      definition: { name: "second", token: "hidden" },
    });
  });
});
