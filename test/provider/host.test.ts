import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { unknownValue } from "../../provider/host/wire.ts";
import { many, rule } from "../support/rules.ts";
import { HookFailure, resource } from "../support/stack/hosts.ts";
import { ProviderHost } from "../support/stack/provider-host.ts";
import { serve } from "../support/stack/service.ts";

// What only the real host shows: the code in the state, values on the wire, what it prints, partial results.

async function open() {
  const served = await serve();
  const another = async (): Promise<ProviderHost> => {
    const host = await ProviderHost.start({}, served.environment);
    onTestFinished(() => host.close());
    return host;
  };
  return { host: await another(), served, another };
}

test("in Pulumi's provider host a rule is made, seen, changed and deleted", async () => {
  const { host: first, served, another } = await open();
  const declared = resource("limit", { definition: rule(1) });
  expect((await first.check(declared)).failures).toEqual([]);
  const { id, outs } = await first.create(declared);
  const host = await another();
  const changed = resource("limit", { definition: rule(1, { priority: 99 }) });
  const unknown = resource("limit", { definition: rule(1, { priority: unknownValue }) });
  expect(await host.diff(id, outs, declared)).toMatchObject({ changes: "none" });
  expect(await host.diff(id, outs, unknown)).toMatchObject({ changes: "unknown", replaces: [] });
  const next = await host.update(id, outs, changed);
  const inputs = { ...changed, __connection: next.__connection };
  expect(await host.read(id, next)).toEqual({ id, props: next, inputs });
  await host.delete(id, next);
  expect(served.service.rules()).toEqual([]);
  expect(first.stderr + host.stderr).toBe("");
});

test("in Pulumi's provider host a failure is one message, and what was done comes with it", async () => {
  const { host, served } = await open();
  const set = host.as("merchantRuleSet");
  const secret = rule(2, { note: "not in the inputs any more" });
  const { id, outs } = await set.create(resource("limits", { rules: { a: rule(1), b: secret } }));
  served.service.faults.set({ kind: "status", status: 422, operations: ["update"] });
  const changed = resource("limits", { rules: { a: rule(1), b: rule(2), c: rule(3) } });
  const failure: unknown = await set.update(id, outs, changed).catch((error: unknown) => error);
  if (!(failure instanceof HookFailure)) throw new Error(`it did not fail as expected: ${failure}`);
  expect(failure.message).toMatch(/^1 of 3 rules failed; what was done for the others is in the state:\n {2}b: update/);
  expect(failure.partial).toMatchObject({
    id,
    hasProvider: true,
    secrets: [secret],
    properties: { rules: { a: rule(1), b: secret, c: rule(3) } },
  });
  served.service.faults.set({ kind: "status", status: 403, operations: ["delete"], times: "always" });
  await expect(set.delete(id, outs)).rejects.toThrow(/^2 of 2 rules failed/);
  expect(host.stderr).toContain("merchant-rules: delete");
  expect(host.stderr).not.toMatch(/\n\s+at /);
});

/** The engine's end of the link to a provider host, with the sessions that are open. */
async function startEngine() {
  const server = createServer();
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => sessions.push(session));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens on no port");
  return { server, sessions, address: `127.0.0.1:${address.port}` };
}

test("Pulumi's provider host ends with its engine, and what it was sent to do is not begun any more", async () => {
  const engine = await startEngine();
  const served = await serve();
  const host = await ProviderHost.start({}, served.environment, "merchantRuleSet", engine.address);
  onTestFinished(() => host.close());
  served.service.faults.set({ kind: "hold", at: "before", operations: ["create"], request: 1 });
  served.service.faults.add({ kind: "latency", ms: 300, operations: ["create"], times: "always" });
  const rules = many(100);
  const running = host.create(resource("limits", { rules })).catch((error: unknown) => error);
  const held = await served.service.faults.nextHeld();
  engine.server.close();
  for (const session of engine.sessions) session.destroy();
  expect(await host.ended()).toBe(1);
  held.release();
  expect(await running).toBeInstanceOf(Error);
  // Sixteen are on their way at once.
  expect(served.service.rules().length).toBeLessThanOrEqual(32);
});

test("Pulumi's provider host goes on where its engine only asks for another session, or has none", async () => {
  const engine = await startEngine();
  const served = await serve();
  for (const address of [engine.address, "127.0.0.1:1"]) {
    const host = await ProviderHost.start({}, served.environment, "merchantRule", address);
    onTestFinished(() => host.close());
    const declared = resource("limit", { definition: rule(1) });
    await host.check(declared);
    if (address === engine.address) {
      await expect.poll(() => engine.sessions.length).toBe(1);
      engine.sessions[0]?.goaway();
      engine.sessions[0]?.close();
      await expect.poll(() => engine.sessions.length).toBe(2);
    }
    const { id } = await host.create(declared);
    served.service.remove(id);
  }
});
