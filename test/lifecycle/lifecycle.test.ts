import { describe, expect, test } from "vitest";
import { newCrypter } from "../../local/engine/state/crypter.ts";
import { rule } from "../support/connections.ts";
import { type EngineName, hasPulumi } from "../support/project.ts";
import { openStack } from "../support/stack.ts";

const three = { a: { definition: rule(1) }, b: { definition: rule(2) }, c: { definition: rule(3) } };

function life(engine: EngineName): void {
  test("create, no change, update in place, removal, destroy", async () => {
    const { project, service, succeeds } = await openStack(engine);
    project.declare(three);
    expect((await succeeds("preview")).output).toMatch(/to create/);
    expect(service.requests).toEqual([]);
    await succeeds("up");
    expect(
      service
        .rules()
        .map((each) => each.rule)
        .sort((x, y) => Number(x.priority) - Number(y.priority)),
    ).toEqual([rule(1), rule(2), rule(3)]);
    expect(service.requests.filter(({ operation }) => operation === "create")).toHaveLength(3);

    service.resetRequests();
    await succeeds("preview", "--expect-no-changes");
    expect(service.requests).toEqual([]);
    await succeeds("up", "--expect-no-changes");
    expect(service.requests).toEqual([]);

    const ids = service
      .rules()
      .map(({ ruleId }) => ruleId)
      .sort();
    project.declare({
      ...three,
      b: { definition: rule(2, { priority: 20, conditions: [{ field: "amount", operator: "gt", value: 7 }] }) },
    });
    const preview = await succeeds("preview", "--diff");
    expect(preview.output).toContain("priority");
    expect(preview.output).toMatch(/2 => 20/);
    expect(preview.output).toMatch(/1 to update/);
    await succeeds("up");
    // The first write of a run has a witness.
    expect(service.requests.map(({ operation }) => operation)).toEqual(["get", "update"]);
    expect(
      service
        .rules()
        .map(({ ruleId }) => ruleId)
        .sort(),
    ).toEqual(ids);
    expect(
      service
        .rules()
        .map(({ rule: each }) => each.priority)
        .sort(),
    ).toEqual([1, 20, 3]);

    project.declare({ a: three.a });
    await succeeds("up");
    expect(service.rules().map(({ rule: each }) => each)).toEqual([rule(1)]);

    service.resetRequests();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
    expect(service.requests.map(({ operation }) => operation)).toEqual(["get", "delete"]);
  });

  test("drift is shown path by path, fails the gate, and is healed", async () => {
    const { project, service, run, succeeds } = await openStack(engine);
    project.declare(three);
    await succeeds("up");
    await succeeds("refresh", "--preview-only", "--expect-no-changes");
    const drifted = service.rules().find(({ rule: each }) => each.name === "rule-2");
    service.put(drifted?.ruleId, rule(2, { priority: 77, note: "nobody declared this" }));
    const check = await run("refresh", "--preview-only", "--expect-no-changes", "--diff");
    expect(check.code).not.toBe(0);
    if (engine === "local") expect(check.code).toBe(7);
    expect(check.output).toMatch(/priority.*2 => 77/);
    expect(check.output).not.toContain("nobody declared this");
    await succeeds("up", "--refresh");
    expect(service.rules().find(({ ruleId }) => ruleId === drifted?.ruleId)?.rule.priority).toBe(2);
    await succeeds("refresh", "--preview-only", "--expect-no-changes");
  });

  test("secrets are not in clear in state, on the screen or in any file", async () => {
    const secret = "s3cr3t-of-the-rule";
    const token = "local-token";
    const { project, service, run, succeeds } = await openStack(engine);
    if (engine === "pulumi") {
      await project.pulumi("config", "set", "--stack", project.stack, "--secret", "secret", secret);
    } else {
      const crypter = await newCrypter("correct horse");
      project.write(
        `Pulumi.${project.stack}.yaml`,
        `encryptionsalt: ${crypter.salt}\nconfig:\n  lifecycle:secret:\n    secure: ${crypter.encrypt(secret)}\n`,
      );
    }
    project.declare({ a: { definition: rule(1, { actions: [{ type: "decline", reason: "(secret)" }] }) } });
    const outputs = [
      await succeeds("preview", "--diff"),
      await succeeds("up", "--diff"),
      await succeeds("preview", "--diff", "--expect-no-changes"),
    ];
    expect(JSON.stringify(service.rules())).toContain(secret);
    const [existing] = service.rules();
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

  test("missing settings are named with key and variable, in the preview already", async () => {
    const { project, run } = await openStack(engine, {
      environment: { MERCHANT_RULES_BASE_URL: "", MERCHANT_RULES_TOKEN: "" },
    });
    project.declare({ a: three.a });
    const { code, output } = await run("preview");
    expect(code).not.toBe(0);
    expect(output).toContain("merchant-rules:baseUrl (or MERCHANT_RULES_BASE_URL)");
    expect(output).toContain("MERCHANT_RULES_TOKEN");
    expect(output).not.toMatch(/\n\s+at .*\.js:\d+/);
  });

  test("settings come from stack config too, and objects with them", async () => {
    const contract = {
      version: 1 as const,
      parameters: { accountId: {} },
      operations: { create: { query: { account: "{accountId}" } } },
      auth: { present: null },
    };
    const { project, service, succeeds } = await openStack(engine, {
      contract,
      environment: { MERCHANT_RULES_BASE_URL: "" },
    });
    const stackFile = `Pulumi.${project.stack}.yaml`;
    const salt = engine === "pulumi" ? project.read(stackFile) : "";
    project.write(
      stackFile,
      `${salt}config:\n  merchant-rules:baseUrl: ${service.url}\n  merchant-rules:parameters:\n    accountId: acc-1\n`,
    );
    project.declare({ a: three.a });
    await succeeds("up");
    expect(service.requests.find(({ operation }) => operation === "create")?.query).toEqual({ account: "acc-1" });
  });

  test("a definition that the contract's schema refuses fails the preview at its path", async () => {
    const { project, service, run } = await openStack(engine);
    project.declare({ a: { definition: rule(1, { conditions: [{ field: 7, operator: "gt" }] }) } });
    const { code, output } = await run("preview");
    expect(code).not.toBe(0);
    expect(output).toContain("definition.conditions[0].field");
    expect(output).toContain("must be string");
    expect(service.requests).toEqual([]);
  });
}

describe("rules on the local engine", () => life("local"));
describe.skipIf(!hasPulumi)("rules on Pulumi's own engine (needs the Pulumi CLI)", () => life("pulumi"));
