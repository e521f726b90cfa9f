import { describe, expect, test } from "vitest";
import { defineContract, loadPreset } from "../../../sdk/contract/index.ts";
import { call, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";
const token = "/api/v1/auth/token";
const client = { client_id: "local-client", client_secret: "local-secret" };

describe("a token", () => {
  test("is minted for the client and accepted until it expires", async () => {
    let now = Date.now();
    const service = await serve({ contract, tokenLifeSeconds: 60, now: () => now });
    const minted = await call(service, "POST", token, { body: client, token: null });
    expect([minted.status, minted.at("/expires_in"), minted.at("/token_type")]).toEqual([200, 60, "Bearer"]);
    const accepted = async () => (await call(service, "GET", rules, { token: textAt(minted, "/access_token") })).status;
    expect(await accepted()).toBe(200);
    now += 59_999;
    expect(await accepted()).toBe(200);
    now += 1;
    expect(await accepted()).toBe(401);
    expect(service.requestCount("token")).toBe(1);
  });

  test("is refused when it is missing, unknown or presented otherwise", async () => {
    const service = await serve({ contract });
    for (const authorization of [
      undefined,
      "Bearer wrong",
      "Bearer ",
      "bearer local-token",
      "Basic local-token",
      "local-token",
    ]) {
      const refused = await call(service, "GET", rules, {
        token: null,
        headers: authorization === undefined ? {} : { authorization },
      });
      expect([authorization, refused.status, refused.at("/error/code")]).toEqual([
        authorization,
        401,
        "UNAUTHENTICATED",
      ]);
      expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  test("is not minted for other credentials, fields or content types", async () => {
    const service = await serve({ contract });
    const ask = async (body: string, headers = {}) => {
      const refused = await call(service, "POST", token, { body, headers, token: null });
      return [refused.status, refused.at("/error/code")];
    };
    expect(await ask(JSON.stringify({ ...client, client_secret: "wrong" }))).toEqual([401, "INVALID_CLIENT"]);
    expect(await ask(JSON.stringify({ ...client, client_id: "wrong" }))).toEqual([401, "INVALID_CLIENT"]);
    expect(await ask(JSON.stringify({ client_id: "local-client" }))).toEqual([400, "BAD_REQUEST"]);
    expect(await ask(JSON.stringify({ ...client, scope: "all" }))).toEqual([400, "BAD_REQUEST"]);
    expect(await ask("grant_type=x", { "content-type": "application/x-www-form-urlencoded" })).toEqual([
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ]);
  });
});

test("credentials of the caller's choice replace the local ones", async () => {
  const credentials = { clientId: "a", clientSecret: "{b}", token: "c" };
  const service = await serve({ contract, credentials });
  expect((await call(service, "POST", token, { body: { client_id: "a", client_secret: "{b}" } })).status).toBe(200);
  expect((await call(service, "GET", rules, { token: "c" })).status).toBe(200);
  expect((await call(service, "GET", rules)).status).toBe(401);
});

test("a contract that presents nothing is open; one without token operation has none", async () => {
  const open = await serve({ contract: defineContract({ version: 1, auth: { present: null } }) });
  expect((await call(open, "POST", rules, { body: {}, token: null })).status).toBe(201);
  const fixed = await serve({
    contract: defineContract({ version: 1, auth: { present: { name: "X-Api-Key", format: "key={token}" } } }),
  });
  expect(
    (await call(fixed, "POST", rules, { body: {}, token: null, headers: { "x-api-key": "key=local-token" } })).status,
  ).toBe(201);
  expect((await call(fixed, "POST", rules, { body: {} })).status).toBe(401);
  expect((await call(fixed, "POST", token, { body: client })).status).toBe(404);
});
