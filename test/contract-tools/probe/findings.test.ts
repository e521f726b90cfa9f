import { expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { isJsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import type { FrontAnswer } from "../../support/stack/front.ts";
import { byPath, deletesByPath, deletesByQuery, type ProbedPlace, place } from "./place.ts";

const path = "/api/v1/merchants/rules";
const byId = { method: "PUT", path: `${path}/{ruleId}`, query: {} };
const factsOf = ({ facts }: Awaited<ReturnType<ProbedPlace["probe"]>>) =>
  Object.fromEntries(facts.map(({ at, value }) => [at, value]));
const gapsOf = ({ gaps }: Awaited<ReturnType<ProbedPlace["probe"]>>) =>
  Object.fromEntries(gaps.map(({ at, why }) => [at, why]));

test("what a service adds, stores in another form, keeps unique and repeats is found, each with its evidence", async () => {
  const rich: ContractInput = {
    version: 1,
    operations: {
      delete: { path: byPath.path, identifyBy: { in: "path" } },
      update: { path: byId.path, version: { etag: true } },
      list: { path, items: "/rules", lagMs: 0, summaries: true },
    },
    rule: {
      naturalKey: "/name",
      gone: [{ at: "/state", is: ["deleted"] }],
      forms: [
        { at: "/conditions/*/value", is: "decimal" },
        { at: "/isActive", default: true },
      ],
    },
    idempotency: { header: "Idempotency-Key" },
  };
  const at = await place(rich);
  const { isActive: _, ...definition } = rule(1);
  const probed = await at.probe({ definition, delete: [byPath], update: [byId] });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(factsOf(probed)).toMatchObject({
    "/rule/naturalKey": "/name",
    "/rule/gone": [{ at: "/state", is: ["deleted"] }],
    "/rule/forms": expect.arrayContaining([{ at: "/conditions/*/value", is: "decimal" }]),
    "/rule/readOnly": expect.arrayContaining(["/createdAt", "/updatedAt"]),
    "/rule/owner": { at: "/metadata/managedBy" },
    "/errors/exists": [{ status: 409, code: "RULE_EXISTS" }],
    "/errors/code": "/error/code",
    "/errors/message": "/error/message",
    "/idempotency": { header: "Idempotency-Key" },
    "/operations/update/version": { etag: true },
    "/operations/update/body": "merged",
    "/operations/update/removal": "omit",
    "/operations/list/summaries": true,
    "/operations/list/lagMs": 0,
    "/operations/get/lagMs": 0,
  });
  expect(probed.facts.every(({ source }) => source.length > 20)).toBe(true);
});

test("an update of a service that does not take the whole rule back sends what is declared", async () => {
  const at = await place({
    ...deletesByPath,
    operations: { ...deletesByPath.operations, update: { path: byId.path } },
  });
  let updates = 0;
  at.front.behave((request, pass) => {
    if (request.method === "PUT") updates += 1;
    return request.method === "PUT" && updates === 2 ? { status: 422, body: {} } : pass();
  });
  const probed = await at.probe({ delete: [byPath], update: [byId] });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(factsOf(probed)["/operations/update/body"]).toBe("declared");
});

test.each([null, "none"] as const)("how an update removes a field is found: by %s", async (removal) => {
  const update = { path: byId.path, method: "PATCH", body: "changes", removal } as const;
  const at = await place({ ...deletesByPath, operations: { ...deletesByPath.operations, update } });
  if (removal === "none")
    at.front.behave((request, pass) => {
      const body = isJsonObject(request.body) ? request.body : {};
      const given = Object.entries(body).filter(([, value]) => value !== null);
      return request.method === "PATCH" ? pass({ body: Object.fromEntries(given) }) : pass();
    });
  const probed = await at.probe({ delete: [byPath], update: [{ ...byId, method: "PATCH" }] });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(factsOf(probed)).toMatchObject({
    "/operations/update/removal": removal,
    "/operations/update/body": "changes",
  });
  expect(factsOf(probed)["/rule/readOnly"]).toEqual(["/createdAt", "/updatedAt"]);
});

test("what is not so is a gap, with why", async () => {
  const at = await place(deletesByPath, { allowDuplicates: true });
  at.front.behave(async (request, pass) => {
    const mark = request.method === "POST" ? Object(request.body).metadata?.managedBy : undefined;
    if (typeof mark !== "string") return pass();
    return pass({ body: { ...Object(request.body), metadata: { managedBy: mark.slice(0, 64) } } });
  });
  const gaps = gapsOf(await at.probe({ delete: [byPath] }));
  expect(gaps["/rule/naturalKey"]).toContain("a second rule by the same name at /name was made");
  expect(gaps["/rule/owner"]).toContain("kept in another form (64 characters of 200)");
  expect(gaps["/idempotency"]).toContain("to the second of two creates with one key");
  expect(gaps["/operations/create/identifyBy"]).toContain("to a create with an id in the body as ruleId");
});

test("a field that is shown masked is write-only, and one that is not shown may be", async () => {
  const at = await place({ ...deletesByPath, rule: { writeOnly: ["/apiKey", "/pin"] } });
  at.front.behave(async (_, pass) => {
    const answer = await pass();
    return isJsonObject(answer.body) && "priority" in answer.body
      ? { ...answer, body: { ...answer.body, apiKey: "***" } }
      : answer;
  });
  const definition = rule(1, { apiKey: "hush", pin: "1234" });
  const probed = await at.probe({ definition, delete: [byPath] });
  expect(factsOf(probed)["/rule/writeOnly"]).toEqual(["/apiKey"]);
  expect(gapsOf(probed)["/rule/forms/pin"]).toContain("name it in rule.writeOnly");
});

test("a list that lags is waited for, and its lag is measured", async () => {
  const at = await place(deletesByPath);
  // The first reading after a write shows what was before.
  let [isStale, shown]: [boolean, FrontAnswer["body"]] = [false, { rules: [] }];
  at.front.behave(async (request, pass) => {
    const answer = await pass();
    if (request.method !== "GET") isStale = true;
    if (request.method !== "GET" || !/rules(\?|$)/.test(request.path)) return answer;
    const body = isStale ? shown : answer.body;
    [isStale, shown] = [false, answer.body];
    return { ...answer, body };
  });
  const probed = await at.probe({ delete: [byPath] }, { waitMs: 300 });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(factsOf(probed)["/operations/list/lagMs"]).toBeGreaterThan(0);
});

test("a GET that lags is waited for, and its lag is measured apart from the list's", async () => {
  const { operations } = deletesByPath;
  const at = await place({ ...deletesByPath, operations: { ...operations, update: { path: byId.path } } });
  // The first GET of a rule after each write shows what was before.
  const shown = new Map<string, FrontAnswer>();
  const fresh = new Set<string>();
  at.front.behave(async (request, pass) => {
    const answer = await pass();
    if (request.method !== "GET") fresh.clear();
    if (request.method !== "GET" || /rules(\?|$)/.test(request.path)) return answer;
    const before = shown.get(request.path) ?? { status: 404, body: {} };
    const isStale = !fresh.has(request.path);
    fresh.add(request.path);
    shown.set(request.path, answer);
    return isStale ? before : answer;
  });
  const probed = await at.probe({ delete: [byPath], update: [byId] }, { waitMs: 300 });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(factsOf(probed)).toMatchObject({ "/operations/list/lagMs": 0, "/operations/update/body": "merged" });
  expect(factsOf(probed)["/operations/get/lagMs"]).toBeGreaterThan(0);
});

test("an update that is answered with success and changes nothing is seen", async () => {
  const at = await place({
    ...deletesByPath,
    operations: { ...deletesByPath.operations, update: { path: byId.path } },
  });
  at.front.behave((request, pass) => (request.method === "PUT" ? { status: 200, body: request.body } : pass()));
  const probed = await at.probe({ delete: [byPath], update: [byId] });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(gapsOf(probed)["/operations/update"]).toMatch(/→ 200, but the rule is as before/);
});

test("where everything may go a list that cannot be read is left out, and the rest is found", async () => {
  const at = await place(deletesByQuery);
  at.front.behave((request, pass) =>
    request.method === "GET" && /rules(\?|$)/.test(request.path)
      ? { status: 200, body: undefined, html: "<p>" }
      : pass(),
  );
  const probed = await at.probe({ mayEmpty: true });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(factsOf(probed)["/operations/delete/identifyBy"]).toEqual({ in: "query", name: "ruleId" });
  expect(gapsOf(probed)["/operations/list"]).toContain("is not JSON");
});
