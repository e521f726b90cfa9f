import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type LocalServiceOptions, startLocalService } from "../../../local/service/index.ts";
import { type ContractInput, defineContract, expand, loadPreset } from "../../../sdk/contract/index.ts";
import { newFolder } from "../../support/folder.ts";
import { attempt, call, fieldOfEach, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";
const merchants = [
  { name: "acme", token: "token-acme" },
  { name: "globex", token: "token-globex" },
];
const acme = { token: "token-acme" };
const globex = { token: "token-globex" };

describe("who am I", () => {
  const identity = { path: "/me", query: { v: "1" }, headers: { "x-version": "2" }, at: "/account/id" };
  const asking = (auth: ContractInput["auth"] = {}) => defineContract({ version: 1, auth: { identity, ...auth } });
  const headers = { "x-version": "2" };

  test("is answered with the merchant's name alone, where the contract says", async () => {
    const service = await serve({ contract: asking() });
    const answer = await call(service, "GET", "/me?v=1", { headers });
    expect([answer.status, answer.text]).toEqual([200, '{"account":{"id":"merchant"}}']);
    expect(service.requests).toMatchObject([{ operation: "identity", path: "/me", status: 200 }]);
    expect(service.requestCount("identity")).toBe(1);
  });

  test("may be the whole answer, with a status of its own", async () => {
    const service = await serve({ contract: asking({ identity: { path: "/me", at: "", success: [203] } }) });
    const answer = await call(service, "GET", "/me");
    expect([answer.status, answer.text]).toEqual([203, '"merchant"']);
  });

  test("is for who has credentials, and asks as the contract does", async () => {
    const service = await serve({ contract: asking() });
    const statuses = [
      await call(service, "GET", "/me?v=1", { headers, token: null }),
      await call(service, "GET", "/me?v=1", { headers, token: "other" }),
      await call(service, "GET", "/me?v=2", { headers }),
      await call(service, "GET", "/me?v=1"),
      await call(service, "POST", "/me?v=1", { headers }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 400, 400, 405]);
  });

  test("is hit by faults", async () => {
    const service = await serve({ contract: asking() });
    service.faults.set([
      { kind: "status", status: 503, operations: ["identity"] },
      { kind: "not-json", operations: ["get"] },
    ]);
    expect((await attempt(service, "GET", "/me?v=1", { headers })).status).toBe(503);
    expect((await attempt(service, "GET", "/me?v=1", { headers })).status).toBe(200);
    expect(service.faults.injected).toMatchObject([{ operation: "identity", path: "/me" }]);
  });

  test("is not there where the contract has no such operation", async () => {
    expect((await call(await serve({ contract }), "GET", "/me")).status).toBe(404);
  });

  test("tells merchants apart by their tokens; a minted token is the first merchant's", async () => {
    const { token } = contract.auth;
    const service = await serve({ contract: { ...contract, auth: { ...asking().auth, token } }, merchants });
    const credentials = { clientId: "local-client", clientSecret: "local-secret" };
    const fields = Object.entries(token?.fields ?? {});
    const body = Object.fromEntries(fields.map(([name, value]) => [name, expand(value, credentials)]));
    const minted = textAt(
      await call(service, "POST", token?.path ?? "", { token: null, body }),
      token?.accessToken ?? "",
    );
    const names: unknown[] = [];
    for (const presented of ["token-acme", "token-globex", minted])
      names.push((await call(service, "GET", "/me?v=1", { headers, token: presented })).at("/account/id"));
    expect(names).toEqual(["acme", "globex", "acme"]);
    expect((await call(service, "GET", "/me?v=1", { headers })).status).toBe(401);
  });
});

describe("several merchants", () => {
  const opened = (options: Partial<LocalServiceOptions> = {}) => serve({ contract, merchants, ...options });

  test("have rules, natural keys and idempotency keys of their own", async () => {
    const service = await opened();
    const sent = { headers: { "idempotency-key": "k" }, body: { name: "a" } };
    const first = await call(service, "POST", rules, { ...sent, ...acme });
    const second = await call(service, "POST", rules, { ...sent, ...globex });
    expect([first.status, second.status, second.headers.has("idempotency-replayed")]).toEqual([201, 201, false]);
    const [a, b] = [textAt(first, "/id"), textAt(second, "/id")];
    expect(fieldOfEach(await call(service, "GET", rules, acme), "/rules", "id")).toEqual([a]);
    expect((await call(service, "GET", `${rules}/${a}`, globex)).status).toBe(404);
    expect((await call(service, "DELETE", `${rules}?ruleId=${a}`, globex)).status).toBe(404);
    expect(service.of("globex").rules()).toEqual([{ ruleId: b, rule: { name: "a" } }]);
    expect([service.rules(), service.rows()]).toEqual([service.of("acme").rules(), service.of("acme").rows()]);
    expect(service.rules()).toEqual([{ ruleId: a, rule: { name: "a" } }]);
  });

  test("have both a rule 1, where ids are counted", async () => {
    const service = await opened({ ruleIds: "sequential" });
    const create = async (name: string, token: { token: string }) =>
      textAt(await call(service, "POST", rules, { body: { name }, ...token }), "/id");
    expect([await create("a", acme), await create("b", acme), await create("a", globex)]).toEqual(["1", "2", "1"]);
    expect((await call(service, "DELETE", `${rules}?ruleId=1`, globex)).status).toBe(200);
    expect((await call(service, "GET", `${rules}/1`, acme)).status).toBe(200);
    expect((await call(service, "GET", `${rules}/1`, globex)).status).toBe(404);
  });

  test("are edited by hand one by one", async () => {
    const service = await opened();
    const id = service.of("globex").put("g", { name: "g" });
    expect([service.rules(), service.remove(id), service.of("globex").remove(id)]).toEqual([[], false, true]);
    expect(() => service.of("initech")).toThrow(new TypeError('no merchant "initech"; allowed: acme, globex'));
  });

  test("are hit by faults with their own rules", async () => {
    const service = await opened();
    service.faults.set({ kind: "stale-list", writesBehind: 1 });
    service.of("globex").put("g", { name: "g" });
    service.put("a", { name: "a" });
    service.put("b", { name: "b" });
    expect(fieldOfEach(await call(service, "GET", rules, globex), "/rules", "id")).toEqual([]);
    expect(fieldOfEach(await call(service, "GET", rules, acme), "/rules", "id")).toEqual(["a"]);
    service.faults.set({ kind: "late-get" });
    service.put("g", { name: "g" });
    expect((await call(service, "GET", `${rules}/g`, globex)).status).toBe(404);
    expect((await call(service, "GET", `${rules}/g`, globex)).status).toBe(200);
    expect((await call(service, "GET", `${rules}/g`, acme)).status).toBe(404);
  });

  test("keep their rules in files of their own, and go on counting there", async () => {
    const folder = newFolder();
    const options = { contract, merchants, ruleIds: "sequential", dataFile: join(folder, "rules.db") } as const;
    const first = await startLocalService(options);
    for (const name of ["a", "b"]) first.of("globex").put(undefined, { name });
    first.of("globex").remove("2");
    await first.close();
    expect(readdirSync(folder).sort()).toEqual(["rules.db", "rules.globex.db"]);
    const second = await serve(options);
    expect([second.rules(), second.of("globex").rules()]).toEqual([[], [{ ruleId: "1", rule: { name: "a" } }]]);
    expect(second.of("globex").put(undefined, { name: "c" })).toBe("3");
    await second.close();
  });

  test.each([
    [[], "found no merchant"],
    [[{ name: "", token: "t" }], "found an empty name"],
    [[{ name: "a", token: "" }], "found an empty token"],
    [[merchants[0], merchants[0]], "found two merchants with one name"],
    [[merchants[0], { name: "b", token: "token-acme" }], "found two merchants with one token"],
  ])("%j are refused", async (given, reason) => {
    const named = given.flatMap((merchant) => merchant ?? []);
    const refused = startLocalService({ contract, merchants: named });
    await expect(refused).rejects.toMatchObject({ code: "SETTINGS_INVALID" });
    await expect(refused).rejects.toThrow(reason);
    await expect(refused).rejects.not.toThrow("token-acme");
  });
});
