import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { loadPreset } from "../../sdk/contract/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";

const java = javaVersion();
/** WireMock needs Java 11 or newer, Spark 17. */
export const hasJava = java >= 11;
export const hasJava17 = java >= 17;

/** The contract of WireMock: its stubs are the rules, and their answers are the decisions. */
export const contract = loadPreset("wiremock");

/** A rule as WireMock lists it. */
export interface ListedRule {
  readonly ruleId: string;
  /** Without the id, which WireMock keeps in the rule under two names, and without the mark. */
  readonly rule: JsonObject;
  /** Whose the rule is; undefined where it has no mark. */
  readonly mark: string | undefined;
}

/** WireMock in a process of its own, on 127.0.0.1. */
export interface WireMock {
  readonly url: string;
  /** The user and the password of its own interface. */
  readonly user: string;
  readonly password: string;
  /** Both, as HTTP Basic has them. */
  readonly token: string;
  /** All rules, by name. */
  rules(): Promise<ListedRule[]>;
  /** Makes a rule by hand, or changes one; gives its id. */
  put(rule: JsonObject, ruleId?: string): Promise<string>;
  remove(ruleId: string): Promise<void>;
  removeAll(): Promise<void>;
  /** Posts a payment; gives what the rules make of it. */
  decide(payment: JsonObject): Promise<Json>;
  /** The status of a request to its own interface. */
  statusOf(path: string): Promise<number>;
  close(): Promise<void>;
}

const listed = z.object({
  mappings: z.array(
    z
      .looseObject({
        id: z.string(),
        uuid: z.string(),
        name: z.string(),
        metadata: z.object({ managedBy: z.string() }).optional(),
      })
      .transform(({ id, uuid: _, metadata, ...rule }) => ({
        ruleId: id,
        // It came as JSON, and nothing was added to it.
        rule: rule as JsonObject,
        mark: metadata?.managedBy,
      })),
  ),
});
const made = z.object({ id: z.string() });
const startsWithinMs = 60_000;

/** Starts WireMock on a free port, without rules. @throws Error: it ended, or is silent for a minute */
export async function startWireMock(): Promise<WireMock> {
  const folder = newFolder();
  const [user, password] = ["rules", "correct horse"];
  const options = [
    ...[
      "--bind-address",
      "127.0.0.1",
      "--port",
      "0",
      "--root-dir",
      folder,
      "--admin-api-basic-auth",
      `${user}:${password}`,
    ],
    ...["--no-request-journal", "--disable-banner"],
  ];
  const child = spawn("java", ["-XX:TieredStopAtLevel=1", "-jar", jar(), ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = (): boolean => child.kill("SIGKILL");
  process.once("exit", end);
  const exited = once(child, "exit");
  const close = async (): Promise<void> => {
    process.off("exit", end);
    if (child.exitCode === null && child.signalCode === null) {
      end();
      await exited;
    }
    rmSync(folder, { recursive: true });
  };
  let output = "";
  const port = await new Promise<string>((resolve, reject) => {
    const giveUp = (why: string): void => reject(new Error(`WireMock ${why}:\n${output}`));
    const timer = setTimeout(() => giveUp("did not start within a minute"), startsWithinMs);
    child.once("error", reject);
    child.once("exit", () => giveUp("ended"));
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const [, found] = /^port:\s+(\d+)\n/m.exec(output) ?? [];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      });
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return wireMockAt(`http://127.0.0.1:${port}`, user, password, close);
}

function wireMockAt(url: string, user: string, password: string, close: () => Promise<void>): WireMock {
  const token = Buffer.from(`${user}:${password}`).toString("base64");
  const rulesPath = "/__admin/mappings";
  const send = (method: string, path: string, body?: JsonObject): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { authorization: `Basic ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(startsWithinMs),
    });
  const succeeds = async (method: string, path: string, body?: JsonObject): Promise<Response> => {
    const response = await send(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  return {
    url,
    user,
    password,
    token,
    async rules() {
      const { mappings } = listed.parse(await (await succeeds("GET", rulesPath)).json());
      return mappings.sort((one, other) => String(one.rule.name).localeCompare(String(other.rule.name)));
    },
    async put(rule, ruleId) {
      const [method, path] = ruleId === undefined ? ["POST", rulesPath] : ["PUT", `${rulesPath}/${ruleId}`];
      return made.parse(await (await succeeds(method, path, rule)).json()).id;
    },
    async remove(ruleId) {
      await succeeds("DELETE", `${rulesPath}/${ruleId}`);
    },
    async removeAll() {
      await succeeds("DELETE", rulesPath);
    },
    async decide(payment) {
      const { decision } = z
        .object({ decision: z.json() })
        .parse(await (await succeeds("POST", "/payments", payment)).json());
      return decision;
    },
    async statusOf(path) {
      return (await send("GET", path)).status;
    },
    close,
  };
}

/** The program itself, an archive in the form of ZIP. */
export function jar(): string {
  const folder = join(dirname(fileURLToPath(import.meta.resolve("wiremock/package.json"))), "build");
  const [name] = readdirSync(folder).filter((each) => each.endsWith(".jar"));
  if (name === undefined) throw new Error(`there is no jar in ${folder}`);
  return join(folder, name);
}

/** The number of Java's feature release; 0 where there is no Java. Java 8 calls itself 1.8. */
function javaVersion(): number {
  const { status, stderr } = spawnSync("java", ["-version"], { encoding: "utf8" });
  if (status !== 0) return 0;
  const [, major] = /version "(\d+)/.exec(stderr) ?? [];
  return Number(major ?? 0);
}
