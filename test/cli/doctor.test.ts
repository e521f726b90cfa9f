import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import tls from "node:tls";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, onTestFinished, test } from "vitest";
import schema from "../../report/doctor.schema.json" with { type: "json" };
import { type DoctorReport, doctorSchema, publishedDoctorSchema } from "../../report/doctor.ts";
import { type ContractInput, loadPreset } from "../../sdk/contract/index.ts";
import { root } from "../docs/page.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { serve } from "../support/stack/service.ts";
import { run } from "./command.ts";

const token = "hush-token";
const illustrative = loadPreset("illustrative");

const noProxies = { HTTP_PROXY: "", http_proxy: "", HTTPS_PROXY: "", https_proxy: "", NO_PROXY: "", no_proxy: "" };

/** Runs the doctor in an empty folder, and holds its JSON against the published schema. */
async function doctor(
  environment: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
  ...words: string[]
) {
  const folder = newFolder(files);
  const ran = await run(["doctor", "--json", "--cwd", folder, ...words], { ...noProxies, ...environment });
  const report: DoctorReport = doctorSchema.parse(JSON.parse(ran.stdout));
  expect(new Ajv2020().validate(schema, report)).toBe(true);
  expect(ran.code).toBe(report.ok ? 0 : 1);
  expect(ran.stdout + ran.stderr).not.toContain("hush");
  for (const { status, toDo } of report.findings) if (["failed", "warning"].includes(status)) expect(toDo).toBeTruthy();
  const said = (check: string) => report.findings.filter((each) => each.check === check);
  return { ...ran, report, said, failed: report.findings.filter(({ status }) => status === "failed") };
}

/** A service that answers as it likes, with the illustrative contract as far as it is not changed. */
async function misbehaving(answer: RequestListener, changes: Partial<ContractInput> = {}) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port }: AddressInfo = Object(server.address());
  const contract: ContractInput = { ...illustrative, limits: { attemptTimeoutMs: 300 }, ...changes };
  return await doctor(
    { MERCHANT_RULES_BASE_URL: `http://127.0.0.1:${port}`, MERCHANT_RULES_TOKEN: token },
    { "merchant-rules.contract.yaml": JSON.stringify(contract) },
  );
}

/** An answer with a JSON body. */
function json(body: unknown, status = 200, headers: Record<string, string> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

describe("merchant-rules doctor, where all is well", () => {
  test("says so, reads only, and ends with 0", async () => {
    const { service, environment, close } = await serve();
    onTestFinished(close);
    service.put(undefined, rule(1));
    const { report, said } = await doctor({ ...environment, MERCHANT_RULES_ON_DRIFT: "fail" });
    expect(report.ok).toBe(true);
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
    expect(said("settings").map(({ found }) => found)).toEqual(
      expect.arrayContaining([
        `baseUrl: ${service.url} (environment MERCHANT_RULES_BASE_URL)`,
        "token: set (environment MERCHANT_RULES_TOKEN)",
        "clientSecret: not set",
        "onDrift: fail (environment MERCHANT_RULES_ON_DRIFT)",
      ]),
    );
    expect(said("list")).toEqual([
      { check: "list", status: "ok", found: "it can be read to its end; rules: 1, pages: 1" },
    ]);
    expect(said("get")[0]?.found).toBe("a rule of the list can be read, and a rule that cannot exist is not found");
    expect(said("token")[0]).toMatchObject({ status: "ok", found: "the credentials are accepted" });
    expect(said("clock")[0]?.status).toBe("ok");
  });

  test("prints the same as text, with what to do below each finding", async () => {
    const { environment, close } = await serve();
    onTestFinished(close);
    const folder = newFolder();
    const { stdout, code } = await run(["doctor", "--cwd", folder], environment);
    expect(stdout).toMatch(/^ok {7}versions {2}merchant-rules \d/);
    expect(stdout).toMatch(/^warning {2}project .*\n {19}What to do: run this in the project's folder/m);
    expect(stdout).toMatch(/Nothing failed\.$/);
    expect(code).toBe(0);
  });

  test("has a schema that the script wrote (node scripts/write-report-schema.ts)", () => {
    expect(schema).toEqual(JSON.parse(publishedDoctorSchema()));
  });
});

describe("merchant-rules doctor, where the service is broken", () => {
  const page: RequestListener = (_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<html>hush</html>");
  };
  const moved: RequestListener = (_request, response) => {
    response.writeHead(302, { location: "https://login.example.com/?hush" }).end();
  };
  const endless: RequestListener = (request, response) =>
    json({ rules: [{ id: request.url }], nextCursor: "again", hasMore: true })(request, response);
  test.each<readonly [string, RequestListener, string, RegExp, RegExp]>([
    ["answers a page", page, "list", /the body is not JSON/, /./],
    ["redirects", moved, "list", /answered 302/, /set baseUrl to the address that answers/],
    ["answers nothing", () => {}, "list", /within 300 ms/, /./],
    ["refuses the token", json({ error: { message: "no" } }, 401), "token", /answered 401/, /check the token/],
    ["forbids", json({}, 403), "list", /answered 403/, /ask for the permission/],
    ["never ends its list", endless, "list", /./, /./],
    ["has no list where the contract has it", json({}), "list", /\/rules/, /./],
    ["answers items that are no rules", json({ rules: ["x"] }), "list", /./, /./],
  ])("names what is wrong where it %s, with what to do", async (_what, answer, check, why, toDo) => {
    const { failed } = await misbehaving(answer);
    const found = failed.find((each) => each.check === check);
    expect(found?.found).toMatch(why);
    expect(found?.toDo).toMatch(toDo);
  });

  test("sees one that answers success for every rule", async () => {
    const { failed } = await misbehaving(
      (request, response) => {
        const id = request.url?.split("/").at(-1);
        return json(id === "rules" ? { rules: [] } : { id })(request, response);
      },
      { operations: { list: { path: "/api/v1/merchants/rules", items: "/rules" } } },
    );
    expect(failed).toMatchObject(
      [{ check: "get", found: /success for a rule that cannot exist/ }].map(() => ({ check: "get" })),
    );
    expect(failed[0]?.found).toContain("success for a rule that cannot exist");
  });

  test("says by how much the clocks differ", async () => {
    const date = new Date(Date.now() + 600_000).toUTCString();
    const { said } = await misbehaving(json({}, 404, { date }));
    expect(said("clock")[0]).toMatchObject({
      status: "warning",
      found: expect.stringMatching(/^this machine's clock is (59\d|60\d) s behind/),
    });
  });

  const certificate = (name: string): string =>
    readFileSync(new URL(`../sdk/client/certificate/${name}`, import.meta.url), "utf8");

  test("says who does not sign a certificate, and when one that is trusted ends", async () => {
    const [key, cert] = [certificate("key.pem"), certificate("certificate.pem")];
    const server = createSecureServer({ key, cert }, json({ rules: [] })).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port }: AddressInfo = Object(server.address());
    const environment = {
      MERCHANT_RULES_BASE_URL: `https://localhost:${port}`,
      MERCHANT_RULES_CONTRACT: "illustrative",
      MERCHANT_RULES_TOKEN: token,
    };
    const { failed } = await doctor(environment);
    expect(failed[0]?.found).toMatch(/^https:\/\/localhost:\d+ cannot be reached: .*self.signed/);
    expect(failed[0]?.toDo).toContain("NODE_EXTRA_CA_CERTS");
    const unchecked = await doctor({ ...environment, MERCHANT_RULES_INSECURE_TLS: "true" });
    expect(unchecked.said("address").map(({ status }) => status)).toEqual(["warning", "ok"]);
    const trusted = tls.getCACertificates("default");
    onTestFinished(() => tls.setDefaultCACertificates(trusted));
    tls.setDefaultCACertificates([cert]);
    const { said } = await doctor(environment);
    expect(said("address")[0]?.found).toMatch(/takes connections, TLSv1\.\d; its certificate ends \d{4}-\d\d-\d\d$/);
  });

  test("names the proxy that requests take, without its password", async () => {
    const { said, failed } = await doctor({
      MERCHANT_RULES_BASE_URL: "https://rules.test",
      MERCHANT_RULES_CONTRACT: "illustrative",
      MERCHANT_RULES_TOKEN: token,
      HTTPS_PROXY: "http://me:hush@127.0.0.1:1",
    });
    expect(said("address")[0]?.found).toContain("by the proxy 127.0.0.1:1 (environment HTTPS_PROXY)");
    expect(failed.map(({ check }) => check)).toContain("list");
  });

  test("says that a name is not known", async () => {
    const { failed } = await doctor({
      MERCHANT_RULES_BASE_URL: "https://rules.invalid",
      MERCHANT_RULES_CONTRACT: "illustrative",
      MERCHANT_RULES_TOKEN: token,
    });
    expect(failed[0]?.found).toMatch(/^the name rules\.invalid is not known here/);
  });

  test("says that nothing listens", async () => {
    const { failed, said } = await doctor({
      MERCHANT_RULES_BASE_URL: "http://127.0.0.1:1",
      MERCHANT_RULES_CONTRACT: "illustrative",
      MERCHANT_RULES_TOKEN: token,
    });
    expect(failed).toMatchObject([{ check: "address" }]);
    expect(failed[0]?.found).toMatch(/cannot be reached: .*ECONNREFUSED/);
    expect(failed[0]?.toDo).toMatch(/start the service, or correct host and port/);
    expect(said("list")[0]?.status).toBe("skipped");
  });
});

describe("merchant-rules doctor, where the set-up is broken", () => {
  test("says where a token comes from and why there is none, and neither the command nor what it prints", async () => {
    const { environment, close } = await serve();
    onTestFinished(close);
    const { MERCHANT_RULES_TOKEN: token = "", ...rest } = environment;
    const command = (text: string) => doctor({ ...rest, MERCHANT_RULES_TOKEN_COMMAND: text });
    const { said, report } = await command(`echo ${token}`);
    expect(said("settings").map(({ found }) => found)).toContain(
      "tokenCommand: set (environment MERCHANT_RULES_TOKEN_COMMAND)",
    );
    expect(report.ok).toBe(true);
    const { failed } = await command("echo hush >&2; exit 4");
    expect(failed.map(({ check, found }) => [check, found])).toEqual([
      ["token", expect.stringContaining("MERCHANT_RULES_TOKEN_COMMAND in the environment ended with exit code 4")],
    ]);
    const certified = await doctor({
      ...environment,
      MERCHANT_RULES_CLIENT_CERTIFICATE: "c",
      MERCHANT_RULES_CLIENT_KEY: "k",
    });
    expect(certified.failed.map(({ check, found }) => [check, found])).toEqual([
      ["address", expect.stringContaining("it is for https")],
    ]);
  });

  test("names all missing settings, and the contract that was looked for", async () => {
    const { failed, said } = await doctor({});
    expect(failed.map(({ check }) => check)).toEqual(["settings"]);
    expect(failed[0]?.found).toMatch(
      /lacks merchant-rules:baseUrl \(or MERCHANT_RULES_BASE_URL\); merchant-rules:token/,
    );
    expect(said("contract")[0]).toMatchObject({ status: "warning", toDo: expect.stringContaining("contract init") });
  });

  test("names a contract that cannot work by its line, and misspelt variables", async () => {
    const { failed, said } = await doctor(
      { MERCHANT_RULES_TOKN: token },
      { "merchant-rules.contract.yaml": "version: 1\nrul: {}\n" },
    );
    expect(failed.find(({ check }) => check === "contract")?.found).toMatch(/yaml:2: rul: found an unknown field/);
    expect(said("settings")[0]).toMatchObject({
      status: "warning",
      toDo: "rename it, if MERCHANT_RULES_TOKEN is meant",
    });
  });

  test.each([
    ["holds a password", "https://me:hush@payments.example.com", /holds credentials/],
    ["holds a key", "https://payments.example.com/?key=hush", /holds a query/],
    ["is plain http", "http://payments.example.com", /begins with http:/],
  ])("says of an address that %s what is wrong, and not the address", async (_what, baseUrl, why) => {
    const { failed } = await doctor({ MERCHANT_RULES_BASE_URL: baseUrl, MERCHANT_RULES_TOKEN: token });
    expect(failed[0]?.found).toMatch(why);
  });

  test("says that the credentials are somebody else's", async () => {
    const { service, environment, close } = await serve({
      ...illustrative,
      auth: { ...illustrative.auth, identity: { path: "/api/v1/merchants/me", at: "/merchant/id" } },
    });
    onTestFinished(close);
    const { said } = await doctor({ ...environment, MERCHANT_RULES_IDENTITY: "shop-2" });
    expect(service.requests.length).toBeGreaterThan(0);
    expect(said("identity")[0]).toMatchObject({ status: "failed" });
    expect(said("identity")[0]?.found).toMatch(/and the setting identity says "shop-2"/);
  });
});

describe("merchant-rules doctor in a project", () => {
  const project = { "Pulumi.yaml": "name: shop\nruntime: nodejs\n" };
  const config = (baseUrl: string): string => `config:\n  merchant-rules:baseUrl: ${baseUrl}\n`;

  test("says which settings the stack's config has, and that there is no state yet", async () => {
    const { environment, service, close } = await serve();
    onTestFinished(close);
    const { MERCHANT_RULES_BASE_URL: _, ...others } = environment;
    const { report, said } = await doctor(
      { ...others, PULUMI_CONFIG_PASSPHRASE: "p" },
      { ...project, "index.js": "", "Pulumi.dev.yaml": config(service.url) },
      ...["--engine", "local", "--stack", "dev"],
    );
    expect(said("stack")[0]).toMatchObject({ status: "ok", found: "dev, kept by the local engine" });
    expect(said("state")[0]).toMatchObject({ status: "skipped", found: "there is none yet; the first `up` makes it" });
    expect(said("settings")[0]?.found).toBe(`baseUrl: ${service.url} (stack config merchant-rules:baseUrl)`);
    expect(report.ok).toBe(true);
  });

  test("says that the stack cannot be read, and goes on with the environment alone", async () => {
    const { environment, close } = await serve();
    onTestFinished(close);
    const { failed, said } = await doctor(environment, { "Pulumi.yaml": "name: [" }, "--engine", "local");
    expect(failed.map(({ check }) => check)).toEqual(["stack"]);
    expect(failed[0]?.found).toContain("Pulumi.yaml");
    expect(said("list")[0]?.status).toBe("ok");
  });
});

test("a project without an entry point is named before a preview fails, and what is said mends it", async () => {
  const Pulumi = "name: shop\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n";
  const files = { "Pulumi.yaml": Pulumi, "index.ts": "export const nothing = 1;\n", "package.json": "{}" };
  const words = ["--engine", "local"];
  const { failed } = await doctor({ PULUMI_CONFIG_PASSPHRASE: "p" }, files, ...words);
  const [fault] = failed.filter(({ check }) => check === "project");
  expect(fault?.found).toMatch(/^the program has no entry point: in .*, package\.json has no "main"/);
  const broken = await doctor({ PULUMI_CONFIG_PASSPHRASE: "p" }, { ...files, "package.json": '{ "name": ' }, ...words);
  expect(broken.failed.find(({ check }) => check === "project")).toMatchObject({
    found: expect.stringMatching(/package\.json cannot be read: Unexpected end of JSON input$/),
    toDo: expect.stringContaining("correct that file"),
  });
  const [, type, main] = /("type": "module") and ("main": "index.ts")/.exec(fault?.toDo ?? "") ?? [];
  const mended = await doctor(
    { PULUMI_CONFIG_PASSPHRASE: "p" },
    { ...files, "package.json": `{${type}, ${main}}` },
    ...words,
  );
  expect(mended.said("project")).toMatchObject([{ status: "ok" }]);
});

test("a preview of the local engine names the missing entry point with what to do", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(join(folder, "package.json"), '{"main": "program.ts"}');
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const { code, stdout, stderr } = await run(["local", "preview", "--cwd", folder], { PULUMI_CONFIG_PASSPHRASE: "p" });
  expect([code, stdout + stderr]).toEqual([
    1,
    expect.stringMatching(
      /names main "program\.ts", which does not exist\. What to do: write the program into index\.ts/,
    ),
  ]);
});
