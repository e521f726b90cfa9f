import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { newCrypter } from "../../../stack/state/crypter.ts";
import { marking, rule } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { type EngineName, hasPulumi } from "../../support/stack/project.ts";
import { serve } from "../../support/stack/service.ts";

const three = { a: { definition: rule(1) }, b: { definition: rule(2) }, c: { definition: rule(3) } };
const identifyBy = { in: "query" } as const;

// What other tests show of the hooks, and the quickstart's test of a whole run, on either engine.
function wholeRuns(engine: EngineName): void {
  test("create, no change, update in place, removal, destroy", async () => {
    const { project, service, succeeds, definitions, ids } = await openCommandStack(engine);
    project.declare(three);
    expect((await succeeds("preview")).output).toMatch(/to create/);
    expect(service.requests).toEqual([]);
    await succeeds("up");
    expect(definitions()).toEqual([rule(1), rule(2), rule(3)]);
    expect(service.requests.filter(({ operation }) => operation === "create")).toHaveLength(3);

    service.resetRequests();
    await succeeds("preview", "--expect-no-changes");
    expect(service.requests).toEqual([]);
    await succeeds("up", "--expect-no-changes");
    expect(service.requests).toEqual([]);

    const before = ids();
    project.declare({
      ...three,
      b: { definition: rule(2, { priority: 20, conditions: [{ field: "amount", operator: "gt", value: 7 }] }) },
    });
    const preview = await succeeds("preview", "--diff");
    expect(preview.output).toContain("priority");
    expect(preview.output).toMatch(/2 => 20/);
    expect(preview.output).toMatch(/1 to update/);
    await succeeds("up");
    // The first write of a run has a witness in the list, which a GET shows to have whole rules, and is looked at.
    expect(service.requests.map(({ operation }) => operation)).toEqual(["list", "get", "update", "list"]);
    expect(ids()).toEqual(before);
    expect(definitions().map(({ priority }) => priority)).toEqual([1, 20, 3]);

    project.declare({ a: three.a });
    await succeeds("up");
    expect(service.rules().map(({ rule: each }) => each)).toEqual([rule(1)]);

    service.resetRequests();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
    expect(service.requests.map(({ operation }) => operation)).toEqual(["list", "delete", "list"]);
  });

  test("drift is shown path by path, fails the gate, and is healed", async () => {
    const { project, service, run, succeeds, hasNoDrift } = await openCommandStack(engine);
    project.declare(three);
    await succeeds("up");
    await hasNoDrift();
    const drifted = service.rules().find(({ rule: each }) => each.name === "rule-2");
    service.put(drifted?.ruleId, rule(2, { priority: 77, note: "nobody declared this" }));
    const check = await run("refresh", "--preview-only", "--expect-no-changes", "--diff");
    expect(check.code).not.toBe(0);
    if (engine === "local") expect(check.code).toBe(7);
    expect(check.output).toMatch(/priority.*2 => 77/);
    expect(check.output).not.toContain("nobody declared this");
    await succeeds("up", "--refresh");
    expect(service.rules().find(({ ruleId }) => ruleId === drifted?.ruleId)?.rule.priority).toBe(2);
    await hasNoDrift();
  });

  test("a rule that somebody deleted at the service is made again", async () => {
    const { project, service, run, succeeds } = await openCommandStack(engine);
    project.declare(three);
    await succeeds("up");
    service.remove(service.rules().find(({ rule: each }) => each.name === "rule-2")?.ruleId ?? "");
    expect((await run("refresh", "--preview-only", "--expect-no-changes")).code).not.toBe(0);
    await succeeds("refresh");
    expect((await succeeds("preview")).output).toMatch(/1 to create/);
    await succeeds("up");
    expect(service.rules()).toHaveLength(3);
  });

  test("another service that shows none of the rules deletes none from the state", async () => {
    const { project, environment, run, succeeds } = await openCommandStack(engine);
    project.declare(three);
    await succeeds("up");
    project.set({ MERCHANT_RULES_BASE_URL: (await serve()).service.url });
    const refresh = await run("refresh");
    expect(refresh.code).not.toBe(0);
    expect(refresh.output).toContain("no known rule is seen there");
    project.set(environment);
    await succeeds("preview", "--expect-no-changes");
  });

  test("secrets are not in clear in state, on the screen or in any file", async () => {
    const secret = "s3cr3t-of-the-rule";
    const token = "local-token";
    const { project, service, run, succeeds } = await openCommandStack(engine);
    if (engine === "pulumi") {
      await project.pulumi("config", "set", "--stack", project.stack, "--secret", "secret", secret);
    } else {
      const crypter = await newCrypter("correct horse");
      project.write(
        `Pulumi.${project.stack}.yaml`,
        `encryptionsalt: ${crypter.salt}\nconfig:\n  lifecycle:secret:\n    secure: ${crypter.encrypt(secret)}\n`,
      );
    }
    project.declare({
      ...three,
      a: { definition: rule(1, { actions: [{ type: "decline", reason: "(secret)" }] }) },
    });
    const outputs = [
      await succeeds("preview", "--diff"),
      await succeeds("up", "--diff"),
      await succeeds("preview", "--diff", "--expect-no-changes"),
    ];
    expect(JSON.stringify(service.rules())).toContain(secret);
    const existing = service.rules().find((each) => each.rule.name === "rule-1");
    service.put(existing?.ruleId, rule(1, { actions: [{ type: "decline", reason: `${secret}-changed` }] }));
    outputs.push(await run("refresh", "--preview-only", "--diff"), await succeeds("up", "--refresh", "--diff"));
    for (const { output } of outputs) {
      expect(output).not.toContain(secret);
      expect(output).not.toContain(token);
    }
    const disk = project.everythingOnDisk();
    expect(disk).toContain("ciphertext");
    expect(disk).not.toContain(secret);
    expect(disk).not.toContain(token);
    expect(disk).not.toContain(Buffer.from(secret).toString("base64"));
  });

  test("a contract without update replaces, deleting first where the natural key must be unique", async () => {
    const contract: ContractInput = {
      version: 1,
      operations: {
        delete: { identifyBy },
        list: {
          path: "/api/v1/merchants/rules",
          items: "/rules",
          pagination: { type: "cursor", limit: "limit", next: "/nextCursor" },
        },
      },
      rule: { naturalKey: "/name" },
    };
    const { project, service, succeeds } = await openCommandStack(engine, { contract });
    project.declare({ a: { definition: rule(1) } });
    await succeeds("up");
    const [before] = service.rules();
    project.declare({ a: { definition: rule(1, { priority: 5 }) } });
    expect((await succeeds("preview")).output).toMatch(/1 to replace/);
    service.resetRequests();
    await succeeds("up");
    // Whose the rule is by now only a look tells, where ids may be given again.
    const writing = ["get", "delete", "create"];
    expect(service.requests.map(({ operation }) => operation).filter((operation) => operation !== "list")).toEqual(
      writing,
    );
    expect(service.rules()).toHaveLength(1);
    expect(service.rules()[0]?.ruleId).not.toBe(before?.ruleId);
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("a resource that is renamed keeps its rule where the rule has a mark", async () => {
    const { project, service, succeeds, hasNoDrift } = await openCommandStack(engine, { contract: marking });
    project.declare({ a: three.a });
    await succeeds("up");
    const [before] = service.rules();
    const markOf = (name: string) => ({
      managedBy: expect.stringMatching(new RegExp(`^\\w{32}\\.\\w{16}\\.\\w{16} lifecycle/test/${name}$`)),
    });
    expect(before?.rule.metadata).toEqual(markOf("a"));
    project.declare({ renamed: three.a });
    await succeeds("up");
    // Nothing is written but the mark.
    expect(service.rules()).toEqual([{ ...before, rule: { ...before?.rule, metadata: markOf("renamed") } }]);
    await hasNoDrift();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("a resource that is renamed is refused its rule where nothing tells whose it is; adopt keeps it", async () => {
    const { project, service, run, succeeds, hasNoDrift } = await openCommandStack(engine);
    project.declare({ a: three.a });
    await succeeds("up");
    const before = service.rules();
    project.declare({ renamed: three.a });
    const { code, output } = await run("up");
    expect(code).not.toBe(0);
    expect(output).toMatch(/exists already.*only renamed or moved, give it an alias/s);
    expect(service.rules()).toEqual(before);
    project.declare({ renamed: { ...three.a, adopt: before[0]?.ruleId ?? "" } });
    await succeeds("up");
    expect(service.rules()).toEqual(before);
    await hasNoDrift();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("the bare contract previews and creates; destroy stops before its first request and says what to set", async () => {
    const { project, service, run, succeeds, hasNoDrift } = await openCommandStack(engine, {
      contract: { version: 1 },
    });
    project.declare(three);
    await succeeds("preview");
    await succeeds("up");
    await hasNoDrift();
    service.resetRequests();
    const { code, output } = await run("destroy");
    expect(code).not.toBe(0);
    expect(output).toContain("operations.delete.identifyBy");
    expect(service.requests).toEqual([]);
    project.declare({ ...three, a: { definition: rule(9) } });
    const preview = await run("preview");
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain("operations.delete.identifyBy");
    expect(service.requests).toEqual([]);
    expect(service.rules()).toHaveLength(3);
  });
}

describe("whole runs on the local engine", () => wholeRuns("local"));
describe.skipIf(!hasPulumi)("whole runs on Pulumi's own engine (needs the Pulumi CLI)", () => wholeRuns("pulumi"));

describe.skipIf(!hasPulumi)("the two engines on one backend folder (needs the Pulumi CLI)", () => {
  test("each goes on where the other stopped, and sees nothing to change", async () => {
    const { project, service, succeeds, hasNoDrift } = await openCommandStack("local");
    project.declare(three);
    await succeeds("up");
    for (const [verb, flags] of [
      ["preview", ["--expect-no-changes"]],
      ["refresh", ["--preview-only", "--expect-no-changes"]],
    ] as const) {
      const result = await project.run("pulumi", verb, ...flags);
      expect(result.code, result.output).toBe(0);
    }
    const exported = await project.pulumi("stack", "export", "--stack", project.stack, "--file", "exported.json");
    expect(exported.code, exported.output).toBe(0);
    const imported = await project.pulumi("stack", "import", "--stack", project.stack, "--file", "exported.json");
    expect(imported.code, imported.output).toBe(0);
    project.declare({ ...three, d: { definition: rule(4) } });
    const up = await project.run("pulumi", "up");
    expect(up.code, up.output).toBe(0);
    await succeeds("preview", "--expect-no-changes");
    await hasNoDrift();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });
});
