import { describe, expect, onTestFinished, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { newCrypter } from "../../../stack/state/crypter.ts";
import { type EngineName, hasPulumi, TestProject } from "../../support/stack/project.ts";
import { contractFileOf } from "../../support/stack/service.ts";
import { failures, methods, serveEchoing } from "./echoing-service.ts";
import { everythingBelow, expectNoTrace, secretAround } from "./traces.ts";

const cores = { token: "ZqTokenOfIt", client: "ZqClientOfIt", field: "ZqFieldOfIt", vault: "ZqVaultOfIt" };
const secrets = {
  token: secretAround(cores.token),
  client: secretAround(cores.client),
  field: secretAround(cores.field),
  vault: secretAround(cores.vault),
};

const contract: ContractInput = {
  version: 1,
  operations: {
    update: { method: "PUT", path: "/api/v1/merchants/rules/{ruleId}" },
    delete: { path: "/api/v1/merchants/rules/{ruleId}", identifyBy: { in: "path" } },
  },
  rule: { id: ["/id"], secret: ["/vault/*", "/list/*/vault"], naturalKey: "/name" },
  auth: { token: { path: "/token", fields: { id: "{clientId}", secret: "{clientSecret}" } } },
  limits: { maxAttempts: 1 },
};

/** A rule with a Pulumi secret at three places and a secret of the contract, whose requests can fail in one way. */
function rule(way: string, priority: number): JsonObject {
  return {
    name: `fails ${way}`,
    priority,
    hook: { url: "https://hooks.test/a", key: "(secret)" },
    conditions: [{ field: "note", operator: "in", value: ["(secret)", "other"] }],
    vault: { pin: secrets.vault, spare: [secrets.vault] },
  };
}

/** A set whose rules fail in all ways but the first, and one resource of its own. */
function declared(priority: number, before = ""): Record<string, JsonObject> {
  const ways = ["0", ...failures].map((way) => `${before}${way}`);
  const rules = Object.fromEntries(ways.map((way) => [way, rule(way, priority)]));
  return { set: { rules }, alone: { definition: rule(`${before}one 422`, priority) } };
}

async function open(engine: EngineName) {
  const seenOnDisk: string[] = [];
  const service = await serveEchoing(secrets.token, Object.values(secrets), () => {
    if (seenOnDisk.length < 40) seenOnDisk.push(everythingBelow(project.backend));
  });
  const project = new TestProject({
    MERCHANT_RULES_BASE_URL: service.baseUrl,
    MERCHANT_RULES_CONTRACT: contractFileOf(contract),
    MERCHANT_RULES_CLIENT_ID: "shop",
  });
  onTestFinished(() => project.remove());
  await project.init(engine);
  const configured = { "merchant-rules:clientSecret": secrets.client, "lifecycle:secret": secrets.field };
  if (engine === "pulumi") {
    for (const [key, value] of Object.entries(configured))
      await project.pulumi("config", "set", "--stack", project.stack, "--secret", key, value);
  } else {
    const crypter = await newCrypter("correct horse");
    const lines = Object.entries(configured).map(([key, value]) => `  ${key}: { secure: "${crypter.encrypt(value)}" }`);
    project.write(
      `Pulumi.${project.stack}.yaml`,
      [`encryptionsalt: ${crypter.salt}`, "config:", ...lines, ""].join("\n"),
    );
  }
  const outputs: Record<string, string> = {};
  return {
    project,
    service,
    /** Runs a verb, which fails exactly where the service does. */
    async run(verb: string, ...flags: string[]): Promise<string> {
      const { output, code } = await project.run(engine, verb, ...flags);
      const name = `${Object.keys(outputs).length}: ${verb} ${flags.join(" ")}`;
      outputs[name] = output;
      expect(code === 0, `${name}\n${output}`).toBe(service.failing.length === 0 || verb === "preview");
      return output;
    },
    /** Neither on the screen nor on the disk, while the runs wrote and now. */
    expectNowhere(): void {
      expect(seenOnDisk.length).toBeGreaterThan(0);
      expectNoTrace(Object.values(cores), {
        ...outputs,
        ...Object.fromEntries(seenOnDisk.map((text, index) => [`the disk during write ${index}`, text])),
        "the disk": everythingBelow(project.backend),
      });
    },
  };
}

function runs(engine: EngineName): void {
  test("a token, a client secret and secret fields are nowhere, whatever fails in whatever way", async () => {
    const { project, service, run, expectNowhere } = await open(engine);
    project.declare(declared(1));
    await run("up", "--diff");
    const [sent] = service.rules.values();
    expect(sent).toMatchObject({ hook: { key: secrets.field }, vault: { pin: secrets.vault } });

    // One method after another: each run sends what it can only after a look has shown that this is the right place.
    service.failing = ["PUT"];
    project.declare(declared(2));
    await run("preview", "--diff");
    await run("preview", "--json");
    expect(await run("up", "--diff")).toMatch(/\[definition\.[a-z]/);
    service.failing = ["POST"];
    project.declare({ ...declared(1), more: { rules: Object(declared(2, "new ").set).rules } });
    await run("up", "--diff");
    service.failing = ["GET"];
    await run("refresh", engine === "local" ? "--json" : "--diff");
    service.failing = ["DELETE"];
    await run("destroy", "--diff");
    expect([...service.failed].sort()).toEqual(
      methods.flatMap((method) => failures.map((way) => `${method} ${way}`)).sort(),
    );
    expectNowhere();
  });

  test("a field that is no longer declared stays secret while the change has not gone through", async () => {
    const { project, service, run, expectNowhere } = await open(engine);
    const set = (rules: Record<string, JsonObject>): void => project.declare({ set: { rules } });
    set({ a: rule("422", 1), b: rule("500", 1) });
    await run("up");

    service.failing = ["PUT"];
    const changed = { a: { name: "fails 422", hook: { key: "seen" } }, b: { name: "fails 500", priority: 1 } };
    set(changed);
    expect(await run("up", "--diff")).toContain("2 of 2 rules failed");
    service.failing = [];
    await run("refresh", "--diff");
    await run("preview", "--diff");
    expectNowhere();

    await run("up", "--diff");
    expect([...service.rules.values()]).toEqual(Object.values(changed));
    expect(await run("preview", "--diff", "--expect-no-changes")).not.toContain("secret");
    expectNowhere();
  });

  test("a secret that the service shows and the program does not declare, or declares as null, stays one", async () => {
    const { project, service, run, expectNowhere } = await open(engine);
    const quiet = { name: "quiet", vault: { pin: null }, list: [{ a: 1 }] };
    const seen = { name: "seen unchanged" };
    project.declare({ set: { rules: { quiet, seen } }, alone: { definition: { ...quiet, name: "alone" } } });
    await run("up");
    for (const [id, live] of service.rules) {
      if (live.name === seen.name) continue;
      const more = [{ a: 1 }, { a: 2, vault: secrets.field }];
      service.rules.set(id, { ...live, vault: { pin: secrets.vault, more: secrets.vault }, list: more });
    }
    expect(await run("preview", "--diff", "--refresh")).toContain("vault.pin");
    await run("refresh", "--diff");
    await run("preview", "--json");
    expectNowhere();
    await run("up", "--diff");
    expectNowhere();
  });
}

describe("on the local engine", () => runs("local"));
describe.runIf(hasPulumi)("on the Pulumi CLI", () => runs("pulumi"));
