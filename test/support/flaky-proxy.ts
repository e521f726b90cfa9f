import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What becomes of one request on its way to the service and back. */
export const faults = [
  "pass",
  "drop before forwarding",
  "drop after forwarding",
  "503 before forwarding",
  "500 after forwarding",
  "429",
] as const;
export type Fault = (typeof faults)[number];

/** A proxy in front of a service that does to each request what is next in its sequence, and afterwards lets all pass. */
export interface FlakyProxy {
  readonly url: string;
  /** What to do to the requests from now on, in the order in which they arrive. */
  break(sequence: readonly Fault[]): void;
  close(): Promise<void>;
}

export async function startFlakyProxy(target: string): Promise<FlakyProxy> {
  let sequence: Fault[] = [];
  const server = createServer((incoming, outgoing) => {
    const fault = sequence.shift() ?? "pass";
    pass(fault, target, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    break(next) {
      sequence = [...next];
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function pass(fault: Fault, target: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await bytesOf(incoming);
  switch (fault) {
    case "drop before forwarding":
      outgoing.destroy();
      return;
    case "503 before forwarding":
      outgoing.writeHead(503).end();
      return;
    case "429":
      outgoing.writeHead(429, { "retry-after": "0" }).end();
      return;
  }
  // Answered in full before it is lost: what the service does, it has done when the client looks again.
  const answer = await forward(target, incoming, body);
  if (fault === "drop after forwarding") outgoing.destroy();
  else if (fault === "500 after forwarding") outgoing.writeHead(500).end();
  else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

function forward(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const { host: _host, connection: _connection, "transfer-encoding": _encoding, ...others } = headers;
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...others, "content-length": body.length } };
    const forwarded = request(new URL(url ?? "/", target), options, (response) => {
      const { connection: _hop, "transfer-encoding": _chunked, ...kept } = response.headers;
      bytesOf(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 502, headers: kept, body: bytes }),
        reject,
      );
    });
    forwarded.once("error", reject);
    forwarded.end(body);
  });
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}
