import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { LocalService } from "../../../local/service/index.ts";
import { defineContract, loadPreset } from "../../../sdk/contract/index.ts";
import { attempt, call, fieldOfEach, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";
const control = "/_local/faults";
const unauthenticated = { token: null };

async function put(service: LocalService, body: unknown) {
  return call(service, "PUT", control, { ...unauthenticated, body: JSON.stringify(body) });
}

describe("over its control address, a running service", () => {
  test("sets faults, adds one, shows what was injected, and clears", async () => {
    const service = await serve({ contract });
    expect(service.faultsUrl).toBe(service.url + control);
    const set = await put(service, { kind: "status", status: 503, operations: ["list"] });
    expect([set.status, set.at("/faults/0/fault/kind")]).toEqual([200, "status"]);
    expect((await attempt(service, "GET", rules)).status).toBe(503);
    const added = await call(service, "POST", control, { ...unauthenticated, body: { kind: "close", at: "after" } });
    expect(added.at("/faults/1/fault")).toEqual({
      kind: "close",
      at: "after",
      operations: ["create", "get", "update", "delete", "list", "transition", "token", "identity"],
      request: 1,
      seed: 1,
    });
    expect((await attempt(service, "GET", rules)).status).toBeUndefined();

    const shown = await call(service, "GET", control, unauthenticated);
    expect(shown.at("/injected")).toEqual([
      { kind: "status", operation: "list", method: "GET", path: rules, request: 1 },
      { kind: "close", operation: "list", method: "GET", path: rules, request: 1 },
    ]);
    expect([fieldOfEach(shown, "/faults", "matched"), fieldOfEach(shown, "/faults", "injected")]).toEqual([
      [2, 1],
      [1, 1],
    ]);
    const cleared = await call(service, "DELETE", control, unauthenticated);
    expect([cleared.at("/faults"), service.faults.current]).toEqual([[], []]);
    expect((await attempt(service, "GET", rules)).status).toBe(200);
  });

  test("counts none of this among the contract's requests, and no fault hits it", async () => {
    const service = await serve({ contract });
    await put(service, { kind: "status", status: 503, times: "always" });
    expect((await call(service, "GET", control, unauthenticated)).status).toBe(200);
    expect([service.requests, service.faults.injected]).toEqual([[], []]);
  });

  test("shows the requests that are held, and lets them go on", async () => {
    const service = await serve({ contract });
    await put(service, [{ kind: "hold", at: "after" }]);
    const answer = attempt(service, "POST", rules, { body: { name: "a" } });
    await service.faults.nextHeld();
    const shown = await call(service, "GET", control, unauthenticated);
    expect(shown.at("/held")).toEqual([{ operation: "create", method: "POST", path: rules, at: "after" }]);
    const released = await call(service, "POST", `${control}/release`, unauthenticated);
    expect([released.at("/held"), (await answer).status]).toEqual([[], 201]);
  });

  test("answers the same where the contract has an operation on the same path", async () => {
    const shadow = defineContract({
      version: 1,
      operations: { list: { path: control, items: "" } },
      auth: { present: null },
    });
    const service = await serve({ contract: shadow });
    expect((await call(service, "GET", control, unauthenticated)).at("/faults")).toEqual([]);
    expect(service.requests).toEqual([]);
  });

  test.each<[unknown, [string, string, string][]]>([
    [{ kind: "clsoe" }, [["kind", '"clsoe"', "latency | close | status | cut-body"]]],
    [{}, [["kind", "nothing", "latency | close"]]],
    [{ kind: "status" }, [["status", "nothing", "number"]]],
    [{ kind: "status", status: "503" }, [["status", '"503"', "number"]]],
    [{ kind: "latency", ms: -1 }, [["ms", "-1", "at least 0"]]],
    [{ kind: "latency", ms: 1.5 }, [["ms", "1.5", "int"]]],
    [{ kind: "close", when: "after" }, [["when", "an unknown field", "kind, at, laterMs, operations, request, times"]]],
    [{ kind: "close", at: "never" }, [["at", '"never"', '"before" | "after" | "later" | "mid-answer"']]],
    [{ kind: "stale-list", operations: ["list", "get"] }, [["operations.1", '"get"', '"list"']]],
    [{ kind: "close", operations: [] }, [["operations", "[]", "at least 1"]]],
    [{ kind: "close", times: "often" }, [["times", '"often"', 'a whole number from 1 on, or "always"']]],
    [{ kind: "close", times: 0 }, [["times", "0", "at least 1"]]],
    [{ kind: "close", probability: 1.5 }, [["probability", "1.5", "at most 1"]]],
    [{ kind: "redirect", location: "a\r\nb: c" }, [["location", '"a\\r\\nb: c"', "a URL or a path"]]],
    [[{ kind: "close" }, { kind: "redirect", status: 304 }], [["1.status", "304", "301 | 302 | 303 | 307 | 308"]]],
    [{ kind: "stale-list", writesBehind: 1, lagMs: 1 }, [["lagMs", "1", "writesBehind or lagMs, not both"]]],
    [{ kind: "normalise", operations: ["get"] }, [["operations.0", '"get"', '"create" | "update"']]],
    ["close", [["", '"close"', "object"]]],
    [[null], [["0", "null", "object"]]],
  ])("refuses %j with path, found and allowed, and keeps what is set", async (body, expected) => {
    const service = await serve({ contract });
    service.faults.set({ kind: "not-json" });
    const refused = await put(service, body);
    expect(refused.status).toBe(400);
    const details = expected.map((_, n) =>
      ["path", "found", "allowed"].map((name) => textAt(refused, `/error/details/${n}/${name}`)),
    );
    expect(details).toEqual(expected.map(([path, found, allowed]) => [path, found, expect.stringContaining(allowed)]));
    for (const [path, found] of expected)
      expect(textAt(refused, "/error/message")).toContain(
        `${path === "" ? "the fault" : path}: found ${found}; allowed: `,
      );
    expect(service.faults.current).toMatchObject([{ fault: { kind: "not-json" } }]);
  });

  test("refuses what is not JSON, too large, or on no such path or method", async () => {
    const service = await serve({ contract });
    const status = async (method: string, path: string, body?: string) =>
      (await call(service, method, path, { ...unauthenticated, ...(body === undefined ? {} : { body }) })).status;
    expect(await status("PUT", control, "{")).toBe(400);
    expect(await status("PUT", control, JSON.stringify({ kind: "other-shape", json: "x".repeat(1_048_576) }))).toBe(
      413,
    );
    expect(await status("PATCH", control, "{}")).toBe(405);
    expect(await status("GET", `${control}/other`)).toBe(405);
    expect(service.faults.current).toEqual([]);
  });
});

describe("from a browser, the control address", () => {
  const close = JSON.stringify({ kind: "close" });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])(
    "takes no fault as %j, which any page may send",
    async (type) => {
      const service = await serve({ contract });
      const headers = { "content-type": type };
      for (const method of ["PUT", "POST"])
        expect((await call(service, method, control, { ...unauthenticated, headers, body: close })).status).toBe(415);
      expect(service.faults.current).toEqual([]);
    },
  );

  test.each(["GET", "PUT", "POST", "DELETE"])(
    "lets %s in from its own pages, and from no other site",
    async (method) => {
      const service = await serve({ contract });
      service.faults.set({ kind: "not-json" });
      const port = new URL(service.url).port;
      const statusFrom = async (headers: Record<string, string>) =>
        (await raw(service, method, { ...headers, "content-type": "application/json" }, method === "GET" ? "" : close))
          .status;
      for (const origin of ["https://example.com", "null", "http://127.0.0.1:1", `https://127.0.0.1:${port}`])
        expect(await statusFrom({ origin }), origin).toBe(403);
      // A name that its owner turned to 127.0.0.1 makes the page and the address one site.
      const rebound = `rebound.example:${port}`;
      expect(await statusFrom({ host: rebound, origin: `http://${rebound}` })).toBe(403);
      expect(await statusFrom({ host: rebound })).toBe(403);
      expect(service.faults.current).toMatchObject([{ fault: { kind: "not-json" } }]);
      expect(await statusFrom({ origin: service.url })).toBe(200);
      expect(await statusFrom({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200);
    },
  );

  test("is not opened to other sites by its answers", async () => {
    const service = await serve({ contract });
    const { headers } = await call(service, "GET", control, unauthenticated);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    const preflight = { origin: "https://example.com", "access-control-request-method": "PUT" };
    expect((await raw(service, "OPTIONS", preflight)).status).toBe(403);
  });
});

/** A request with any Host and Origin, which fetch does not let one set. */
function raw(
  service: LocalService,
  method: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ status: number | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      service.faultsUrl,
      { method, headers: { ...headers, "content-length": body.length } },
      (response) => {
        response.resume().on("end", () => resolve({ status: response.statusCode }));
      },
    );
    sent.on("error", reject).end(body);
  });
}
