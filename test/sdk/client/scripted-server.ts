import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type Connection, RulesClient, type RulesClientOptions } from "../../../sdk/client/index.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { isMerchantRulesError, type MerchantRulesError } from "../../../sdk/errors.ts";

/** A request as it arrived. */
export interface Received {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
}

/** A reply, or a function that does with the response as it likes. */
export type Answer = Reply | ((response: ServerResponse, received: Received) => void | Promise<void>);

/** Answers by the number of the request, the last of them for all that follow; or by a function. */
export type Script = readonly Answer[] | ((received: Received, number: number) => Answer | Promise<Answer>);

export interface ScriptedServer {
  readonly baseUrl: string;
  readonly port: number;
  readonly requests: readonly Received[];
  readonly connections: () => number;
}

/** A server for one test, on a port of its own; gone when the test is. */
export async function serve(script: Script): Promise<ScriptedServer> {
  const requests: Received[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "", url = "", headers } = request;
    const received = { method, target: url, headers, body: Buffer.concat(chunks).toString() };
    requests.push(received);
    const answer =
      typeof script === "function"
        ? await script(received, requests.length)
        : (script[requests.length - 1] ?? script.at(-1) ?? {});
    if (typeof answer === "function") await answer(response, received);
    else reply(response, answer);
  });
  // Long enough that what waits for an idle connection to end is seen to wait.
  server.keepAliveTimeout = 60_000;
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, port, requests, connections: () => connections };
}

export function reply(response: ServerResponse, { status = 200, json, body, headers = {} }: Reply): void {
  const bytes = Buffer.from(body ?? (json === undefined ? "" : JSON.stringify(json)));
  response.writeHead(status, { "content-length": bytes.length, ...headers });
  response.end(bytes);
}

/** The connection is gone before any of an answer. */
export const dropped: Answer = (response) => {
  response.destroy();
};

/** A body that announces more than it brings. */
export function cut(status: number, body = '{"id":"r1","na'): Answer {
  return (response) => {
    response.writeHead(status, { "content-length": body.length + 100 });
    response.write(body, () => response.destroy());
  };
}

/** Never answers; the connection stays. */
export const silent: Answer = () => undefined;

/** A contract of the tests: the seed's, with delete by query, and what a test adds. */
export function contractOf(input: Partial<ContractInput> = {}): Connection["contract"] {
  const { operations, ...rest } = input;
  return defineContract({
    version: 1,
    operations: { delete: { identifyBy: { in: "query" } }, ...operations },
    ...rest,
  });
}

/** A client of a scripted server, quick to try again. */
export function clientOf(
  server: Pick<ScriptedServer, "baseUrl">,
  contract: Partial<ContractInput> = {},
  connection: Partial<Connection> = {},
  options: RulesClientOptions = {},
): RulesClient {
  const client = new RulesClient(
    {
      name: "default",
      baseUrl: server.baseUrl,
      contract: contractOf(contract),
      parameters: {},
      credentials: { kind: "token", token: "token-of-the-tests" },
      ...connection,
    },
    { backoffMs: 1, ...options },
  );
  return client;
}

/** The error of this package that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<MerchantRulesError> {
  try {
    await promise;
  } catch (error) {
    if (isMerchantRulesError(error)) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

/** All that a generator yields. */
export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
