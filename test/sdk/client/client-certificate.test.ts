import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { newFile, newFolder } from "../../support/folder.ts";
import { clientOf, failureOf, serve } from "./scripted-server.ts";

const fileAt = (name: string): string => fileURLToPath(new URL(`certificate/${name}`, import.meta.url));
const [certificate, key] = [fileAt("certificate.pem"), fileAt("key.pem")];
const own = { cert: readFileSync(certificate), key: readFileSync(key) };
const keyOf = (options: { cipher?: string; passphrase?: string } = {}): string =>
  generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem", ...options },
  }).privateKey;

/** A service that talks to nobody without a certificate that it knows, and whom it has talked to. */
async function demandingService(answer: object = { id: "r1" }, options: SecureContextOptions = {}) {
  const seen: string[] = [];
  const server = createServer({ ...own, ca: own.cert, requestCert: true, ...options }, (request, response) => {
    seen.push(String((request.socket as TLSSocket).getPeerCertificate().fingerprint256));
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `https://localhost:${(server.address() as AddressInfo).port}`, seen };
}

const insecureTls = "localhost";

test("a client certificate is presented to the service, and to a token operation at another host", async () => {
  const [rules, tokens] = [await demandingService(), await demandingService({ access_token: "t1" })];
  const token = { path: "/token", baseUrl: tokens.baseUrl, fields: { id: "{clientId}" } };
  const credentials = { kind: "client", clientId: "me", clientSecret: "s" } as const;
  const client = clientOf(
    rules,
    { auth: { token } },
    { credentials, insecureTls, clientCertificate: { certificate, key } },
  );
  expect(await client.get("r1")).toMatchObject({ ruleId: "r1" });
  expect([rules.seen, tokens.seen].map(({ length }) => length)).toEqual([1, 1]);
});

test("a service that wants a certificate gets no request without one", async () => {
  const service = await demandingService();
  const error = await failureOf(clientOf(service, { limits: { maxAttempts: 1 } }, { insecureTls }).get("r1"));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED" });
  expect(service.seen).toEqual([]);
});

test("a service that refuses the handshake in so many words is not tried again, and the settings of a certificate are named", async () => {
  // No cipher fits: another alert than that of a lacking certificate, which a closed socket may outrun.
  const service = await demandingService({}, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" });
  const error = await failureOf(clientOf(service, {}, { insecureTls }).create({}));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", retryable: false, outcomeUnknown: false });
  expect(error.message).toMatch(/refused the TLS connection \(ERR_SSL_.*clientCertificate and clientKey/);
});

const noPem = newFile("hunter2.pem", "hunter2");

test.each<[what: string, given: { certificate: string; key: string }, says: string]>([
  [
    "a key that is not there",
    { certificate, key: `${newFolder()}/hunter2` },
    "the file of clientKey cannot be read (ENOENT)",
  ],
  [
    "a certificate that is a folder",
    { certificate: newFolder(), key },
    "the file of clientCertificate cannot be read (EISDIR)",
  ],
  ["a certificate that is none", { certificate: key, key }, "holds no certificate"],
  ["a key that is none", { certificate, key: noPem }, "holds no private key"],
  [
    "a key under a passphrase",
    { certificate, key: newFile("key.pem", keyOf({ cipher: "aes-256-cbc", passphrase: "hunter2" })) },
    "without a passphrase",
  ],
  ["a key of another certificate", { certificate, key: newFile("key.pem", keyOf()) }, "is not that of the certificate"],
])("%s is refused before anything is sent, and nothing of its content is printed", (_, clientCertificate, says) => {
  const make = () => clientOf({ baseUrl: "https://localhost:1" }, {}, { clientCertificate });
  expect(make).toThrow(says);
  expect(make).toThrow(
    /^present a client certificate failed: (?!.*(BEGIN [A-Z]|hunter2$)).*What to do: .*SETTINGS_INVALID/,
  );
});

test("an address without TLS is refused: nothing would present the certificate", async () => {
  const server = await serve([{}]);
  expect(() => clientOf(server, {}, { clientCertificate: { certificate, key } })).toThrow(
    /it is for https, and http:.*What to do: write the address as https/,
  );
});
