import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { connectionOf, connectionSettings, type SettingsSources } from "../../provider/settings.ts";

const folder = mkdtempSync(join(tmpdir(), "settings-"));
const program = join(folder, "program");
mkdirSync(program);
writeFileSync(join(folder, "Pulumi.yaml"), "name: test\n");
afterAll(() => rmSync(folder, { recursive: true }));

const url = "https://payments.example.com";

function sources(config: Record<string, string>, environment: Record<string, string> = {}): SettingsSources {
  return { config: (key) => config[key], environment, folder: program };
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("nothing was missing");
}

describe("settings of a connection", () => {
  test("come from stack config", () => {
    const connection = connectionOf(
      connectionSettings(sources({ "merchant-rules:baseUrl": url, "merchant-rules:token": "t" })),
    );
    expect(connection).toMatchObject({ name: "default", baseUrl: url, credentials: { kind: "token", token: "t" } });
  });

  test("come from the environment", () => {
    const settings = connectionSettings(
      sources(
        {},
        {
          MERCHANT_RULES_BASE_URL: url,
          MERCHANT_RULES_CONTRACT: "illustrative",
          MERCHANT_RULES_CLIENT_ID: "me",
          MERCHANT_RULES_CLIENT_SECRET: "s",
        },
      ),
    );
    expect(connectionOf(settings).credentials).toEqual({ kind: "client", clientId: "me", clientSecret: "s" });
    expect(settings.contract.operations.list).not.toBe(null);
  });

  test("stack config first, but the environment first for credentials", () => {
    const settings = connectionSettings(
      sources(
        { "merchant-rules:baseUrl": url, "merchant-rules:token": "configured" },
        { MERCHANT_RULES_BASE_URL: "https://other.example", MERCHANT_RULES_TOKEN: "from-environment" },
      ),
    );
    expect(settings.baseUrl).toBe(url);
    expect(settings.credentials).toEqual({ kind: "token", token: "from-environment" });
  });

  test("are all named with key and variable when they are missing", () => {
    writeFileSync(
      join(folder, "own.yaml"),
      "version: 1\nparameters: { merchantId: {} }\noperations: { get: { path: '/m/{merchantId}/{ruleId}' } }\nauth: { token: { path: /token, fields: {} } }\n",
    );
    const message = refusal(() => connectionSettings(sources({ "merchant-rules:contract": "own.yaml" })));
    for (const name of [
      "merchant-rules:baseUrl (or MERCHANT_RULES_BASE_URL)",
      "merchant-rules:parameters.merchantId (or MERCHANT_RULES_PARAM_MERCHANT_ID)",
      "merchant-rules:clientId (or MERCHANT_RULES_CLIENT_ID) and merchant-rules:clientSecret (or MERCHANT_RULES_CLIENT_SECRET)",
      "merchant-rules:token (or MERCHANT_RULES_TOKEN)",
    ]) {
      expect(message).toContain(name);
    }
  });

  test("without credentials are enough to check and compare, and not to connect", () => {
    const settings = connectionSettings(sources({ "merchant-rules:baseUrl": url }));
    expect(refusal(() => connectionOf(settings))).toContain("merchant-rules:token (or MERCHANT_RULES_TOKEN)");
  });

  test("need no credentials where the contract presents none", () => {
    writeFileSync(join(folder, "open.yaml"), "version: 1\nauth: { present: null }\n");
    const settings = connectionSettings(
      sources({ "merchant-rules:baseUrl": url, "merchant-rules:contract": "open.yaml" }),
    );
    expect(connectionOf(settings).credentials).toEqual({ kind: "none" });
  });

  test("of a parameter may come from the contract's default", () => {
    writeFileSync(
      join(folder, "default.yaml"),
      "version: 1\nparameters: { version: { default: '2026-01' }, account: {} }\n",
    );
    const settings = connectionSettings(
      sources({
        "merchant-rules:baseUrl": url,
        "merchant-rules:contract": "default.yaml",
        "merchant-rules:parameters": '{"account": 7}',
      }),
    );
    expect(settings.parameters).toEqual({ version: "2026-01", account: "7" });
  });

  test("that are broken are named", () => {
    expect(
      refusal(() => connectionSettings(sources({ "merchant-rules:baseUrl": url, "merchant-rules:parameters": "[1]" }))),
    ).toContain("merchant-rules:parameters is not an object");
    expect(refusal(() => connectionSettings(sources({ "merchant-rules:connections": "{oops" }), "sandbox"))).toContain(
      "merchant-rules:connections is not an object",
    );
    expect(
      refusal(() =>
        connectionSettings(sources({ "merchant-rules:connections": '{"sandbox":{"baseurl":"x"}}' }), "sandbox"),
      ),
    ).toContain("unknown setting baseurl; ".slice(0, 23));
  });
});

describe("a named connection", () => {
  test("has its own settings", () => {
    const connections = JSON.stringify({
      sandbox: { baseUrl: "https://sandbox.example", clientId: "me", clientSecret: "s", contract: "illustrative" },
    });
    expect(connectionSettings(sources({ "merchant-rules:connections": connections }), "sandbox")).toMatchObject({
      name: "sandbox",
      baseUrl: "https://sandbox.example",
      credentials: { kind: "client" },
    });
    expect(
      connectionSettings(sources({}, { MERCHANT_RULES_SANDBOX__BASE_URL: "https://sandbox.example" }), "sandbox")
        .baseUrl,
    ).toBe("https://sandbox.example");
  });

  test("takes the contract of the default connection, and nothing else of it", () => {
    const config = {
      "merchant-rules:baseUrl": url,
      "merchant-rules:token": "production",
      "merchant-rules:contract": "illustrative",
    };
    const message = refusal(() =>
      connectionSettings(sources(config, { MERCHANT_RULES_TOKEN: "production" }), "my-sandbox"),
    );
    expect(message).toContain("merchant-rules:connections.my-sandbox.baseUrl (or MERCHANT_RULES_MY_SANDBOX__BASE_URL)");
    expect(message).toContain(
      "merchant-rules:connections.my-sandbox.clientSecret (or MERCHANT_RULES_MY_SANDBOX__CLIENT_SECRET)",
    );
    expect(message).not.toContain("production");
  });

  test("that is called like a thing every object has is not found", () => {
    expect(refusal(() => connectionSettings(sources({ "merchant-rules:connections": "{}" }), "constructor"))).toContain(
      "connections.constructor.baseUrl",
    );
  });
});

describe("the contract", () => {
  test("is found in the project's folder, from the program's folder too", () => {
    const file = join(folder, "merchant-rules.contract.yaml");
    writeFileSync(file, "version: 1\ndescription: found by itself\n");
    expect(connectionSettings(sources({ "merchant-rules:baseUrl": url })).contract.description).toBe("found by itself");
    rmSync(file);
    expect(connectionSettings(sources({ "merchant-rules:baseUrl": url })).contract.operations.delete.identifyBy).toBe(
      null,
    );
  });

  test("that is broken is refused with its file", () => {
    writeFileSync(join(folder, "broken.yaml"), "version: 1\nrules: {}\n");
    expect(
      refusal(() =>
        connectionSettings(sources({ "merchant-rules:baseUrl": url, "merchant-rules:contract": "broken.yaml" })),
      ),
    ).toMatch(/broken\.yaml:2: rules: found an unknown field/);
  });
});
