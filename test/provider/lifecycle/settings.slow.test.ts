import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { type EngineName, hasPulumi } from "../../support/stack/project.ts";

const three = { a: { definition: rule(1) }, b: { definition: rule(2) }, c: { definition: rule(3) } };

function settings(engine: EngineName): void {
  test("missing settings are named with key and variable, in the preview already", async () => {
    const { project, run } = await openCommandStack(engine, {
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
    const { project, service, succeeds } = await openCommandStack(engine, {
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
    const { project, service, run } = await openCommandStack(engine);
    project.declare({ a: { definition: rule(1, { conditions: [{ field: 7, operator: "gt" }] }) } });
    const { code, output } = await run("preview");
    expect(code).not.toBe(0);
    expect(output).toContain("definition.conditions[0].field");
    expect(output).toContain("must be string");
    expect(service.requests).toEqual([]);
  });
}

describe("settings, on the local engine", () => settings("local"));
describe.skipIf(!hasPulumi)("settings, on Pulumi's own engine (needs the Pulumi CLI)", () => settings("pulumi"));
