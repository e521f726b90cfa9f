import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { ServedRequest } from "../../../local/service/index.ts";
import { loadPreset } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { EngineModel } from "../../support/stack/engine-model.ts";
import { hooksHere, sessionOf } from "../../support/stack/hosts.ts";
import { TestProject } from "../../support/stack/project.ts";
import { serve } from "../../support/stack/service.ts";

const requestsPerSecond = 50;
const rulesEach = 10;
/** Runs of the local engine in processes of their own; the others are provider sessions in this process. */
const engineRuns = 4;
const programs = 50;

interface Timed extends ServedRequest {
  readonly atMs: number;
}

function rulesOf(program: number, count = rulesEach): JsonObject {
  const names = Array.from({ length: count }, (_, k) => `program-${program}-rule-${k}`);
  return Object.fromEntries(names.map((name, k) => [`k${k}`, rule(k, { name })]));
}

test("50 programs at once that know nothing of a service's rate limit are refused, all finish, and share it", async () => {
  const requests: Timed[] = [];
  const served = await serve(undefined, {
    requestsPerSecond,
    onRequest: (request) => requests.push({ ...request, atMs: performance.now() }),
  });
  const { service } = served;

  const sessions = Array.from({ length: programs - engineRuns }, async (_, program) => {
    const hooks = hooksHere("merchantRuleSet", sessionOf(served.environment));
    return await new EngineModel({ connects: false }).up(hooks, { set: { rules: rulesOf(program) } });
  });
  const runs = Array.from({ length: engineRuns }, async (_, n) => {
    const project = new TestProject(served.environment);
    onTestFinished(() => project.remove());
    project.declare({ set: { rules: rulesOf(programs - engineRuns + n) } });
    const { code, output } = await project.run("local", "up");
    return code === 0 ? [] : [output];
  });
  expect((await Promise.all([...sessions, ...runs])).flat()).toEqual([]);

  const names = service.rules().map(({ rule: { name } }) => String(name));
  const declared = Array.from({ length: programs }, (_, program) => Object.values(rulesOf(program))).flat();
  expect(names.toSorted()).toEqual(declared.map((each) => String(Object(each).name)).toSorted());

  const accepted = requests.filter(({ status }) => status !== 429);
  const refused = requests.length - accepted.length;
  // One look at the list and the creates: whoever was refused has not been served meanwhile.
  expect(accepted.filter(({ operation }) => operation === "create")).toHaveLength(programs * rulesEach);
  expect(accepted.filter(({ operation }) => operation === "list").length).toBeGreaterThanOrEqual(programs);
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThanOrEqual(3 * accepted.length);
  for (const first of accepted) {
    // What the limit lets through at once, and what comes to it in the second; the clocks differ by a millisecond.
    const window = accepted.filter(({ atMs }) => atMs >= first.atMs && atMs < first.atMs + 1_000);
    expect(window.length).toBeLessThanOrEqual(2 * requestsPerSecond + 1);
  }
  // Nobody is passed by again and again.
  const attempts = new Map<string, number>();
  for (const { idempotencyKey } of requests)
    if (idempotencyKey !== undefined) attempts.set(idempotencyKey, (attempts.get(idempotencyKey) ?? 0) + 1);
  expect(attempts.size).toBe(programs * rulesEach);
  expect(Math.max(...attempts.values())).toBeLessThanOrEqual(20);
});

test("programs whose contracts share out the service's rate limit send no more than it, and none is refused", async () => {
  const [sharers, sharingRuns, rules] = [10, 2, 20];
  const preset = loadPreset("illustrative");
  // A fifth is left for what a busy machine holds up and then delivers at once.
  const share = (0.8 * requestsPerSecond) / sharers;
  const requests: Timed[] = [];
  const served = await serve(
    { ...preset, limits: { ...preset.limits, requestsPerSecond: share } },
    { requestsPerSecond, onRequest: (request) => requests.push({ ...request, atMs: performance.now() }) },
  );

  const sessions = Array.from({ length: sharers - sharingRuns }, async (_, program) => {
    // All at the same moment would leave a service that counts to the millisecond no room for what is late on the way.
    await sleep((1_000 / sharers) * program);
    const hooks = hooksHere("merchantRuleSet", sessionOf(served.environment));
    return await new EngineModel({ connects: false }).up(hooks, { set: { rules: rulesOf(program, rules) } });
  });
  const runs = Array.from({ length: sharingRuns }, async (_, n) => {
    const project = new TestProject(served.environment);
    onTestFinished(() => project.remove());
    project.declare({ set: { rules: rulesOf(sharers - sharingRuns + n, rules) } });
    const { code, output } = await project.run("local", "up");
    return code === 0 ? [] : [output];
  });
  expect((await Promise.all([...sessions, ...runs])).flat()).toEqual([]);

  expect(served.service.rules()).toHaveLength(sharers * rules);
  expect(requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(requests.filter(({ operation }) => operation === "create")).toHaveLength(sharers * rules);
  // What was sent within a second may come within less of it where the machine is busy; the service's own measure, by
  // which it refused nothing, is the strict one.
  const busiest = Math.max(
    ...requests.map(({ atMs: from }) => requests.filter(({ atMs }) => atMs >= from && atMs < from + 500).length),
  );
  expect(busiest).toBeLessThanOrEqual(requestsPerSecond);
  // It was the limit that held them back, and it was used.
  expect(busiest).toBeGreaterThan(requestsPerSecond / 4);
});
