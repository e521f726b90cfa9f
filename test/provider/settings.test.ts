import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { connectionOf, connectionSettings, shownInputs } from "../../provider/settings/connection-settings.ts";
import { providerNameKey, secretParametersKey } from "../../provider/settings/setting-names.ts";
import type { SettingsSources } from "../../provider/settings/sources.ts";
import { type StackWords, stackWords, wordVariable } from "../../provider/settings/words.ts";
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

  test.each([
    ["true", "https://localhost:1", "this machine"],
    ["rules.test, other.test", url, "rules.test, other.test"],
  ])("insecureTls %s is warned of with each connection that is made", (insecureTls, baseUrl, hosts) => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const given = { "merchant-rules:token": "t", "merchant-rules:insecureTls": insecureTls };
    expect(
      connectionOf(connectionSettings(sources({ ...given, "merchant-rules:baseUrl": baseUrl })).client),
    ).toMatchObject({ insecureTls });
    expect(error.mock.calls.join()).toContain(`connection "default" does not check certificates of ${hosts} (`);
  });

  test.each([undefined, "false", ""])("insecureTls %s checks every certificate, without a word", (insecureTls) => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const environment = {
      MERCHANT_RULES_BASE_URL: url,
      MERCHANT_RULES_TOKEN: "t",
      MERCHANT_RULES_INSECURE_TLS: insecureTls,
    };
    const { client } = connectionSettings({ ...sources({}), environment });
    expect([connectionOf(client).insecureTls, error.mock.calls]).toEqual([undefined, []]);
  });

  test.each(["true", "yes/no", "https://rules.test", "rules.test:443", "rules.test,,"])(
    "insecureTls %s is refused for another machine: nobody would know which certificates are checked",
    (insecureTls) => {
      const config = { "merchant-rules:baseUrl": url, "merchant-rules:insecureTls": insecureTls };
      expect(refusal(() => connectionSettings(sources(config)))).toMatch(
        /merchant-rules:insecureTls \(or MERCHANT_RULES_INSECURE_TLS\).*NODE_EXTRA_CA_CERTS/,
      );
    },
  );

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

describe("where the credentials come from", () => {
  const client = (config: Record<string, string>, environment: Record<string, string> = {}) =>
    connectionSettings(sources({ "merchant-rules:baseUrl": url, ...config }, environment)).client;
  const exchange = { "merchant-rules:contract": "illustrative" };

  test("may be a file or a command, from the project's folder, which are not looked at: a preview asks nobody", () => {
    expect(client({ "merchant-rules:tokenFile": "no/such/file" }).credentials).toEqual({
      kind: "tokenFile",
      file: join(folder, "no/such/file"),
    });
    const environment = { MERCHANT_RULES_TOKEN_FILE: "/run/token" };
    expect(client({ "merchant-rules:tokenCommand": "exit 1" }, environment).credentials).toEqual({
      kind: "tokenFile",
      file: "/run/token",
    });
    expect(client({ "merchant-rules:tokenCommand": "exit 1" }).credentials).toEqual({
      kind: "tokenCommand",
      command: "exit 1",
      folder,
    });
    const connections = JSON.stringify({ "my-shop": { baseUrl: url } });
    const shop = { MERCHANT_RULES_MY_SHOP__TOKEN_COMMAND: "vault token" };
    expect(
      connectionSettings(sources({ "merchant-rules:connections": connections }, shop), "my-shop").client.credentials,
    ).toMatchObject({ kind: "tokenCommand", command: "vault token" });
  });

  test.each<[name: string, config: Record<string, string>, environment: Record<string, string>, says: RegExp]>([
    [
      "environment",
      { "merchant-rules:token": "t" },
      { MERCHANT_RULES_TOKEN: "t" },
      /^MERCHANT_RULES_TOKEN in the environment$/,
    ],
    [
      "stack's config",
      { "merchant-rules:tokenFile": "t" },
      {},
      /^merchant-rules:tokenFile in the stack's config, which refresh and destroy have from the last up; MERCHANT_RULES_TOKEN_FILE in the environment comes first$/,
    ],
    [
      "provider",
      { [providerNameKey]: "pr", "merchant-rules:token": "t" },
      {},
      /^the input token of the provider "pr", which .* from the last up; MERCHANT_RULES_PR__TOKEN in the environment comes first$/,
    ],
    [
      "client",
      { ...exchange, "merchant-rules:clientId": "me" },
      { MERCHANT_RULES_CLIENT_SECRET: "s" },
      /^MERCHANT_RULES_CLIENT_SECRET in the environment$/,
    ],
  ])("is told of the %s", (_, config, environment, says) => {
    expect(client(config, environment).credentialsFrom).toMatch(says);
  });

  test("is the environment under the name of an explicit provider, before what the state holds", () => {
    const inputs = { [providerNameKey]: "pr", "merchant-rules:token": "ended" };
    for (const [variable, kind] of [
      ["TOKEN", "token"],
      ["TOKEN_FILE", "tokenFile"],
      ["TOKEN_COMMAND", "tokenCommand"],
    ] as const)
      expect(client(inputs, { [`MERCHANT_RULES_PR__${variable}`]: "new" }).credentials).toMatchObject({ kind });
    expect(client(inputs, { MERCHANT_RULES_TOKEN: "other" }).credentials).toMatchObject({ token: "ended" });
  });

  test.each<[config: Record<string, string>, environment: Record<string, string>, names: string[]]>([
    [
      {},
      { MERCHANT_RULES_TOKEN: "hush", MERCHANT_RULES_TOKEN_FILE: "hush" },
      ["MERCHANT_RULES_TOKEN in the environment and MERCHANT_RULES_TOKEN_FILE in"],
    ],
    [
      { "merchant-rules:tokenFile": "hush", "merchant-rules:tokenCommand": "hush" },
      {},
      ["merchant-rules:tokenFile in the stack's config and merchant-rules:tokenCommand in"],
    ],
    [
      { ...exchange, "merchant-rules:clientId": "hush" },
      { MERCHANT_RULES_TOKEN_COMMAND: "hush", MERCHANT_RULES_CLIENT_SECRET: "hush" },
      ["MERCHANT_RULES_TOKEN_COMMAND", "MERCHANT_RULES_CLIENT_SECRET"],
    ],
    [
      { [providerNameKey]: "pr", "merchant-rules:token": "hush", "merchant-rules:tokenFile": "hush" },
      {},
      ['the input token of the provider "pr" and the input tokenFile'],
    ],
    [
      {},
      { MERCHANT_RULES_TOKEN: "t", MERCHANT_RULES_CLIENT_KEY: "hush" },
      ["MERCHANT_RULES_CLIENT_KEY", "without MERCHANT_RULES_CLIENT_CERTIFICATE"],
    ],
    [
      { "merchant-rules:clientCertificate": "hush" },
      {},
      ["merchant-rules:clientCertificate", "without merchant-rules:clientKey"],
    ],
  ])(
    "is refused where one place says it twice or by half, with the names and no value: %j %j",
    (config, environment, names) => {
      const message = refusal(() => client(config, environment));
      for (const each of names) expect(message).toContain(each);
      expect(message).not.toContain("hush");
    },
  );

  test("may be a client certificate as well: both files from one place, the environment's first", () => {
    const configured = {
      "merchant-rules:token": "t",
      "merchant-rules:clientCertificate": "a.pem",
      "merchant-rules:clientKey": "a.key",
    };
    const paths = (name: string) => ({ certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) });
    expect(client(configured).clientCertificate).toEqual(paths("a"));
    const environment = { MERCHANT_RULES_CLIENT_CERTIFICATE: "b.pem", MERCHANT_RULES_CLIENT_KEY: "b.key" };
    expect(client(configured, environment).clientCertificate).toEqual(paths("b"));
    expect(client({ "merchant-rules:token": "t" }).clientCertificate).toBeUndefined();
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
  const nothing: StackWords = { same: [], moved: [], recover: [], formerNames: [] };
  const settings = [
    ["same", "MERCHANT_RULES_SAME", "3fa9,04b2"],
    ["moved", "MERCHANT_RULES_MOVED", "3fa9,04b2"],
    ["recover", "MERCHANT_RULES_RECOVER", "3fa9,04b2"],
    ["formerNames", "MERCHANT_RULES_FORMER_NAMES", "shop/old,shop/older"],
  ] as const;

  test.each(settings)("%s: by nobody, by the environment or by the stack's config", (setting, variable, text) => {
    const said = (config: Record<string, string>, environment: Record<string, string> = {}) =>
      stackWords(sources({ "merchant-rules:baseUrl": url, ...config }, environment));
    const words = { ...nothing, [setting]: text.split(",") };
    expect(wordVariable(setting)).toBe(variable);
    expect(said({})).toEqual(nothing);
    expect(said({}, { [variable]: text })).toEqual(words);
    expect(said({ [`merchant-rules:${setting}`]: text })).toEqual(words);
    // The environment is of this run; a refresh sees the stack's config of the last up.
    expect(said({ [`merchant-rules:${setting}`]: "old" }, { [variable]: text })).toEqual(words);
    expect(said({ [`merchant-rules:${setting}`]: text }, { [variable]: "" })).toEqual(words);
  });

  test.each(settings)("%s: one or several with commas, whatever blanks are between them", (setting, variable, text) => {
    const [one = "", other = ""] = text.split(",");
    const said = (value: string) => stackWords(sources({}, { [variable]: value }))[setting];
    expect(said(one)).toEqual([one]);
    expect(said(` ${one} , ${other} `)).toEqual([one, other]);
    expect(said(`${one},,${other},`)).toEqual([one, other]);
    for (const none of ["", " ", ",", " , "]) expect(said(none)).toEqual([]);
  });

  test("is the stack's: neither a connection nor an explicit provider has words of its own", () => {
    const own = Object.fromEntries(settings.map(([setting, , text]) => [setting, text]));
    for (const [setting, variable, text] of settings) {
      const ofName = variable.replace("MERCHANT_RULES_", "MERCHANT_RULES_SANDBOX__");
      expect(stackWords(sources({}, { [ofName]: text }))[setting]).toEqual([]);
      expect(stackWords(sources({ [providerNameKey]: "sandbox" }, { [ofName]: text }))[setting]).toEqual([]);
      expect(stackWords(sources({ [providerNameKey]: "sandbox" }, { [variable]: text }))[setting]).toEqual(
        text.split(","),
      );
      const connections = JSON.stringify({ sandbox: { baseUrl: url, [setting]: own[setting] } });
      expect(stackWords(sources({ "merchant-rules:connections": connections }))[setting]).toEqual([]);
      expect(
        refusal(() => connectionSettings(sources({ "merchant-rules:connections": connections }), "sandbox")),
      ).toContain(`has an unknown setting ${setting}`);
    }
  });
});

describe("the identity of a connection", () => {
  const key = "merchant-rules:identity";
  const credentials = { "merchant-rules:token": "t" };
  const believed = (config: Record<string, string>, environment: Record<string, string> = {}) =>
    connectionSettings(sources({ "merchant-rules:baseUrl": url, ...config }, environment)).place.identity;

  test("is believed where nobody can ask, and stands beside the token", () => {
    expect(believed(credentials)).toBeUndefined();
    expect(believed({ ...credentials, [key]: "acme" })).toBe("acme");
    const environment = { MERCHANT_RULES_TOKEN: "t", MERCHANT_RULES_IDENTITY: "acme" };
    expect(believed({}, environment)).toBe("acme");
    // The token of the environment counts, and so does the identity there.
    expect(believed({ ...credentials, [key]: "globex" }, environment)).toBe("acme");
  });

  test.each<[what: string, config: Record<string, string>, environment: Record<string, string>]>([
    ["token in the environment, identity in config", { [key]: "acme" }, { MERCHANT_RULES_TOKEN: "t" }],
    ["token in config, identity in the environment", credentials, { MERCHANT_RULES_IDENTITY: "acme" }],
    [
      "a token of the environment before that of config, which has the identity",
      { ...credentials, [key]: "acme" },
      { MERCHANT_RULES_TOKEN: "other" },
    ],
  ])("is refused where it stands elsewhere: %s", (_, config, environment) => {
    const message = refusal(() => believed(config, environment));
    expect(message).toContain("SETTINGS_INVALID");
    expect(message).toContain("MERCHANT_RULES_IDENTITY in the environment");
    expect(message).toContain("auth.identity");
  });

  test("is never the program's: an explicit provider has it by its variable, and the token, too", () => {
    const explicit = { [providerNameKey]: "north" };
    expect(refusal(() => believed({ ...explicit, ...credentials, [key]: "acme" }))).toContain("no input identity");
    expect(
      refusal(() => believed({ ...explicit, ...credentials }, { MERCHANT_RULES_NORTH__IDENTITY: "acme" })),
    ).toContain("MERCHANT_RULES_NORTH__IDENTITY");
    const environment = { MERCHANT_RULES_NORTH__TOKEN: "t", MERCHANT_RULES_NORTH__IDENTITY: "acme" };
    expect(believed(explicit, environment)).toBe("acme");
  });

  test("may stand anywhere where the contract tells how to ask: it is compared", () => {
    writeFileSync(join(folder, "asks.yaml"), "version: 1\nauth: { identity: { path: /me, at: /id } }\n");
    const contract = { "merchant-rules:contract": "asks.yaml" };
    expect(believed({ ...contract, [key]: "acme" }, { MERCHANT_RULES_TOKEN: "t" })).toBe("acme");
    expect(believed({ ...contract, ...credentials }, { MERCHANT_RULES_IDENTITY: "acme" })).toBe("acme");
    expect(believed({ ...contract, ...credentials })).toBeUndefined();
  });
});

describe("where a connection leads, as the state shows it", () => {
  function whereabouts(contract: string, config: Record<string, string> = {}): unknown {
    writeFileSync(join(folder, "where.yaml"), `version: 1\n${contract}`);
    const all = { "merchant-rules:baseUrl": url, "merchant-rules:contract": "where.yaml", ...config };
    const { address, shownParameters } = connectionSettings(sources(all)).place;
    return { address, shownParameters };
  }

  test("is its address, which neither a slash at the end nor capitals of the host change", () => {
    expect(whereabouts("")).toEqual({ address: url, shownParameters: {} });
    expect(whereabouts("", { "merchant-rules:baseUrl": `${url}//` })).toEqual({ address: url, shownParameters: {} });
    expect(whereabouts("", { "merchant-rules:baseUrl": `${url}/eu/` })).toEqual({
      address: `${url}/eu`,
      shownParameters: {},
    });
    expect(whereabouts("", { "merchant-rules:baseUrl": "HTTPS://Payments.example.com:443/" })).toEqual({
      address: url,
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
  ])("shows no value that stands in a header of %s, which may be a key", (_, contract) => {
    const declared = `parameters: { apiKey: {}, merchantId: {} }\n${contract}\n`;
    const at = (apiKey: string) =>
      whereabouts(declared, { "merchant-rules:parameters": JSON.stringify({ apiKey, merchantId: "m-1" }) });
    expect(at("k3y-of-the-merchant")).toEqual({
      address: url,
      shownParameters: { apiKey: "(secret)", merchantId: "m-1" },
    });
    expect(at("another-key")).toEqual(at("k3y-of-the-merchant"));
  });

  test.each<[declared: string[], shown: Record<string, string>]>([
    [[], { merchantId: "m-1", region: "eu" }],
    [["merchantId"], { merchantId: "(secret)", region: "eu" }],
    [["*"], { merchantId: "(secret)", region: "(secret)" }],
  ])("shows no value that an explicit provider's program declares secret: %j", (declared, shown) => {
    writeFileSync(
      join(folder, "where.yaml"),
      "version: 1\nparameters: { merchantId: {}, region: { default: eu } }\noperations: { get: { path: '/{region}/{merchantId}/{ruleId}' } }\n",
    );
    const { place } = connectionSettings(
      sources({
        [providerNameKey]: "north",
        [secretParametersKey]: JSON.stringify(declared),
        "merchant-rules:baseUrl": url,
        "merchant-rules:contract": "where.yaml",
        "merchant-rules:parameters": '{"merchantId": "m-1"}',
      }),
    );
    expect(place.shownParameters).toEqual(shown);
    expect(shownInputs(place)).toEqual({ address: url, parameters: shown });
    // The place is told apart by their values all the same.
    expect(place.parameters).toEqual({ merchantId: "m-1", region: "eu" });
    for (const name of Object.keys(shown)) expect(place.secretParameters.has(name)).toBe(shown[name] === "(secret)");
  });

  test("has the name of the connection; that of an explicit provider, which is one", () => {
    const connections = JSON.stringify({ sandbox: { baseUrl: url } });
    const names = ({ place: { name, provider } }: ReturnType<typeof connectionSettings>) => ({ name, provider });
    expect(names(connectionSettings(sources({ "merchant-rules:baseUrl": url })))).toEqual({
      name: "default",
      provider: "",
    });
    expect(names(connectionSettings(sources({ "merchant-rules:connections": connections }), "sandbox"))).toEqual({
      name: "sandbox",
      provider: "",
    });
    expect(names(connectionSettings(sources({ [providerNameKey]: "north", "merchant-rules:baseUrl": url })))).toEqual({
      name: "north",
      provider: "north",
    });
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
