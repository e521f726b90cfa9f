import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { serve } from "./scripted-server.ts";

const client = fileURLToPath(new URL("../../../sdk/client/index.ts", import.meta.url));
const contract = fileURLToPath(new URL("../../../sdk/contract/index.ts", import.meta.url));

/** Runs a program that has a client and never closes it; gives what it printed and how long it lived after that. */
async function run(
  baseUrl: string,
  limits: object,
  body: string,
): Promise<{ printed: string; code: number; lingeredMs: number }> {
  const program = `
    import { RulesClient } from ${JSON.stringify(client)};
    import { defineContract } from ${JSON.stringify(contract)};
    const client = new RulesClient({
      name: "default", baseUrl: ${JSON.stringify(baseUrl)}, parameters: {}, credentials: { kind: "token", token: "t" },
      contract: defineContract({ version: 1, limits: ${JSON.stringify(limits)} }),
    });
    ${body}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  let printedAt = 0;
  child.stdout.on("data", (chunk) => {
    printed += String(chunk);
    printedAt = performance.now();
  });
  const [code] = await once(child, "exit");
  return { printed: printed.trim(), code, lingeredMs: performance.now() - printedAt };
}

test.each([
  ["plain", {}],
  ["rate-limited", { requestsPerSecond: 2 }],
])("a process ends by itself after the last call of an open client: %s", async (_, limits) => {
  const server = await serve([{ json: { name: "x" } }]);
  const { printed, code, lingeredMs } = await run(
    server.baseUrl,
    limits,
    'await client.get("r1"); console.log("done");',
  );
  expect([printed, code]).toEqual(["done", 0]);
  expect(lingeredMs).toBeLessThan(15_000);
});

test("a pause that nobody waits for does not keep the process", async () => {
  const server = await serve([{ status: 429, headers: { "retry-after": "30" } }]);
  const { printed, lingeredMs } = await run(
    server.baseUrl,
    { attemptTimeoutMs: 10_000, totalTimeoutMs: 10_000 },
    'await client.get("r1").catch((error) => console.log(error.code));',
  );
  expect(printed).toBe("RATE_LIMITED");
  expect(lingeredMs).toBeLessThan(15_000);
});

test("a pause that a call waits for does keep the process", async () => {
  const server = await serve([{ status: 429, headers: { "retry-after": "0.3" } }, { json: { name: "x" } }]);
  const { printed, code } = await run(
    server.baseUrl,
    { maxAttempts: 1, concurrency: 1 },
    'client.get("r1").catch(() => undefined); await client.get("r2"); console.log("done");',
  );
  expect([printed, code]).toEqual(["done", 0]);
});
