import { expect, onTestFinished, test } from "vitest";
import type { FrontRequest, Misbehaviour } from "../../support/stack/front.ts";
import { byPath, byQuery, deletesByPath, deletesByQuery, listed, type ProbedPlace, place } from "./place.ts";

const others = ({ service }: ProbedPlace) => service.rules().filter(({ ruleId }) => ruleId.startsWith("other-"));
const own = ({ service }: ProbedPlace) => service.rules().filter(({ ruleId }) => !ruleId.startsWith("other-"));
const writes = (requests: readonly FrontRequest[]) => requests.filter(({ method }) => method !== "GET");
const deletes = (requests: readonly FrontRequest[]) => requests.filter(({ method }) => method === "DELETE");
const reasonOf = (probed: Awaited<ReturnType<ProbedPlace["probe"]>>) => probed.stopped?.reason ?? "";

/** Deletes everything on a delete whose query it does not know, with 200. */
const deletesAll =
  (at: ProbedPlace): Misbehaviour =>
  (request, pass) => {
    if (request.method !== "DELETE" || !/\?|rules$/.test(request.path)) return pass();
    for (const { ruleId } of at.service.rules()) at.service.remove(ruleId);
    return { status: 200, body: {} };
  };

test("a place with rules is not probed without a word, and a place without a list only where all may go", async () => {
  const at = await place(deletesByQuery, { others: 2 });
  expect(reasonOf(await at.probe())).toBe("2 rules are there already");
  expect(reasonOf(await at.probe({ list: undefined }))).toContain("there is no list");
  expect(writes(at.front.taken())).toEqual([]);
});

test("a delete that does not name its rule in the path is not tried while other rules are there", async () => {
  const at = await place(deletesByQuery, { others: 3 });
  at.front.behave(deletesAll(at));
  const probed = await at.probe({ allowExisting: true });
  expect(probed.stopped).toBeUndefined();
  expect(deletes(at.front.taken())).toEqual([]);
  expect(others(at)).toHaveLength(3);
  expect(probed.gaps.map(({ at }) => at)).toContain("/operations/delete/identifyBy");
  // What it made is named, by its id.
  expect(own(at).every(({ ruleId }) => probed.left.some((line) => line.includes(ruleId)))).toBe(true);
  expect(probed.left).toHaveLength(own(at).length);
});

test("a delete that is given is tried beside the contract's, by path first, and what was not tried is said", async () => {
  const at = await place(deletesByQuery);
  const probed = await at.probe({ delete: [byPath] });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  const [first, second] = deletes(at.front.taken());
  expect([first?.path, second?.path]).toEqual([
    expect.stringMatching(/rules\/\w+$/),
    expect.stringMatching(/rules\?ruleId=\w+$/),
  ]);
  expect(probed.facts.find(({ at: field }) => field === "/operations/delete/identifyBy")?.value).toEqual({
    in: "query",
    name: "ruleId",
  });
  const said: string[] = [];
  const other = await place(deletesByPath);
  await other.probe({ delete: [byPath] }, { say: (line) => said.push(line) });
  expect(said).toContain("DELETE /api/v1/merchants/rules is not tried, because a way to delete is proven");
});

test("the contract's delete is left alone where the rules that are probed stand at another path", async () => {
  const path = "/v2/rules";
  const at = await place({
    version: 1,
    operations: {
      create: { path },
      get: { path: `${path}/{ruleId}` },
      delete: { path, identifyBy: { in: "query", name: "ruleId" } },
      list: { path, items: "/rules", lagMs: 0 },
    },
  });
  const requestTo = (method: string, to: string) => ({ method, path: to, query: {} });
  const elsewhere = {
    create: requestTo("POST", path),
    get: requestTo("GET", `${path}/{ruleId}`),
    list: requestTo("GET", path),
  };
  const probed = await at.probe({ ...elsewhere, delete: [requestTo("DELETE", `${path}/{ruleId}`)] });
  expect(deletes(at.front.taken()).every((request) => request.path.startsWith(path))).toBe(true);
  expect(probed.gaps.find(({ at: field }) => field === "/operations/delete/identifyBy")?.why).toContain(
    "DELETE /api/v1/merchants/rules of the contract was not tried, because --create gives another path",
  );
  expect(await at.probe({ ...elsewhere, delete: [requestTo("DELETE", path)], allowExisting: true })).toMatchObject({
    left: [expect.any(String), expect.any(String)],
  });
});

test("a rule that goes later than its delete is answered ends the probe, and a longer wait finds the way", async () => {
  const at = await place(deletesByPath);
  const timers: NodeJS.Timeout[] = [];
  onTestFinished(() => timers.forEach(clearTimeout));
  at.front.behave(async (request, pass) => {
    if (request.method !== "DELETE") return pass();
    timers.push(setTimeout(() => at.service.remove(request.path.replace(/.*\//, "")), 400));
    return { status: 200, body: {} };
  });
  const probed = await at.probe({ delete: [byPath, byQuery] }, { waitMs: 60 });
  expect(probed.stopped?.advice).toMatch(/run it again with --wait 30,/);
  expect(probed.facts.some(({ at: field }) => field.startsWith("/operations/delete"))).toBe(false);
  const again = await at.probe(
    { delete: [byPath, byQuery], leftover: own(at).map(({ ruleId }) => ruleId) },
    { waitMs: 3000 },
  );
  expect([again.stopped, again.left, own(at)]).toEqual([undefined, [], []]);
});

test("a rule that is named as left over is deleted only where a probe may have made it", async () => {
  const at = await place(deletesByPath, { others: 1 });
  const probed = await at.probe({ delete: [byPath], leftover: ["other-1", "gone"], allowExisting: true });
  expect([probed.left, others(at).length]).toEqual([[expect.stringMatching(/^rule "other-1": it is not deleted/)], 1]);
});

test("a delete by path comes first, and where it works nothing else is tried", async () => {
  const at = await place(deletesByPath, { others: 3 });
  at.front.behave(deletesAll(at));
  const probed = await at.probe({ allowExisting: true, delete: [byQuery, byPath] });
  expect(probed).toMatchObject({ stopped: undefined, left: [] });
  expect(deletes(at.front.taken()).every(({ path }) => /rules\/[^/?]+$/.test(path))).toBe(true);
  expect([others(at).length, own(at).length]).toEqual([3, 0]);
});

test("a service that deletes everything on an unknown query loses the two rules of the probe, and is asked no more", async () => {
  const at = await place(deletesByQuery);
  at.front.behave(deletesAll(at));
  const probed = await at.probe();
  expect(reasonOf(probed)).toMatch(/another rule, .* is gone/);
  expect(deletes(at.front.taken())).toHaveLength(1);
  expect(probed.left).toEqual([]);
  expect(probed.facts.some(({ at: field }) => field.startsWith("/operations/delete"))).toBe(false);
});

test("where the user said that everything may go, the first delete that takes more than one rule is the last", async () => {
  const at = await place(deletesByQuery, { others: 3 });
  at.front.behave(deletesAll(at));
  const probed = await at.probe({ mayEmpty: true });
  expect(reasonOf(probed)).toContain("the service has 3 rules that the probe did not make, and 3 of them are gone");
  expect(deletes(at.front.taken())).toHaveLength(1);
});

test("a service that deletes a neighbour is stopped at the first one", async () => {
  const at = await place(deletesByPath, { others: 4 });
  at.front.behave((request, pass) => {
    if (request.method !== "DELETE") return pass();
    const [neighbour] = others(at);
    at.service.remove(neighbour?.ruleId ?? "");
    return { status: 200, body: {} };
  });
  const probed = await at.probe({ allowExisting: true, delete: [byPath, byQuery] });
  expect(reasonOf(probed)).toContain("4 rules that the probe did not make, and 1 of them are gone");
  expect(deletes(at.front.taken())).toHaveLength(1);
  expect(others(at)).toHaveLength(3);
  expect(probed.left).toHaveLength(own(at).length);
});

test("a delete that is answered with success and deletes nothing is seen", async () => {
  const at = await place(deletesByPath, { others: 1 });
  at.front.behave((request, pass) => (request.method === "DELETE" ? { status: 200, body: { deleted: true } } : pass()));
  const probed = await at.probe({ allowExisting: true, delete: [byPath] });
  const [gap] = probed.gaps.filter(({ at }) => at === "/operations/delete/identifyBy");
  expect(gap?.why).toMatch(/→ 200, but the rule is still there/);
  expect(probed.left).toHaveLength(2);
  expect(own(at)).toHaveLength(2);
});

test("a create that is answered with success and makes nothing is seen, and nothing is deleted", async () => {
  const at = await place(deletesByPath, { others: 1 });
  at.front.behave((request, pass) =>
    request.method === "POST" ? { status: 201, body: { ruleId: "made-up", ...Object(request.body) } } : pass(),
  );
  const probed = await at.probe({ allowExisting: true, delete: [byPath] });
  expect(reasonOf(probed)).toContain("none of /ruleId");
  expect(probed.left).toEqual([expect.stringMatching(/a rule by the name "rule-1-\w+" may be there/)]);
  expect(deletes(at.front.taken())).toEqual([]);
});

test.each<[string, Misbehaviour, string, number]>([
  ["answers 200 and {} to everything", () => ({ status: 200, body: {} }), "has no array of objects", 0],
  [
    "answers 200 and the same rule to everything",
    () => ({ status: 200, body: { ruleId: "7", name: "rule-1", rules: [] } }),
    "is an id by which the rule is shown",
    1,
  ],
  [
    "repeats what it was sent, whatever it is asked",
    ((sent: { body?: FrontRequest["body"] }) => (request: FrontRequest) => {
      if (request.method === "POST") sent.body = request.body;
      return request.path.endsWith("rules") && request.method === "GET"
        ? { status: 200, body: { rules: [] } }
        : { status: request.method === "POST" ? 201 : 200, body: { ruleId: "7", ...Object(sent.body) } };
    })({}),
    "for an id that does not exist, too",
    1,
  ],
  ["answers pages in HTML", () => ({ status: 200, body: undefined, html: "<p>Welcome</p>" }), "is not JSON", 0],
  [
    "answers errors in HTML",
    () => ({ status: 404, body: undefined, html: "<p>No</p>" }),
    "GET /api/v1/merchants/rules → 404",
    0,
  ],
  [
    "redirects",
    () => ({ status: 302, body: undefined, headers: { location: "https://elsewhere.example/" } }),
    "the service answered 302",
    0,
  ],
  [
    "refuses the definition",
    (request, pass) =>
      request.method === "POST" ? { status: 422, body: { error: { code: "BAD", message: "no such field" } } } : pass(),
    "the service refuses the definition: POST /api/v1/merchants/rules → 422 (BAD: no such field)",
    1,
  ],
])("a service that %s is left alone with a sentence", async (_, behave, reason, sent) => {
  const at = await place(deletesByQuery);
  at.front.behave(behave);
  const probed = await at.probe({ delete: [byPath, byQuery] });
  expect(reasonOf(probed)).toContain(reason);
  expect(writes(at.front.taken())).toHaveLength(sent);
  expect(at.service.rules()).toEqual([]);
});

test("where nothing answers, that is said", async () => {
  const at = await place(deletesByQuery);
  await at.front.close();
  expect(reasonOf(await at.probe())).toContain("cannot connect");
});

test("a create whose answer is lost is named, because the rule may be there", async () => {
  const at = await place(deletesByQuery);
  at.front.behave(async (request, pass) => {
    const answer = await pass();
    if (request.method === "POST") throw new Error("lost");
    return answer;
  });
  const probed = await at.probe();
  expect(probed.left).toEqual([expect.stringMatching(/a rule by the name "rule-1-\w+" may be there/)]);
  expect(at.service.rules()).toHaveLength(1);
});

test("a list whose next page is at another path is not followed", async () => {
  const at = await place(deletesByQuery, { others: 1 });
  at.front.behave(async (request, pass) => {
    const answer = await pass();
    return request.path.startsWith(listed.path) && request.method === "GET"
      ? { ...answer, headers: { link: '</api/v1/other?page=2>; rel="next"' } }
      : answer;
  });
  const probed = await at.probe({ allowExisting: true });
  expect(reasonOf(probed)).toContain("the list goes on");
  expect(at.front.taken().filter(({ path }) => path.includes("other?"))).toEqual([]);
});

test("an interrupt ends the tries, and what was made is deleted all the same", async () => {
  const at = await place(deletesByPath);
  const interrupt = new AbortController();
  const probed = await at.probe(
    { delete: [byPath] },
    {
      signal: interrupt.signal,
      say: (line) => line.startsWith("found operations.delete.identifyBy") && interrupt.abort(),
    },
  );
  expect(reasonOf(probed)).toContain("it was interrupted");
  expect([probed.left, own(at)]).toEqual([[], []]);
});

test("a rule that somebody makes meanwhile keeps a delete that does not name its rule in the path from being tried", async () => {
  const at = await place(deletesByQuery);
  const probed = await at.probe(
    {},
    {
      say: (line) => line.startsWith("found operations.list.pagination") && at.service.put("other-1", { name: "new" }),
    },
  );
  expect(deletes(at.front.taken())).toEqual([]);
  expect(others(at)).toHaveLength(1);
  expect(probed.gaps.find(({ at }) => at === "/operations/delete/identifyBy")?.why).toContain("was not tried");
});
