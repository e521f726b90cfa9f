import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectionOf, connectionSettings } from "../../provider/settings/connection-settings.ts";
import type { SettingsSources } from "../../provider/settings/sources.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";

const folder = newFolder();
const program = join(folder, "program");
mkdirSync(program);
writeFileSync(join(folder, "Pulumi.yaml"), "name: test\n");

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
      connectionSettings(sources({ "merchant-rules:baseUrl": url, "merchant-rules:token": "t" })).client,
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
    ).client;
    expect(connectionOf(settings).credentials).toEqual({ kind: "client", clientId: "me", clientSecret: "s" });
    expect(settings.contract.operations.list).not.toBe(null);
  });

  test("stack config first, but the environment first for credentials", () => {
    const settings = connectionSettings(
      sources(
        { "merchant-rules:baseUrl": url, "merchant-rules:token": "configured" },
        { MERCHANT_RULES_BASE_URL: "https://other.example", MERCHANT_RULES_TOKEN: "from-environment" },
      ),
    ).client;
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
    expect(refusal(() => connectionOf(settings.client))).toContain("merchant-rules:token (or MERCHANT_RULES_TOKEN)");
  });

  test("need no credentials where the contract presents none", () => {
    writeFileSync(join(folder, "open.yaml"), "version: 1\nauth: { present: null }\n");
    const settings = connectionSettings(
      sources({ "merchant-rules:baseUrl": url, "merchant-rules:contract": "open.yaml" }),
    );
    expect(connectionOf(settings.client).credentials).toEqual({ kind: "none" });
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
    expect(settings.client.parameters).toEqual({ version: "2026-01", account: "7" });
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
    ).toContain("has an unknown setting baseurl (did you mean baseUrl?)");
  });
});

describe("a named connection", () => {
  test("has its own settings", () => {
    const connections = JSON.stringify({
      sandbox: { baseUrl: "https://sandbox.example", clientId: "me", clientSecret: "s", contract: "illustrative" },
    });
    expect(connectionSettings(sources({ "merchant-rules:connections": connections }), "sandbox").client).toMatchObject({
      name: "sandbox",
      baseUrl: "https://sandbox.example",
      credentials: { kind: "client" },
    });
    expect(
      connectionSettings(sources({}, { MERCHANT_RULES_SANDBOX__BASE_URL: "https://sandbox.example" }), "sandbox").client
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

describe("what the user says for one run", () => {
  const answers = [
    ["acceptAllGone", "ACCEPT_ALL_GONE"],
    ["moved", "MOVED"],
    ["recover", "RECOVER"],
  ] as const;

  test.each(answers)("%s: by nobody, by the environment or by the stack's config", (setting, variable) => {
    const howTo = `MERCHANT_RULES_${variable}=true`;
    const said = (config: Record<string, string>, environment: Record<string, string> = {}) =>
      connectionSettings(sources({ "merchant-rules:baseUrl": url, ...config }, environment)).place[setting];
    expect(said({})).toEqual({ isGiven: false, howTo });
    expect(said({}, { [`MERCHANT_RULES_${variable}`]: "true" })).toEqual({ isGiven: true, howTo });
    expect(said({ [`merchant-rules:${setting}`]: "true" })).toEqual({ isGiven: true, howTo });
    // Nothing but the word itself is a yes.
    for (const no of ["", "false", "1", "yes", "TRUE"])
      expect(said({ [`merchant-rules:${setting}`]: no }, { [`MERCHANT_RULES_${variable}`]: no }).isGiven).toBe(false);
    // A no in the one does not take back a yes in the other.
    expect(said({ [`merchant-rules:${setting}`]: "true" }, { [`MERCHANT_RULES_${variable}`]: "false" }).isGiven).toBe(
      true,
    );
  });

  test.each(answers)("%s: of one answer nothing follows for another", (setting, variable) => {
    const settings = connectionSettings(
      sources({ "merchant-rules:baseUrl": url }, { [`MERCHANT_RULES_${variable}`]: "true" }),
    );
    const given = answers.map(([each]) => each).filter((each) => settings.place[each].isGiven);
    expect(given).toEqual([setting]);
  });

  test.each(answers)(
    "%s: of a named connection it is said by itself, and not by the default one",
    (setting, variable) => {
      const own = { baseUrl: "https://sandbox.example" };
      const said = (connection: JsonObject, environment: Record<string, string> = {}, config = {}) =>
        connectionSettings(
          sources({ "merchant-rules:connections": JSON.stringify({ sandbox: connection }), ...config }, environment),
          "sandbox",
        ).place[setting];
      const howTo = `MERCHANT_RULES_SANDBOX__${variable}=true`;
      expect(said(own, { [`MERCHANT_RULES_${variable}`]: "true" }, { [`merchant-rules:${setting}`]: "true" })).toEqual({
        isGiven: false,
        howTo,
      });
      expect(said(own, { [`MERCHANT_RULES_SANDBOX__${variable}`]: "true" })).toEqual({ isGiven: true, howTo });
      expect(said({ ...own, [setting]: true })).toEqual({ isGiven: true, howTo });
      expect(said({ ...own, [setting]: "true" })).toEqual({ isGiven: true, howTo });
    },
  );
});

describe("where a connection leads, as the state shows it", () => {
  function whereabouts(contract: string, config: Record<string, string> = {}): unknown {
    writeFileSync(join(folder, "where.yaml"), `version: 1\n${contract}`);
    const all = { "merchant-rules:baseUrl": url, "merchant-rules:contract": "where.yaml", ...config };
    const { address, shownParameters } = connectionSettings(sources(all)).place;
    return { address, shownParameters };
  }

  test("is its address, which a slash at the end does not change", () => {
    expect(whereabouts("")).toEqual({ address: url, shownParameters: {} });
    expect(whereabouts("", { "merchant-rules:baseUrl": `${url}//` })).toEqual({ address: url, shownParameters: {} });
    expect(whereabouts("", { "merchant-rules:baseUrl": `${url}/eu/` })).toEqual({
      address: `${url}/eu`,
      shownParameters: {},
    });
  });

  test("is its parameters as well, given ones and defaults", () => {
    const contract =
      "parameters: { merchantId: {}, region: { default: eu } }\noperations: { get: { path: '/{region}/{merchantId}/{ruleId}' } }\n";
    expect(whereabouts(contract, { "merchant-rules:parameters": '{"merchantId": 7}' })).toEqual({
      address: url,
      shownParameters: { merchantId: "7", region: "eu" },
    });
  });

  test.each<[string, string]>([
    ["an operation", "operations: { get: { headers: { X-Key: 'key {apiKey}' } } }"],
    ["the token operation", "auth: { token: { path: /token, fields: {}, headers: { X-Key: '{apiKey}' } } }"],
    [
      "the question who the credentials are",
      "auth: { identity: { path: /me, at: /id, headers: { X-Key: '{apiKey}' } } }",
    ],
  ])("shows no value that stands in a header of %s, which may be a key: a hash of it is kept", (_, contract) => {
    const declared = `parameters: { apiKey: {}, merchantId: {} }\n${contract}\n`;
    const at = (apiKey: string) =>
      whereabouts(declared, { "merchant-rules:parameters": JSON.stringify({ apiKey, merchantId: "m-1" }) });
    const first = at("k3y-of-the-merchant");
    expect(first).toEqual({
      address: url,
      shownParameters: { apiKey: expect.stringMatching(/^\(hash\) [0-9a-f]{12}$/), merchantId: "m-1" },
    });
    expect(at("k3y-of-the-merchant")).toEqual(first);
    expect(at("another-key")).not.toEqual(first);
  });

  test("never shows a token or a client secret", () => {
    const settings = connectionSettings(
      sources({
        "merchant-rules:baseUrl": url,
        "merchant-rules:contract": "illustrative",
        "merchant-rules:clientId": "me",
        "merchant-rules:clientSecret": "s3cr3t",
      }),
    );
    expect([settings.place.address, settings.place.shownParameters]).toEqual([url, {}]);
  });
});

describe("the contract", () => {
  test("is found in the project's folder, from the program's folder too", () => {
    const file = join(folder, "merchant-rules.contract.yaml");
    writeFileSync(file, "version: 1\ndescription: found by itself\n");
    expect(connectionSettings(sources({ "merchant-rules:baseUrl": url })).client.contract.description).toBe(
      "found by itself",
    );
    rmSync(file);
    expect(
      connectionSettings(sources({ "merchant-rules:baseUrl": url })).client.contract.operations.delete.identifyBy,
    ).toBe(null);
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
