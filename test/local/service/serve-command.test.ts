import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadPreset, presetFile } from "../../../sdk/contract/index.ts";
import { newFolder } from "../../support/folder.ts";
import { attempt, call, serve } from "./under-test.ts";

const entry = new URL("../../../cli/serve.ts", import.meta.url);
let folder: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = newFolder();
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** The command's sources in a process of their own, as `bin/merchant-rules.js` runs what is built of them. */
function run(...args: string[]): Run {
  const main = pathToFileURL(join(entry.pathname, "../main.ts")).href;
  const script = `const { main } = await import(${JSON.stringify(main)}); process.exitCode = await main(${JSON.stringify(["serve", ...args])});`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  const lines: string[] = [];
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const exited = new Promise<{ code: number | null; lines: string[]; errors: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, lines, errors }));
  });
  const ready = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      lines.push(line);
      if (line.startsWith("Stop")) resolve(lines[1]?.trim() ?? "");
    });
    child.on("close", () => reject(new Error(`it ended: ${errors}`)));
  });
  ready.catch(() => {});
  return { child, lines, exited, ready };
}

interface Run {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  readonly exited: Promise<{ code: number | null; lines: string[]; errors: string }>;
  /** Its address, once it says so. */
  readonly ready: Promise<string>;
}

describe("merchant-rules serve", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "prints what a client needs, serves, and stops on %s within a second",
    async (signal) => {
      const command = run("--port", "0");
      const url = await command.ready;
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(command.lines).toEqual([
        "Local rules service (illustrative contract), rules in memory",
        `  ${url}`,
        "To use it:",
        `  export MERCHANT_RULES_BASE_URL=${url}`,
        "  export MERCHANT_RULES_CONTRACT=illustrative",
        "  export MERCHANT_RULES_CLIENT_ID=local-client",
        "  export MERCHANT_RULES_CLIENT_SECRET=local-secret",
        `Try: curl -H 'Authorization: Bearer local-token' ${url}/api/v1/merchants/rules`,
        `Rules and requests as they come: ${url}/`,
        `Faults on demand: curl -X PUT -H 'Content-Type: application/json' -d '{"kind":"status","status":503}' ${url}/_local/faults`,
        "Stop with Ctrl-C.",
      ]);
      expect((await call({ url }, "POST", "/api/v1/merchants/rules", { body: { name: "a" } })).status).toBe(201);
      expect(await (await fetch(url)).text()).toContain("Local rules service, illustrative contract");
      const watched = fetch(`${url}/_local/events`).then((response) => response.text());
      watched.catch(() => undefined);
      const began = performance.now();
      command.child.kill(signal);
      expect(await command.exited).toMatchObject({ code: 0, errors: "" });
      expect(performance.now() - began).toBeLessThan(4000);
    },
  );

  test("says with --verbose which fault was injected", async () => {
    const command = run("--port", "0", "--verbose");
    const url = await command.ready;
    const faults = [{ kind: "status", status: 503 }, { kind: "close" }];
    expect((await call({ url }, "PUT", "/_local/faults", { body: JSON.stringify(faults) })).status).toBe(200);
    for (let n = 0; n < 3; n++) await attempt({ url }, "GET", "/api/v1/merchants/rules");
    command.child.kill("SIGTERM");
    expect((await command.exited).lines.slice(-3).map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "503 GET /api/v1/merchants/rules (list, fault: status)",
      "--- GET /api/v1/merchants/rules (list, fault: close)",
      "200 GET /api/v1/merchants/rules (list)",
    ]);
  });

  test("lets two rules have one name with --allow-duplicates, and says so in its help", async () => {
    const help = run("--help");
    const command = run("--port", "0", "--allow-duplicates");
    const url = await command.ready;
    for (let n = 0; n < 2; n++)
      expect((await call({ url }, "POST", "/api/v1/merchants/rules", { body: { name: "a" } })).status).toBe(201);
    command.child.kill("SIGTERM");
    await command.exited;
    const { lines } = await help.exited;
    expect(lines.join(" ").replaceAll(/\s+/g, " ")).toContain(
      "--allow-duplicates let two rules have one natural key, which is otherwise refused with 409",
    );
  });

  test("keeps rules in the data file that it names, and takes the contract that stands in the folder", async () => {
    const contract = [
      "version: 1",
      "parameters: { merchantId: {}, region: { default: eu } }",
      "operations: { get: { path: '/{region}/rules/{ruleId}', query: { merchant: '{merchantId}' } } }",
      "auth: { present: { name: X-Key, format: '{token}' } }",
    ].join("\n");
    writeFileSync(join(folder, "merchant-rules.contract.yaml"), contract);
    const args = ["--port", "0", "--data", "rules.db", "--param", "merchantId=m 1"];
    const first = run(...args);
    const url = await first.ready;
    expect(first.lines.slice(0, -3)).toEqual([
      `Local rules service (contract merchant-rules.contract.yaml), rules in ${join(folder, "rules.db")}`,
      `  ${url}`,
      "To use it:",
      `  export MERCHANT_RULES_BASE_URL=${url}`,
      `  export MERCHANT_RULES_CONTRACT=${join(folder, "merchant-rules.contract.yaml")}`,
      "  export MERCHANT_RULES_TOKEN=local-token",
      "  export MERCHANT_RULES_PARAM_MERCHANT_ID='m 1'",
      "  export MERCHANT_RULES_PARAM_REGION=eu",
      `Try: curl -H 'X-Key: local-token' '${url}/eu/rules/RULE_ID?merchant=m+1'`,
    ]);
    const headers = { "x-key": "local-token" };
    const created = await call({ url }, "POST", "/api/v1/merchants/rules", { headers, body: {} });
    first.child.kill("SIGTERM");
    await first.exited;
    const second = run(...args, "--verbose");
    const read = `/eu/rules/${created.at("/ruleId")}?merchant=m+1`;
    expect((await call({ url: await second.ready }, "GET", read, { headers })).status).toBe(200);
    second.child.kill("SIGTERM");
    expect((await second.exited).lines.at(-1)).toContain(`200 GET ${read} (get)`);
  });

  test("a port in use, a bad data file or a bad contract is one clear message and exit code 1", async () => {
    const { url } = await serve({ contract: loadPreset("seed") });
    const port = new URL(url).port;
    writeFileSync(join(folder, "bad.db"), "text");
    writeFileSync(join(folder, "bad.yaml"), "version: 1\noperatons: {}\n");
    const runs: [string[], string][] = [
      [["--port", port], `listen on 127.0.0.1 port ${port} failed: the port is in use`],
      [["--data", "bad.db"], "bad.db failed: it is not a SQLite database"],
      [["--data", folder], "it is a folder"],
      [["--contract", "bad.yaml"], "bad.yaml:2: operatons: found an unknown field"],
      [["--contract", "none.yaml"], "read contract none.yaml failed"],
    ];
    const ended = await Promise.all(runs.map(([args]) => run("--port", "0", ...args).exited));
    for (const [index, { code, lines, errors }] of ended.entries()) {
      expect(errors).toContain(runs[index]?.[1]);
      expect(errors).not.toContain("    at ");
      expect(errors.match(/error:/g)).toHaveLength(1);
      expect([code, lines]).toEqual([1, []]);
    }
  });

  test("a wrong call is exit code 2", async () => {
    const wrong = [
      ["--port", "65536"],
      ["--port", "x"],
      ["--param", "a"],
      ["--contract", "seed", "--param", "a=b"],
      ["extra"],
      ["--nothing"],
    ];
    const ended = await Promise.all(wrong.map((args) => run(...args).exited));
    expect(ended.map(({ code }) => code)).toEqual(wrong.map(() => 2));
  });

  test("names a contract given as a file by its whole path", async () => {
    const command = run("--port=0", "--contract", presetFile("seed"));
    await command.ready;
    expect(command.lines[4]).toBe(`  export MERCHANT_RULES_CONTRACT=${presetFile("seed")}`);
    command.child.kill("SIGTERM");
    await command.exited;
  });
});
