import { describe, expect, test } from "vitest";
import { knowledgeOfRules } from "../../../provider/hooks/look-up.ts";
import { setType } from "../../../provider/host/types.ts";
import { Project, stepNames } from "./support.ts";

const urnOf = (name: string): string => `urn:pulumi:dev::fixture::pulumi-nodejs:dynamic/fixture:Rule::${name}`;

/** The provider host ended while "lost" was created, in a stack that has "kept". */
async function opened(): Promise<Project> {
  const project = new Project(`new Rule("kept", { name: "kept" });`);
  await project.ok("up");
  project.program(`new Rule("kept", { name: "kept" }); new Rule("lost", { name: "lost", die: "create" });`);
  expect((await project.run("up")).ok).toBe(false);
  expect(project.state().pending_operations).toMatchObject([{ type: "creating", resource: { urn: urnOf("lost") } }]);
  project.takeCalls();
  return project;
}

/** Puts the rule there, as a create does whose answer is lost. */
function made(project: Project, id: string): void {
  project.write(`service/${id}.json`, JSON.stringify({ definition: { name: "lost" } }));
}

describe.concurrent("a create that an earlier run left open, and that nobody can look up", { timeout: 240_000 }, () => {
  const program = `
    const lost = new Rule("lost", { name: "lost" });
    new Rule("needs", { name: "needs" }, { dependsOn: [lost] });
    new Rule("takes", { name: "takes", from: lost.ruleId });
    new Rule("other", { name: "other" });
    exports.lost = lost.ruleId;
    exports.done = "done";
  `;

  test("holds back that resource and what needs it; the others are worked on, and nothing is deleted", async () => {
    const project = await opened();
    project.program(program);
    for (const verb of ["preview", "up"] as const) {
      const { ok, errors, messages, ...result } = await project.run(verb);
      expect([ok, stepNames({ ok, errors, ...result })]).toEqual([false, ["create other"]]);
      expect(errors).toMatchObject([{ urn: urnOf("lost"), message: expect.stringMatching(/^create lost failed: /) }]);
      for (const name of ["needs", "takes"])
        expect(messages).toContain(`${name} stays as it is, because it needs lost`);
    }
    expect(project.takeCalls()).toEqual(["create other"]);
    expect(project.stateText()).not.toContain("04da6b54-80e4-46f7-96ec-b56ff0331ba9");
    await project.ok("refresh", { clearPendingCreates: true });
    expect(stepNames(await project.ok("up"))).toEqual(["create lost", "create needs", "create takes", "delete kept"]);
    expect(project.state().pending_operations).toEqual([]);
  });

  test("does not hold back a run that is about other resources, or a destroy", async () => {
    const project = await opened();
    project.program(program);
    expect(stepNames(await project.ok("up", { targets: [urnOf("other")] }))).toEqual(["create other"]);
    project.program(`new Rule("kept", { name: "kept" });`);
    await project.ok("up");
    await project.ok("destroy");
    expect(project.rules()).toEqual([]);
  });

  test("holds back a resource that was renamed meanwhile", async () => {
    const project = await opened();
    project.program(`
      new Rule("kept", { name: "kept" });
      new Rule("renamed", { name: "lost" }, { aliases: [{ name: "lost" }] });
    `);
    const { errors } = await project.run("up");
    expect(errors).toMatchObject([{ message: expect.stringMatching(/^create renamed failed: .*Rule::lost'/) }]);
  });

  test("is taken into the state by the id that the service gave it", async () => {
    const project = await opened();
    made(project, "rule-found");
    const words = ["--import-pending-creates", urnOf("lost"), "--import-pending-creates", "rule-found"];
    const { status, stdout } = project.cli(["refresh", "--yes", ...words]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("was taken into the state with the id rule-found")]);
    expect(project.resource("lost").id).toBe("rule-found");
    expect(project.state().pending_operations).toEqual([]);
    project.program(`new Rule("kept", { name: "kept" }); new Rule("lost", { name: "lost" });`);
    expect((await project.ok("up")).summary).toEqual({ same: 3 });
    await project.ok("destroy");
    expect(project.rules()).toEqual([]);
  });

  test("is not taken into the state by an id that the provider does not know, or by another URN", async () => {
    const project = await opened();
    for (const [pairs, why] of [
      [[urnOf("lost"), "rule-unknown"], /its provider finds nothing with the id rule-unknown/],
      [[urnOf("kept"), "rule-found"], /no run has left a create of it open/],
      [[urnOf("lost")], /its id is missing/],
    ] as const) {
      const { errors } = await project.run("refresh", { importPendingCreates: pairs });
      expect(errors).toMatchObject([{ message: expect.stringMatching(why) }]);
    }
    expect(project.state().pending_operations).toHaveLength(1);
    expect(project.state().resources.map(({ urn }) => urn)).not.toContain(urnOf("lost"));
  });

  test("of which the engine is told that the provider finds it holds nothing back", async () => {
    const project = await opened();
    project.program(program);
    const knowledge = {
      findsCreates: ({ type }: { type: string }) => type.endsWith(":Rule"),
      partsOf: () => undefined,
    };
    const { summary } = await project.ok("up", { knowledge });
    expect(summary).toEqual({ create: 4, delete: 1, same: 1 });
  });

  test("of which the engine is told that it has no id is taken over as its knowledge says", async () => {
    const project = await opened();
    project.program(program);
    const knowledge = { findsCreates: () => false, partsOf: knowledgeOfRules.partsOf.bind(undefined, setType) };
    const run = await project.run("up", { knowledge });
    expect(run.errors).toMatchObject([
      {
        message:
          "create lost failed: an earlier run ended while it created lost, so it may exist already, and nothing is known by which it could be looked up. What to do: look at the service; for each of its rules that is there, add the id to adopt of the set; then refresh --clear-pending-creates, and run again",
      },
    ]);
    const { errors } = await project.run("refresh", { knowledge, importPendingCreates: [urnOf("lost"), "rule-1"] });
    expect(errors).toMatchObject([
      {
        message: `import the pending create ${urnOf("lost")} failed: a set has no id at the service. What to do: add the ids of its rules to adopt of the set, and refresh --clear-pending-creates`,
      },
    ]);
  });

  test("that was to replace a resource takes its place, and the old one is deleted", async () => {
    const project = new Project(`new Rule("lost", { name: "old" }, {}, { kind: 1 });`);
    await project.ok("up");
    project.program(`new Rule("lost", { name: "lost", die: "create" }, {}, { kind: 2 });`);
    await project.run("up");
    project.program(`new Rule("lost", { name: "lost" }, {}, { kind: 2 });`);
    const { errors, summary } = await project.run("up");
    expect([errors.length, summary]).toEqual([1, { same: 1 }]);
    expect(project.rules()).toHaveLength(1);
    project.write("service/rule-new.json", JSON.stringify({ definition: { name: "lost" }, kind: 2 }));
    await project.ok("refresh", { importPendingCreates: [urnOf("lost"), "rule-new"] });
    expect((await project.ok("up")).ok).toBe(true);
    expect(project.rules()).toEqual(["rule-new.json"]);
    expect((await project.ok("up")).summary).toEqual({ same: 2 });
  });
});
