import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FaultInput, LocalService } from "../../../local/service/index.ts";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { attempt, serve } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";

const requests = {
  create: (service: LocalService) => attempt(service, "POST", rules, { body: { name: "new" } }),
  get: (service: LocalService) => attempt(service, "GET", `${rules}/a`),
  update: (service: LocalService) => attempt(service, "PUT", `${rules}/a`, { body: { name: "a" } }),
  delete: (service: LocalService) => attempt(service, "DELETE", `${rules}?ruleId=gone`),
  list: (service: LocalService) => attempt(service, "GET", rules),
  token: (service: LocalService) =>
    attempt(service, "POST", "/api/v1/auth/token", {
      body: { client_id: "local-client", client_secret: "local-secret" },
    }),
};
type Operation = keyof typeof requests;
const operations: Operation[] = ["create", "get", "update", "delete", "list", "token"];

async function withFaults(...faults: FaultInput[]): Promise<LocalService> {
  const service = await serve({ contract });
  service.put("a", { name: "a" });
  service.faults.set(faults);
  return service;
}

/** The numbers, from 1, of those requests that were answered by a fault: it answers with a status that nothing else has. */
async function hitsOf(service: LocalService, sent: readonly Operation[]): Promise<number[]> {
  const hits: number[] = [];
  for (const [index, operation] of sent.entries())
    if ((await requests[operation](service)).status === 599) hits.push(index + 1);
  return hits;
}

const gets = (count: number): Operation[] => Array.from({ length: count }, () => "get");

describe("a fault hits", () => {
  test("one request of any operation, when it says no more", async () => {
    for (const operation of operations) {
      const service = await withFaults({ kind: "status", status: 599 });
      expect(await hitsOf(service, [operation, operation])).toEqual([1]);
      expect(service.faults.injected).toMatchObject([{ operation, request: 1 }]);
    }
  });

  test.each(operations)("%s alone, when it says so", async (operation) => {
    const service = await withFaults({ kind: "status", status: 599, operations: [operation], times: "always" });
    expect(await hitsOf(service, operations)).toEqual([operations.indexOf(operation) + 1]);
    expect(service.faults.current).toMatchObject([{ matched: 1, injected: 1 }]);
  });

  test("the n-th of the requests that match, and as many after it as it says", async () => {
    const service = await withFaults({ kind: "status", status: 599, operations: ["get"], request: 2, times: 2 });
    expect(await hitsOf(service, ["get", "list", "get", "list", "get", "get", "list"])).toEqual([3, 5]);
    expect(service.faults.injected.map(({ request }) => request)).toEqual([2, 3]);
    expect(service.faults.current).toMatchObject([{ matched: 4, injected: 2 }]);
  });

  test("no request that is on none of the contract's operations", async () => {
    const service = await withFaults({ kind: "status", status: 599, times: "always" });
    expect((await attempt(service, "GET", "/nowhere")).status).toBe(404);
    expect((await attempt(service, "PATCH", rules)).status).toBe(405);
    expect(service.faults.current).toMatchObject([{ matched: 0 }]);
  });

  test("just as often when requests come all at once", async () => {
    const service = await withFaults({ kind: "status", status: 599, request: 5, times: 3 });
    const statuses = await Promise.all(gets(20).map(async () => (await requests.get(service)).status));
    expect(statuses.filter((status) => status === 599)).toHaveLength(3);
  });

  test("a request whose credentials are wrong as well: it stands before the contract", async () => {
    const service = await withFaults({ kind: "status", status: 599 });
    expect((await attempt(service, "GET", rules, { token: "wrong" })).status).toBe(599);
  });
});

describe("of several faults", () => {
  test("the first that matches is injected, and every one counts the request", async () => {
    const service = await withFaults(
      { kind: "status", status: 599, operations: ["list"] },
      { kind: "status", status: 598 },
      { kind: "status", status: 597, request: 3 },
    );
    const statuses: (number | undefined)[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await requests.list(service)).status);
    expect(statuses).toEqual([599, 598, 597, 200]);
    expect(service.faults.current.map(({ matched, injected }) => [matched, injected])).toEqual([
      [4, 1],
      [4, 1],
      [4, 1],
    ]);
  });

  test("those that are added count from then on; what is set takes the place of all; clear leaves what happened", async () => {
    const service = await withFaults({ kind: "status", status: 599 });
    expect(await hitsOf(service, gets(1))).toEqual([1]);
    service.faults.add({ kind: "status", status: 599, request: 2 });
    expect(await hitsOf(service, gets(3))).toEqual([2]);
    expect(service.faults.injected).toHaveLength(2);
    service.faults.clear();
    expect([service.faults.injected.length, service.faults.current]).toEqual([2, []]);
    service.faults.set({ kind: "status", status: 599 });
    expect(service.faults.injected).toEqual([]);
    expect(await hitsOf(service, gets(2))).toEqual([1]);
  });

  test("a bad one changes nothing, and the error names path, found and allowed", async () => {
    const service = await withFaults({ kind: "close" });
    const bad = { kind: "status", status: 199 } as const;
    expect(() => service.faults.set([{ kind: "hold" }, bad])).toThrow(
      new TypeError("1.status: found 199; allowed: at least 200"),
    );
    expect(() => service.faults.add(bad)).toThrow(new TypeError("status: found 199; allowed: at least 200"));
    expect(service.faults.current).toMatchObject([{ fault: { kind: "close" } }]);
  });
});

describe("by probability", () => {
  test("a seed hits the same numbers again, whatever else is asked between, and about as many as it should", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -1000, max: 1000 }),
        fc.double({ min: 0.1, max: 0.9, noNaN: true }),
        async (seed, probability) => {
          const fault: FaultInput = { kind: "status", status: 599, operations: ["get"], probability, seed };
          const service = await withFaults(fault);
          const hits = await hitsOf(service, gets(40));
          // Five standard deviations of a binomial distribution: one draw in a million is beyond.
          expect(Math.abs(hits.length - 40 * probability)).toBeLessThan(
            5 * Math.sqrt(40 * probability * (1 - probability)) + 1,
          );
          service.faults.set(fault);
          const mixed = gets(40).flatMap((get): Operation[] => [get, "list"]);
          expect(await hitsOf(service, mixed)).toEqual(hits.map((number) => 2 * number - 1));
          await service.close();
        },
      ),
      { numRuns: 4 },
    );
  });

  test("two seeds hit other numbers; so many times and from a number on, when it says so", async () => {
    const fault = { kind: "status", status: 599, probability: 0.5 } as const;
    const service = await withFaults(fault);
    const one = await hitsOf(service, gets(40));
    service.faults.set({ ...fault, seed: 2 });
    expect(await hitsOf(service, gets(40))).not.toEqual(one);
    service.faults.set({ ...fault, times: 2, request: 10 });
    expect(await hitsOf(service, gets(40))).toEqual(one.filter((number) => number >= 10).slice(0, 2));
    service.faults.set({ ...fault, probability: 1 });
    expect(await hitsOf(service, gets(3))).toEqual([1, 2, 3]);
  });
});
