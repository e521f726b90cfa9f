import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { root } from "./page.ts";

const folder = join(root, ".github");
const { scripts, devDependencies } = z
  .object({ scripts: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

const values = z.record(z.string(), z.unknown());
const stepSchema = z.strictObject({
  name: z.string().optional(),
  uses: z.string().optional(),
  with: values.optional(),
  env: values.optional(),
  run: z.string().optional(),
});
/** What a workflow may be: anything that GitHub takes and this does not have is refused. */
const workflowSchema = z.strictObject({
  name: z.string(),
  on: values,
  permissions: z.strictObject({}),
  concurrency: z.strictObject({ group: z.string(), "cancel-in-progress": z.unknown() }),
  jobs: z.record(
    z.string(),
    z.strictObject({
      needs: z.string().optional(),
      strategy: values.optional(),
      "runs-on": z.literal("ubuntu-latest"),
      "timeout-minutes": z.number().max(120),
      environment: z.string().optional(),
      permissions: z.partialRecord(z.enum(["contents", "id-token"]), z.enum(["read", "write"])),
      steps: z.array(stepSchema),
    }),
  ),
});

function read(file: string): unknown {
  return parse(readFileSync(join(folder, file), "utf8"));
}

const workflows = readdirSync(join(folder, "workflows")).map((name) => `workflows/${name}`);
expect(workflows).toContain("workflows/checks.yml");

describe.each(workflows)("the workflow %s", (file) => {
  const text = readFileSync(join(folder, file), "utf8");
  const { jobs } = workflowSchema.parse(read(file));
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test("names each action by the digest of a commit, and its version beside it", () => {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = ""]) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("leaves no token in the checkout, and no value of an event in a script", () => {
    for (const step of steps) {
      if (step.uses?.startsWith("actions/checkout@")) expect(step.with).toMatchObject({ "persist-credentials": false });
      expect(step.run ?? "").not.toContain("${{");
    }
  });

  test("calls npm scripts that there are", () => {
    const called = steps.flatMap(({ run = "" }) => [...run.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name]) => name));
    const npmItself = ["pack", "pkg", "publish"];
    for (const name of called.filter((each) => !npmItself.includes(each ?? "")))
      expect(scripts).toHaveProperty([name ?? ""]);
  });

  test("runs the Pulumi CLI of the SDK's version", () => {
    for (const step of steps)
      if (step.uses?.startsWith("pulumi/actions@"))
        expect(step.with).toEqual({ "pulumi-version": devDependencies["@pulumi/pulumi"] });
  });
});

test("every pull request runs what .ci/run runs", () => {
  const { jobs } = workflowSchema.parse(read("workflows/checks.yml"));
  const runs = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  const ofCi = readFileSync(join(root, ".ci/run"), "utf8").matchAll(/^(npm .*?) \|\|/gm);
  expect(runs).toEqual([...ofCi].map(([, command]) => command));
});

test("only the job that publishes may ask for an identity, and it runs nothing of this repository", () => {
  const all = workflows.flatMap((file) => Object.entries(workflowSchema.parse(read(file)).jobs));
  const writing = all.filter(([, { permissions }]) => Object.values(permissions).includes("write"));
  expect(writing.map(([name, { permissions, environment }]) => [name, permissions, environment])).toEqual([
    ["publish", { "id-token": "write" }, "npm"],
  ]);
  for (const { uses = "", run } of writing.flatMap(([, { steps }]) => steps)) {
    expect(uses).not.toContain("checkout");
    if (run !== undefined) expect(run).toMatch(/^npm publish .* --provenance --access public$/);
  }
});

test("the forms of issues have fields that GitHub takes, and the report of a defect asks for contract and versions", () => {
  const field = z.strictObject({
    type: z.enum(["markdown", "input", "textarea", "dropdown", "checkboxes"]),
    id: z.string().optional(),
    attributes: values,
    validations: z.strictObject({ required: z.boolean() }).optional(),
  });
  const form = z.strictObject({ name: z.string(), description: z.string(), body: z.array(field) });
  const [bug, feature] = ["bug", "feature"].map((name) => form.parse(read(`ISSUE_TEMPLATE/${name}.yml`)));
  for (const { body } of [bug, feature].filter((each) => each !== undefined)) {
    const ids = body.flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
  }
  const required = bug?.body.filter(({ validations }) => validations?.required).map(({ id }) => id);
  expect(required).toEqual(expect.arrayContaining(["contract", "versions"]));
});

test("new versions are proposed of actions and of packages", () => {
  const { updates } = z
    .object({ updates: z.array(z.object({ "package-ecosystem": z.string(), directory: z.literal("/") })) })
    .parse(read("dependabot.yml"));
  expect(updates.map((each) => each["package-ecosystem"])).toEqual(["github-actions", "npm"]);
});
