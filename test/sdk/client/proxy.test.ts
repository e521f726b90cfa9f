import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect } from "node:net";
import tls from "node:tls";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { clientOf, failureOf, serve } from "./scripted-server.ts";

// A pair of the tests alone, made for rules.test and localhost; nothing trusts it but what says so here.
const read = (name: string): string => readFileSync(new URL(`certificate/${name}`, import.meta.url), "utf8");
const certificate = { key: read("key.pem"), cert: read("certificate.pem") };

const noProxies = { HTTP_PROXY: "", http_proxy: "", HTTPS_PROXY: "", https_proxy: "", NO_PROXY: "", no_proxy: "" };

function environment(variables: Partial<typeof noProxies>): void {
  for (const name of Object.keys(noProxies)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

const trusted = tls.getCACertificates("default");
afterEach(() => {
  tls.setDefaultCACertificates(trusted);
});

async function listen(server: Server | ReturnType<typeof createHttpServer>): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address() as AddressInfo;
  return address.port;
}

/** A rules service with TLS, and who asked for what there. */
async function secureService() {
  const asked: string[] = [];
  const port = await listen(
    createServer(certificate, (request, response) => {
      asked.push(`${request.method} ${request.headers.host}${request.url}`);
      response.end('{"id":"r1"}');
    }),
  );
  return { port, asked };
}

/** A proxy that leads every tunnel to one port, whatever name was asked for. */
async function proxyTo(port: number, status = 200) {
  const tunnels: { target: string | undefined; authorization: string | undefined }[] = [];
  const proxy = createHttpServer((_request, response) => response.writeHead(500).end());
  proxy.on("connect", (request, socket) => {
    tunnels.push({ target: request.url, authorization: request.headers["proxy-authorization"] });
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    const end = (): void => {
      onward.destroy();
      socket.destroy();
    };
    for (const stream of [onward, socket]) stream.on("error", end).on("close", end);
  });
  return { url: `http://127.0.0.1:${await listen(proxy)}`, tunnels };
}

test.each(["HTTPS_PROXY", "https_proxy"])(
  "https goes through the proxy of %s, in a tunnel that it cannot read",
  async (name) => {
    tls.setDefaultCACertificates([certificate.cert]);
    const service = await secureService();
    const proxy = await proxyTo(service.port);
    environment({ [name]: proxy.url.replace("http://", "http://me:pass@") });
    const client = clientOf({ baseUrl: "https://rules.test" });
    expect(await client.get("r1")).toMatchObject({ ruleId: "r1" });
    expect(await client.get("r1")).toMatchObject({ ruleId: "r1" });
    for (const tunnel of proxy.tunnels) {
      expect(tunnel).toEqual({ target: "rules.test:443", authorization: `Basic ${btoa("me:pass")}` });
    }
    expect(proxy.tunnels.length).toBeGreaterThan(0);
    expect(service.asked).toEqual(Array(2).fill("GET rules.test/api/v1/merchants/rules/r1"));
  },
);

test.each(["NO_PROXY", "no_proxy"])("a host of %s is reached without the proxy", async (name) => {
  const proxy = await proxyTo(0);
  environment({ HTTPS_PROXY: proxy.url, [name]: "other.test,rules.invalid" });
  const error = await failureOf(
    clientOf({ baseUrl: "https://rules.invalid" }, { limits: { maxAttempts: 1 } }).get("r1"),
  );
  expect(error.message).toMatch(/ENOTFOUND|EAI_AGAIN/);
  expect(proxy.tunnels).toHaveLength(0);
});

test("loopback is reached without a proxy, whatever the environment says", async () => {
  const server = await serve([{ json: { id: "r1" } }]);
  const proxy = await proxyTo(server.port);
  environment({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, http_proxy: proxy.url, https_proxy: proxy.url });
  for (const host of ["127.0.0.1", "localhost"]) await clientOf({ baseUrl: `http://${host}:${server.port}` }).get("r1");
  expect(server.requests).toHaveLength(2);
  expect(proxy.tunnels).toHaveLength(0);
});

test.each([403, 407, 502])(
  "a proxy that answers %i is named with it, and let nothing through: a create is not in doubt",
  async (status) => {
    const proxy = await proxyTo(0, status);
    environment({ HTTPS_PROXY: proxy.url.replace("http://", "http://me:hunter2@") });
    const error = await failureOf(
      clientOf({ baseUrl: "https://rules.test" }, { limits: { maxAttempts: 2 } }).create({}),
    );
    expect(error).toMatchObject({ code: "CONNECTION_FAILED", outcomeUnknown: false });
    expect(error.message).toContain(`the proxy answered ${status} to a connection to https://rules.test`);
    expect(error.message).toContain("What to do: check HTTP_PROXY and HTTPS_PROXY");
    expect(`${error.stack}${error.cause}`).not.toContain("hunter2");
  },
);

test.each(["proxy:8080:hunter2", "http://me:hunter2@", "ftp://me:hunter2@proxy"])(
  "a proxy variable that is no proxy is refused, without printing it: %s",
  (url) => {
    environment({ HTTPS_PROXY: url });
    const make = (): unknown => clientOf({ baseUrl: "https://rules.test" });
    expect(make).toThrow(/^(?!.*hunter2).*a proxy variable of the environment cannot be used/);
  },
);

test("a certificate that is not trusted is named, not tried again, and leaves a create in no doubt", async () => {
  environment({});
  const service = await secureService();
  const error = await failureOf(clientOf({ baseUrl: `https://localhost:${service.port}` }).create({}));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", retryable: false, outcomeUnknown: false });
  expect(error.message).toContain(
    `the certificate of https://localhost:${service.port} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  );
  expect(error.message).toContain("NODE_EXTRA_CA_CERTS");
  expect(service.asked).toHaveLength(0);
});

describe("where Node itself is told to check no certificate", () => {
  const unchecked = (variables: Partial<typeof noProxies> = {}): void => {
    environment(variables);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  };

  test.each([undefined, "127.0.0.1,other.test", "localhost.test"])(
    "no request reaches a server that nobody vouches for, with insecureTls %s",
    async (insecureTls) => {
      unchecked();
      const service = await secureService();
      const error = await failureOf(
        clientOf({ baseUrl: `https://localhost:${service.port}` }, {}, { insecureTls }).get("r1"),
      );
      expect(error.message).toMatch(/not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS.*insecureTls/);
      expect(service.asked).toHaveLength(0);
    },
  );

  test.each([undefined, "true"])("nor by a proxy, with insecureTls %s", async (insecureTls) => {
    const service = await secureService();
    unchecked({ HTTPS_PROXY: (await proxyTo(service.port)).url });
    const error = await failureOf(clientOf({ baseUrl: "https://rules.test" }, {}, { insecureTls }).get("r1"));
    expect(error.message).toContain("is not trusted");
    expect(service.asked).toHaveLength(0);
  });

  test("nor the client secret a token operation, which has a host of its own", async () => {
    unchecked();
    const [rules, tokens] = [await serve([{ json: { id: "r1" } }]), await secureService()];
    const credentials = { kind: "client", clientId: "me", clientSecret: "hunter2" } as const;
    const fields = { id: "{clientId}", secret: "{clientSecret}" };
    const token = { path: "/token", baseUrl: `https://localhost:${tokens.port}`, fields };
    const client = clientOf(rules, { auth: { token } }, { credentials, insecureTls: "127.0.0.1" });
    expect((await failureOf(client.get("r1"))).message).toContain("is not trusted");
    expect(tokens.asked).toHaveLength(0);
  });
});

test.each([
  ["https://localhost", "true"],
  ["https://127.0.0.1", "True"],
  ["https://localhost", "other.test, localhost"],
])("the certificate of %s is not checked where the connection says so: insecureTls %s", async (origin, insecureTls) => {
  environment({});
  const service = await secureService();
  const client = clientOf({ baseUrl: `${origin}:${service.port}` }, {}, { insecureTls });
  expect(await client.get("r1")).toMatchObject({ ruleId: "r1" });
});

test("nor that of a host that is named, behind a proxy", async () => {
  const service = await secureService();
  environment({ HTTPS_PROXY: (await proxyTo(service.port)).url });
  const client = clientOf({ baseUrl: "https://other.test" }, {}, { insecureTls: "other.test" });
  expect(await client.get("r1")).toMatchObject({ ruleId: "r1" });
});

test("a certificate for another name is refused", async () => {
  environment({});
  tls.setDefaultCACertificates([certificate.cert]);
  const service = await secureService();
  const error = await failureOf(clientOf({ baseUrl: `https://127.0.0.1:${service.port}` }).get("r1"));
  expect(error.message).toContain("is not trusted (ERR_TLS_CERT_ALTNAME_INVALID)");
  expect(service.asked).toHaveLength(0);
});

test("a trusted certificate is enough for https on loopback", async () => {
  environment({});
  tls.setDefaultCACertificates([certificate.cert]);
  const service = await secureService();
  expect(await clientOf({ baseUrl: `https://localhost:${service.port}` }).get("r1")).toMatchObject({ ruleId: "r1" });
});
