import { inspect } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Redactor } from "../../../sdk/client/redact.ts";
import { clientOf, cut, dropped, failureOf, serve, silent } from "./scripted-server.ts";

const secret = 'to/ken+"\\ä of 1';
const forms: [string, (text: string) => string][] = [
  ["plain", (text) => text],
  ["URL-encoded", encodeURIComponent],
  ["form-encoded", (text) => new URLSearchParams([["a", text]]).toString()],
  ["lower-case URL-encoded", (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase())],
  ["escaped as JSON", (text) => JSON.stringify(text)],
  ["escaped as JSON with \\/", (text) => JSON.stringify(text).replaceAll("/", "\\/")],
  ["Base64", (text) => Buffer.from(text).toString("base64")],
  ["Base64 for URLs", (text) => Buffer.from(text).toString("base64url")],
  ["hexadecimal", (text) => Buffer.from(text).toString("hex")],
];

test.each(forms)("a secret is taken out %s, within other text or not", (_, encode) => {
  const redactor = new Redactor();
  redactor.add(secret);
  for (const text of [secret, `Bearer ${secret}`, `x${secret}`, `shop:${secret}, and more`]) {
    const redacted = redactor.redact(`before ${encode(text)} after`);
    expect(redacted).toContain("[redacted]");
    for (const [, form] of forms) expect(redacted).not.toContain(form(secret).slice(4, -4));
    expect(redacted).toMatch(/^before .* after$/);
  }
});

test("what holds no secret stays as it is", () => {
  const redactor = new Redactor();
  redactor.add("s3cr3t-token");
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("s", "3", "c", "r", "-", " ") }), (text) => {
      fc.pre(!text.includes("s3cr3t"));
      expect(redactor.redact(text)).toBe(text);
    }),
  );
});

/** Whatever of an error could reach a log: all its fields, its causes, its stack. */
const shown = (error: unknown): string =>
  inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) + String(error);

test.each(forms)("a service that echoes the Authorization header %s is not echoed", async (_, encode) => {
  const token = "tok-hunter2/+=";
  const server = await serve(({ headers }) => {
    const echo = encode(String(headers.authorization));
    return {
      status: 422,
      json: { error: { code: echo, message: `bad header ${echo}` } },
      headers: { "x-request-id": encodeURIComponent(echo) },
    };
  });
  const error = await failureOf(clientOf(server, {}, { credentials: { kind: "token", token } }).get("r1"));
  expect(error.message).toContain("[redacted]");
  for (const [, form] of forms) expect(shown(error)).not.toContain(form(token));
  expect(shown(error)).not.toContain("hunter2");
});

test("a token that was obtained and a client secret are not echoed, in no failure", async () => {
  const clientSecret = "s3cret of mine";
  const token = "obtained-t0ken";
  const answers = [
    { status: 500, json: { error: { code: token, message: `${clientSecret} ${encodeURIComponent(clientSecret)}` } } },
    { status: 200, body: `Bearer ${token}` },
    { status: 200, body: `{"id":"${token}"}` },
    { status: 200, body: `{"id":"r1", "x": "${token}` },
    { status: 302, headers: { location: `https://other.example/?token=${token}` } },
    cut(200, `{"id":"${token}"`),
    dropped,
    silent,
    (response: import("node:http").ServerResponse) => void response.socket?.end(`HTTP/1.1 nonsense ${token}\r\n\r\n`),
  ];
  for (const answer of answers) {
    const server = await serve(({ target }) => (target === "/token" ? { json: { access_token: token } } : answer));
    const contract = {
      auth: { token: { path: "/token", fields: { s: "{clientSecret}" } } },
      limits: { maxAttempts: 1, attemptTimeoutMs: 100 },
      operations: { update: { path: "/rules/{ruleId}", body: "declared" } },
    } as const;
    const client = clientOf(server, contract, { credentials: { kind: "client", clientId: "shop", clientSecret } });
    for (const call of [() => client.get("r1"), () => client.create({}), () => client.update("r1", {})]) {
      const error = await failureOf(call());
      expect(shown(error)).not.toContain(token);
      expect(shown(error)).not.toContain("s3cret");
      expect(shown(error)).not.toContain(encodeURIComponent(clientSecret));
    }
  }
});

test("a token operation that echoes what it was sent is not echoed", async () => {
  const server = await serve(({ body }) => ({ status: 400, json: { error: { code: "bad", message: body } } }));
  const contract = { auth: { token: { path: "/token", encoding: "form", fields: { s: "{clientSecret}" } } } } as const;
  const client = clientOf(server, contract, {
    credentials: { kind: "client", clientId: "shop", clientSecret: "a secret/of mine" },
  });
  const error = await failureOf(client.get("r1"));
  expect(error.message).toContain("(code bad; s=[redacted])");
});

test("secret fields of a definition are not echoed", async () => {
  const server = await serve(({ body }) => ({ status: 422, json: { error: { message: `cannot take ${body}` } } }));
  const client = clientOf(server, {
    rule: { secret: ["/webhook/key", "/hooks/*/key"] },
    operations: { update: { path: "/rules/{ruleId}", body: "declared" } },
  });
  const definition = {
    name: "named",
    webhook: { key: "k-hidden-1" },
    hooks: [{ key: "k-hidden-2" }, { key: 123_456 }],
  };
  for (const call of [() => client.create(definition), () => client.update("r1", definition)]) {
    const error = await failureOf(call());
    expect(error.message).toContain("cannot take {");
    expect(shown(error)).not.toMatch(/hidden|123456/);
  }
});

test("control characters of a service do not reach a terminal", async () => {
  const server = await serve([
    { status: 422, json: { error: { code: "\u001b[31mred", message: "a\r\nb\u2028c\u202ed" } } },
  ]);
  const error = await failureOf(clientOf(server).get("r1"));
  expect(error.message).toContain("(code [31mred; a b c d)");
});

test("neither query nor headers nor bodies stand in an error", async () => {
  const server = await serve([{ status: 500 }]);
  const fixed = { query: { account: "{account}" }, headers: { "X-Account": "{account}" } };
  const contract = { parameters: { account: {} }, operations: { create: fixed }, limits: { maxAttempts: 1 } };
  const client = clientOf(server, contract, { parameters: { account: "acct-77" } });
  const error = await failureOf(client.create({ name: "in the body" }));
  expect(shown(error)).not.toMatch(/acct-77|in the body/);
});
