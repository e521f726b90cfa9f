import type { HttpBindings } from "@hono/node-server";
import { Hono, type MiddlewareHandler } from "hono";
import { defined } from "../../../sdk/json/index.ts";
import { jsonValue } from "../body.ts";
import { Refusal } from "../refusal.ts";
import { readRequest, strangerBy } from "../request.ts";
import type { Faults } from "./faults.ts";
import { type FaultIssue, parseFaults, sentence } from "./parse.ts";
import type { Fault } from "./schema.ts";

/** The path at which the faults of a running service are read and set. */
export const controlPath = "/_local/faults";

const maxBodyBytes = 1_048_576;

type Environment = { Bindings: HttpBindings };

/**
 * Serves the faults. GET: what is set and was injected. PUT: sets a fault, or an array of them. POST: adds. DELETE: clears.
 * POST /release: lets held requests go on. Each answers with what GET answers then. Not behind the contract's credentials,
 * for programs of this machine alone: a browser is let in from no other site.
 */
export function controlApp(faults: Faults): Hono<Environment> {
  const app = new Hono<Environment>();
  app.use(fromThisMachine);
  app.get("/", () => shown(faults));
  app.put("/", ({ env }) => change(faults, env, (parsed) => faults.set(parsed)));
  app.post("/", ({ env }) => change(faults, env, (parsed) => faults.add(parsed)));
  app.delete("/", () => {
    faults.clear();
    return shown(faults);
  });
  app.post("/release", () => {
    faults.release();
    return shown(faults);
  });
  app.all("*", () => refusal(405, `allowed: GET, PUT, POST, DELETE ${controlPath}, POST ${controlPath}/release`));
  return app;
}

const fromThisMachine: MiddlewareHandler = async ({ req }, next) => {
  const stranger = strangerBy((name) => req.header(name));
  return stranger === undefined ? next() : refusal(403, stranger);
};

async function change(faults: Faults, { incoming }: HttpBindings, make: (parsed: Fault[]) => void): Promise<Response> {
  try {
    const parsed = parseFaults(jsonValue(await readRequest(incoming, maxBodyBytes), maxBodyBytes));
    if ("issues" in parsed) return refusal(400, parsed.issues.map(sentence).join("; "), parsed.issues);
    make(parsed.faults);
    return shown(faults);
  } catch (error) {
    if (error instanceof Refusal) return refusal(error.status, error.message);
    throw error;
  }
}

function shown({ current, injected, held }: Faults): Response {
  return json(200, {
    faults: current,
    injected: injected.map(({ fault: { kind }, ...hit }) => ({ kind, ...hit })),
    held: held.map(({ operation, method, path, at }) => ({ operation, method, path, at })),
  });
}

function refusal(status: number, message: string, issues?: readonly FaultIssue[]): Response {
  return json(status, { error: defined({ message, details: issues }) });
}

function json(status: number, body: unknown): Response {
  return new Response(`${JSON.stringify(body, undefined, 2)}\n`, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}
