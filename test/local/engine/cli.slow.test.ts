import { describe, expect, test } from "vitest";
import { Project } from "./support.ts";

describe("the local command", { timeout: 120_000 }, () => {
  test("shows what it does, hides secrets, and exits as the Pulumi CLI does", () => {
    const project = new Project(`
      new Rule("a", { name: "a", token: pulumi.secret("hidden-1") });
      exports.secret = pulumi.secret("hidden-2");
    `);
    const bare = project.cli(["up"]);
    expect(bare.status).toBe(2);
    expect(bare.stderr).toMatch(/^error: up changes things, .* pass --yes to go ahead, or --preview-only to look\n$/);
    expect(project.cli(["up", "--parallel", "none"]).status).toBe(2);
    expect(project.cli(["refresh", "--yes"]).status).toBe(6);

    const up = project.cli(["up", "--yes", "--diff"]);
    expect(up.stdout.replaceAll(/ \(\d+\.\d s\)$/gm, "").replace(/Duration: .*/, "Duration")).toBe(
      [
        "  Created stack 'dev'",
        "Updating (dev):",
        "  +  create  pulumi:Stack fixture-dev",
        "  +  create  fixture:Rule a",
        '       + definition: {"name":"a","token":"[secret]"}',
        "Outputs:",
        "  secret: [secret]",
        "Resources: 2 created",
        "Duration",
        "",
      ].join("\n"),
    );
    expect(up.status).toBe(0);

    project.program(`new Rule("a", { name: "b", token: pulumi.secret("hidden-3"), more: [1] });`);
    const preview = project.cli(["preview", "--expect-no-changes"]);
    expect(preview.status).toBe(7);
    expect(preview.stdout).toContain(
      '  ~  update  fixture:Rule a\n       + definition.more: [1]\n       ~ definition.name: "a" => "b"\n       ~ definition.token: [secret] => [another secret]\n',
    );
    expect(preview.stdout).toContain("Resources: 1 to update, 1 unchanged");

    const json = project.cli(["preview", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      config: { "fixture:greeting": "hello", "merchant-rules:contract": "rules.yaml" },
      steps: [
        {
          op: "update",
          urn: "urn:pulumi:dev::fixture::pulumi-nodejs:dynamic/fixture:Rule::a",
          oldState: { inputs: { definition: { name: "a", token: "[secret]" } } },
          newState: { inputs: { definition: { name: "b", token: "[secret]" } } },
          diffReasons: ["definition"],
          detailedDiff: { "definition.name": { kind: "update", inputDiff: true } },
        },
        { op: "same", urn: "urn:pulumi:dev::fixture::pulumi:pulumi:Stack::fixture-dev" },
      ].sort((a, b) => (a.op < b.op ? -1 : 1)),
      duration: expect.any(Number),
      changeSummary: { same: 1, update: 1 },
    });
    for (const { stdout, stderr } of [up, preview, json]) expect(stdout + stderr).not.toMatch(/hidden|__provider/);

    const drift = project.cli(["refresh", "--preview-only", "--json", "--expect-no-changes"]);
    expect(drift.status).toBe(0);
    expect(JSON.parse(drift.stdout).steps).toMatchObject([{ op: "refresh" }, { op: "refresh" }]);
    const destroyed = project.cli(["destroy", "--skip-preview"]);
    expect(destroyed.status).toBe(0);
    expect(destroyed.stdout).toContain("Resources: 2 deleted");
    const again = project.cli(["destroy", "--yes"]);
    expect(again.stdout).toContain("Resources: nothing to destroy");
    expect(again.status).toBe(0);
  });

  test("a preview is a tree, and a run's JSON is one engine event a line", () => {
    const project = new Project(`new Group("g"); new Rule("a", { name: "a", token: pulumi.secret("hidden") });`);
    expect(project.cli(["up", "--yes"]).status).toBe(0);
    project.program(`
      const group = new Group("g");
      new Rule("below", { name: "below" }, { parent: group.rule });
      new Rule("a", { name: "b", token: pulumi.secret("hidden") });
    `);
    expect(project.cli(["preview"]).stdout).toContain(
      [
        "Previewing update (dev):",
        "             fixture:index:Group g",
        "               fixture:Rule g-inner",
        "  +  create      fixture:Rule below",
        "  ~  update  fixture:Rule a",
        '       ~ definition.name: "a" => "b"',
        "Resources: 1 to create, 1 to update, 3 unchanged",
      ].join("\n"),
    );
    const { status, stdout } = project.cli(["up", "--yes", "--json"]);
    expect(status).toBe(0);
    expect(stdout).not.toContain("hidden");
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, k) => k));
    expect(events[0]).toMatchObject({ preludeEvent: { config: { "fixture:greeting": "hello" } } });
    const change = {
      op: "update",
      diffs: ["definition"],
      detailedDiff: { "definition.name": { diffKind: "update", inputDiff: true } },
      new: { inputs: { definition: { name: "b", token: { ciphertext: "[secret]" } } } },
    };
    for (const kind of ["resourcePreEvent", "resOutputsEvent"])
      expect(events).toContainEqual(
        expect.objectContaining({ [kind]: { metadata: expect.objectContaining({ op: "update" }) } }),
      );
    expect(events.find(({ resOutputsEvent }) => resOutputsEvent?.metadata.op === "update")).toMatchObject({
      resOutputsEvent: { metadata: change },
    });
    expect(events.slice(-2)).toMatchObject([
      { summaryEvent: { resourceChanges: { create: 1, update: 1, same: 3 }, isPreview: false, result: "succeeded" } },
      { cancelEvent: {} },
    ]);
  });

  test("after a destroy that failed does not say that there was nothing to destroy", () => {
    const project = new Project(
      `new Rule("a", { name: "a", fail: "delete" }); new Rule("b", { name: "b" }, { protect: true });`,
    );
    expect(project.cli(["up", "--yes"]).status).toBe(0);
    for (const flags of [["--yes"], ["--preview-only"], ["--yes", "--refresh"]]) {
      const { status, stdout } = project.cli(["destroy", ...flags]);
      expect(status, stdout).toBe(1);
      expect(stdout).toContain("error: ");
      expect(stdout).not.toContain("nothing to destroy");
    }
    expect(project.cli(["destroy", "--yes"]).stdout).toContain("Resources: none deleted\n");
  });
});
