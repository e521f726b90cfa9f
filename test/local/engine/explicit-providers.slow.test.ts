import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hasPulumi } from "../../support/stack/project.ts";
import { Project, stepNames } from "./support.ts";

// What the Pulumi CLI does with explicit providers and with targets is recorded in test/local/conformance/recorded/.

const sandbox = (label: string) => `
  const sandbox = new pulumi.ProviderResource("pulumi-nodejs", "sandbox", {
    "fixture:label": "${label}", "merchant-rules:token": pulumi.secret("hidden"),
    nested: { list: [1, "<&>"], deep: pulumi.secret({ yes: true }) }, number: 7, none: undefined,
  });`;
const program = (label: string, more = "") => `
  ${sandbox(label)}
  const memory = new Connection("memory", { name: "memory" }, { parent: sandbox, provider: sandbox });
  new Rule("under", { name: "under" }, { provider: sandbox }, { memory: memory.id });
  new Rule("plain", { name: "plain" });
  new Group("group", { providers: { "pulumi-nodejs": sandbox } });
  ${more}`;
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const providerUrn = "urn:pulumi:dev::fixture::pulumi:providers:pulumi-nodejs::sandbox";
const memoryUrn =
  "urn:pulumi:dev::fixture::pulumi:providers:pulumi-nodejs$pulumi-nodejs:dynamic/merchant-rules:Connection::memory";
const underUrn = "urn:pulumi:dev::fixture::pulumi-nodejs:dynamic/fixture:Rule::under";

/** The checks since the last look, by name: the process that did it, and the provider that it is for. */
function takeChecks(project: Project): { [name: string]: { pid: string; label: string } } {
  const lines = project.exists("checks.log") ? project.read("checks.log").trimEnd().split("\n") : [];
  rmSync(project.path("checks.log"), { force: true });
  return Object.fromEntries(
    lines.map((line) => {
      const [pid = "", name = "", , label = ""] = line.split(" ");
      return [name, { pid, label }];
    }),
  );
}

describe.concurrent("an explicit provider", { timeout: 120_000 }, () => {
  test("is a resource: its id and its inputs are in the state, secrets encrypted, and its resources name it", async () => {
    const project = new Project(program("one"));
    expect(stepNames(await project.ok("up"))).toContain("create sandbox");
    const { id, ...provider } = project.resource("sandbox");
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(provider).toMatchObject({
      urn: providerUrn,
      inputs: { "fixture:label": "one", nested: { list: [1, "<&>"] }, number: 7 },
    });
    expect(provider.outputs).toEqual(provider.inputs);
    expect(project.stateText()).not.toContain("hidden");
    for (const name of ["memory", "under", "group-inner"])
      expect(project.resource(name).provider).toBe(`${providerUrn}::${id}`);
    expect(project.resource("plain").provider).toContain("::default::");
    expect(project.resource("group").provider).toBeUndefined();
  });

  test("has a host of its own, which gets its inputs in place of the stack's configuration", async () => {
    const project = new Project(`${sandbox("one")} new Rule("under", { name: "under" }, { provider: sandbox });`);
    await project.ok("up");
    const config = JSON.parse(project.read("config.json"));
    expect(config).toMatchObject({
      "fixture:label": "one",
      "merchant-rules:token": "hidden",
      nested: { list: [1, "<&>"] },
      number: 7,
    });
    expect(Object.keys(config).sort()).toEqual(["fixture:label", "merchant-rules:token", "nested", "number"]);
    project.program(program("one"));
    takeChecks(project);
    await project.ok("up");
    const { plain, under, group } = takeChecks(project);
    expect(plain?.label).toBe("");
    expect(under).toEqual({ pid: group?.pid, label: "one" });
    expect(plain?.pid).not.toBe(under?.pid);
  });

  test("that changes is one update, and its resources stay; without the program the state configures it", async () => {
    const project = new Project(program("one"));
    await project.ok("up");
    project.takeCalls();
    project.program(program("two"));
    for (const verb of ["preview", "up"] as const) {
      takeChecks(project);
      const result = await project.ok(verb);
      expect(result.summary).toEqual({ same: 6, update: 1 });
      expect(stepNames(result)).toEqual(["update sandbox"]);
      expect(takeChecks(project)).toMatchObject({ under: { label: "two" }, plain: { label: "" } });
    }
    expect(project.takeCalls()).toEqual([]);
    project.program(program("three"));
    await project.ok("refresh");
    expect(project.takeCalls().filter((call) => call.endsWith(" for two"))).toHaveLength(3);
    const { steps } = await project.ok("destroy");
    const gone = steps.map(({ urn }) => urn.split("::").at(-1));
    expect(gone.filter((name) => ["under", "memory", "sandbox"].includes(name ?? ""))).toEqual([
      "under",
      "memory",
      "sandbox",
    ]);
    expect(project.takeCalls().sort()).toEqual([
      "delete group for two",
      "delete memory for two",
      "delete plain",
      "delete under for two",
    ]);
  });

  test("is shown like any resource; what a preview cannot know of it is not made up", async () => {
    const project = new Project(program("one"));
    const { stdout } = project.cli(["preview", "--json"]);
    const { steps, changeSummary } = JSON.parse(stdout);
    expect(changeSummary).toEqual({ create: 7 });
    const stepOf = (urn: string) => steps.find((step: { urn: string }) => step.urn === urn);
    expect(stepOf(providerUrn)).toMatchObject({
      op: "create",
      newState: { inputs: { "merchant-rules:token": "[secret]" }, type: "pulumi:providers:pulumi-nodejs" },
    });
    expect(stepOf(providerUrn).newState.id).toBeUndefined();
    expect(stepOf(underUrn)).toMatchObject({
      provider: `${providerUrn}::${unknown}`,
      newState: { inputs: { memory: unknown }, propertyDependencies: { memory: [memoryUrn] } },
    });
    await project.ok("up");
    project.program(program("two"));
    const shown = project.cli(["preview"]).stdout;
    expect(shown).toMatch(
      /~ {2}update {2}pulumi:providers:pulumi-nodejs sandbox\n +~ .*fixture:label.*: "one" => "two"\n/,
    );
    expect(shown).toContain("Resources: 1 to update, 6 unchanged");
    expect(shown).not.toContain("hidden");
  });

  test("that neither the program nor the state has is an error", async () => {
    const project = new Project(`${sandbox("one")} new Rule("a", { name: "a" }, { provider: sandbox });`);
    await project.ok("up");
    const state = JSON.parse(project.stateText());
    const { resources } = state.checkpoint.latest;
    for (const resource of resources) if (resource.provider) resource.provider = `${providerUrn}::${unknown}`;
    project.write(project.stateFile, JSON.stringify(state));
    const { ok, errors } = await project.run("destroy");
    expect(ok).toBe(false);
    expect(errors[0]?.message).toBe(
      `a names the provider ${providerUrn}::${unknown}, which neither the program nor the state has`,
    );
  });
});

describe.concurrent("targets", { timeout: 120_000 }, () => {
  test("a rule without its connection is refused, naming the connection; later none of the connection's hooks is called", async () => {
    const project = new Project(program("one"));
    const refused = project.cli(["up", "--yes", "--target", underUrn]);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain(`under needs ${memoryUrn}, which is not there yet and is not a target`);
    expect(project.takeCalls()).toEqual([]);
    await project.ok("up", { targets: [underUrn, memoryUrn] });
    expect(project.takeCalls().sort()).toEqual(["create memory for one", "create under for one"]);
    takeChecks(project);
    project.program(program("two").replace(`name: "memory"`, `name: "other"`).replace(`name: "under"`, `name: "more"`));
    const up = await project.ok("up", { targets: ["**::under"] });
    expect(stepNames(up)).toEqual(["update sandbox", "update under"]);
    expect(Object.keys(takeChecks(project))).toEqual(["more"]);
    expect(project.takeCalls()).toEqual(["update more for two"]);
    for (const verb of ["refresh", "destroy"] as const) {
      await project.ok(verb, { targets: [underUrn] });
      expect(project.takeCalls()).toHaveLength(1);
    }
    expect(project.resource("memory").id).toMatch(/^rule-/);
  });

  test("what others need is not deleted without them, and a target that names nothing is an error", async () => {
    const project = new Project(program("one"));
    await project.ok("up");
    project.takeCalls();
    for (const target of [memoryUrn, providerUrn]) {
      const { errors } = await project.run("destroy", { targets: [target] });
      expect(errors.map(({ message }) => message)).toContainEqual(
        `under needs what is to be deleted, and is not a target. What to do: add it to the targets: --target '${underUrn}'`,
      );
    }
    for (const verb of ["up", "preview", "refresh", "destroy"] as const) {
      const { ok, errors } = await project.run(verb, { targets: ["urn:nothing"] });
      expect(ok).toBe(false);
      expect(errors[0]?.message).toMatch(/^the target urn:nothing is not in the stack/);
    }
    expect(project.takeCalls()).toEqual([]);
  });

  test("a preview says once what is missing, also of a component that registers its outputs", async () => {
    const project = new Project(`new Group("group"); new Group("other");`);
    const { errors } = await project.run("preview", { targets: ["**::group-inner"] });
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^group-inner needs urn:.*::group, which is not there yet/),
    ]);
  });
});

describe.skipIf(!hasPulumi)(
  "the Pulumi CLI and explicit providers (needs the Pulumi CLI)",
  { timeout: 240_000 },
  () => {
    function pulumi(project: Project, args: readonly string[]): string {
      const { words, options } = project.pulumi(args);
      const { status, stdout, stderr } = spawnSync("pulumi", words, { ...options, encoding: "utf8" });
      if (status !== 0) throw new Error(`pulumi ${args.join(" ")} exited with ${status}:\n${stdout}\n${stderr}`);
      return stdout;
    }

    test("it goes on with a state of the local engine, which then goes on with its state: nothing changes", async () => {
      const project = new Project(program("one"));
      await project.ok("up");
      const ours = comparable(project);
      pulumi(project, ["up", "--stack", "dev", "--yes", "--skip-preview", "--expect-no-changes"]);
      expect(comparable(project)).toEqual(ours);
      pulumi(project, ["refresh", "--stack", "dev", "--yes", "--skip-preview", "--expect-no-changes"]);
      expect((await project.ok("refresh")).summary).toEqual({ same: 7 });
      expect((await project.ok("up")).summary).toEqual({ same: 7 });
      expect(comparable(project)).toEqual(ours);

      project.program(program("two"));
      pulumi(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
      const theirs = comparable(project);
      expect((await project.ok("up")).summary).toEqual({ same: 7 });
      expect(comparable(project)).toEqual(theirs);
      project.takeCalls();
      await project.ok("destroy", { targets: [underUrn] });
      pulumi(project, ["destroy", "--stack", "dev", "--yes", "--skip-preview"]);
      expect(project.takeCalls().sort()).toEqual([
        "delete group for two",
        "delete memory for two",
        "delete plain",
        "delete under for two",
      ]);
    });

    test("both print the same preview as JSON: of what is new, and of what changes", async () => {
      const project = new Project(program("one"));
      pulumi(project, ["stack", "init", "dev"]);
      const same = (): void => {
        const theirs = JSON.parse(pulumi(project, ["preview", "--stack", "dev", "--json"]));
        const ours = JSON.parse(project.cli(["preview", "--json"]).stdout);
        expect(stepsOf(ours)).toEqual(stepsOf(theirs));
        expect(ours.changeSummary).toEqual(theirs.changeSummary);
      };
      same();
      pulumi(project, ["up", "--stack", "dev", "--yes", "--skip-preview"]);
      project.program(program("two", `new pulumi.ProviderResource("pulumi-nodejs", "late", { of: memory.id });`));
      same();
      project.program(`new Rule("plain", { name: "plain" });`);
      same();
    });
  },
);

/** The resources of the state, without places and times, and without secrets, which the CLI encrypts anew. */
function comparable(project: Project): { urn: string }[] {
  const left = new Set(["modified", "created", "sourcePosition", "stackTrace", "ciphertext"]);
  const text = JSON.stringify(project.state().resources, (key, value) => (left.has(key) ? undefined : value));
  return JSON.parse(text).sort((a: { urn: string }, b: { urn: string }) => (a.urn < b.urn ? -1 : 1));
}

/** Steps by URN, without the provider's code, and where and when. */
function stepsOf({ steps }: { steps: { op: string; urn: string }[] }): unknown[] {
  const left = new Set(["__provider", "created", "modified", "sourcePosition", "stackTrace"]);
  const text = JSON.stringify(steps, (key, value) => (left.has(key) ? undefined : value));
  return JSON.parse(text).sort((a: { urn: string }, b: { urn: string }) => (a.urn < b.urn ? -1 : 1));
}
