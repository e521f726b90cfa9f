import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type Dispatcher, Pool } from "undici";
import { z } from "zod";
import { localCredentials } from "../../local/service/index.ts";
import { loadPreset, RulesClient } from "../../sdk/index.ts";
import { rule } from "../support/rules.ts";

/** So many requests, through the SDK and through bare undici. */
export interface ClientFigures {
  readonly operation: "GET" | "POST";
  /** Medians of the rounds. */
  readonly sdkSeconds: number;
  readonly undiciSeconds: number;
  /** The median of the rounds' ratios: the two of a round ran one right after the other, so that noise meets both. */
  readonly ratio: number;
}

type Way = "sdk" | "undici";

interface Ways {
  get(way: Way, ruleId: string): Promise<unknown>;
  post(way: Way, key: string): Promise<unknown>;
}

const rounds = 21;

/**
 * N GETs and N POSTs over the same number of connections, each way in turn, after rounds that warm both. Every POST
 * of either has a random idempotency key and a rule of its own. Bare undici parses the JSON of the answers and checks
 * nothing.
 */
export async function sdkAgainstUndici(requests: number, signal: AbortSignal): Promise<ClientFigures[]> {
  const worker = new Worker(new URL("service-worker.ts", import.meta.url));
  const contract = loadPreset("illustrative");
  const [url] = await once(worker, "message");
  const baseUrl = z.string().parse(url);
  const { token } = localCredentials;
  const credentials = { kind: "token", token } as const;
  const client = new RulesClient({ name: "default", baseUrl, contract, parameters: {}, credentials });
  const pool = new Pool(baseUrl, { connections: contract.limits.concurrency, pipelining: 1 });
  const ways = waysOver(client, pool, token);
  try {
    const { ruleId } = await client.create(rule(0));
    const get = await alternate("GET", requests, signal, (way) => ways.get(way, ruleId));
    let sent = 0;
    return [get, await alternate("POST", requests, signal, (way) => ways.post(way, `${way}-${sent++}`))];
  } finally {
    await pool.close();
    await client.close();
    await worker.terminate();
  }
}

function waysOver(client: RulesClient, pool: Pool, token: string): Ways {
  const path = "/api/v1/merchants/rules";
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  const parsed = async (response: Promise<Dispatcher.ResponseData>): Promise<unknown> => {
    const { statusCode, body } = await response;
    if (statusCode >= 300) throw new Error(`bare undici was answered ${statusCode}: ${await body.text()}`);
    return body.json();
  };
  return {
    get: (way, ruleId) =>
      way === "sdk" ? client.get(ruleId) : parsed(pool.request({ method: "GET", path: `${path}/${ruleId}`, headers })),
    post(way, key) {
      const definition = rule(1, { name: key });
      if (way === "sdk") return client.create(definition);
      const more = { "content-type": "application/json", "idempotency-key": randomUUID() };
      const body = JSON.stringify(definition);
      return parsed(pool.request({ method: "POST", path, headers: { ...headers, ...more }, body }));
    },
  };
}

async function alternate(
  operation: ClientFigures["operation"],
  requests: number,
  signal: AbortSignal,
  send: (way: Way) => Promise<unknown>,
): Promise<ClientFigures> {
  const taken: Record<Way, number[]> = { sdk: [], undici: [] };
  for (let round = -2; round < rounds; round++) {
    // Who comes first changes, for the second finds the service busier with what the first left.
    for (const way of round % 2 === 0 ? (["sdk", "undici"] as const) : (["undici", "sdk"] as const)) {
      signal.throwIfAborted();
      const start = performance.now();
      await Promise.all(Array.from({ length: requests }, () => send(way)));
      if (round >= 0) taken[way].push((performance.now() - start) / 1000);
    }
  }
  const ratios = taken.sdk.map((seconds, round) => seconds / (taken.undici[round] ?? Number.NaN));
  return {
    operation,
    sdkSeconds: median(taken.sdk),
    undiciSeconds: median(taken.undici),
    ratio: median(ratios),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
