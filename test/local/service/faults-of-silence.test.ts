import { describe, expect, test } from "vitest";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { attempt, serve } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";
const body = { name: "a" };

describe("silence", () => {
  async function silenced() {
    const service = await serve({ contract });
    service.faults.set({ kind: "silence", times: "always" });
    return service;
  }

  test("lasts until the client goes away; nothing is carried out, and no status was sent", async () => {
    const service = await silenced();
    const client = new AbortController();
    const headers = { authorization: "Bearer local-token", "content-type": "application/json" };
    const sent = fetch(service.url + rules, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: client.signal,
    });
    await expect.poll(() => service.faults.injected.length).toBe(1);
    expect([service.requestCount(), service.faults.held, service.faults.release()]).toEqual([0, [], 0]);
    client.abort();
    await expect(sent).rejects.toThrow("abort");
    await expect.poll(() => service.requests).toMatchObject([{ operation: "create", status: 0, fault: "silence" }]);
    service.faults.clear();
    expect((await attempt(service, "GET", rules)).status).toBe(200);
    expect(service.rules()).toEqual([]);
  });

  test.each(["clear", "set"] as const)("ends when the faults are changed (%s): the request goes on", async (way) => {
    const service = await silenced();
    const answers = [attempt(service, "POST", rules, { body }), attempt(service, "GET", `${rules}/x`)];
    await expect.poll(() => service.faults.injected.length).toBe(2);
    expect(service.rules()).toEqual([]);
    if (way === "clear") service.faults.clear();
    else service.faults.set({ kind: "not-json", operations: ["list"] });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 404]);
    expect(service.rules()).toHaveLength(1);
  });

  test("does not keep the service from closing", async () => {
    const service = await silenced();
    const answer = attempt(service, "POST", rules, { body });
    await expect.poll(() => service.faults.injected.length).toBe(1);
    const began = performance.now();
    await service.close();
    expect(performance.now() - began).toBeLessThan(30_000);
    expect((await answer).status).toBeUndefined();
    expect(service.requests).toMatchObject([{ status: 0 }]);
  });
});
