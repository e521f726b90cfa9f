import { createServer, type IncomingMessage } from "node:http";
import { type Json, parseJson } from "../../../sdk/json/index.ts";
import { atEnd } from "../ends.ts";

/** A request as it reaches the front. */
export interface FrontRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: Json | undefined;
}

export interface FrontAnswer {
  readonly status: number;
  readonly body: Json | undefined;
  /** Headers of the service's answer that go through. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of an answer that is not JSON, in place of `body`. */
  readonly html?: string;
}

/** Lets a request through to the service, as it is or changed. */
export type Pass = (changes?: Partial<FrontRequest>) => Promise<FrontAnswer>;

/** A misbehaviour: it answers by itself, or changes what comes of a request. If it throws, the connection is closed. */
export type Misbehaviour = (request: FrontRequest, pass: Pass) => FrontAnswer | Promise<FrontAnswer>;

/** Stands before a service, and may misbehave in its name. */
export interface Front {
  readonly url: string;
  /** The requests that came since the last call, oldest first, with those that never reached the service. */
  taken(): FrontRequest[];
  /** From now on; without an argument all goes through as it is. */
  behave(how?: Misbehaviour): void;
  close(): Promise<void>;
}

/** Lets requests of a method through, or stops them, and answers them as a gateway that heard nothing of the service. */
export function lost(method: string, { status = 504, isDone = true } = {}): Misbehaviour {
  return async (request, pass) => {
    if (request.method !== method) return pass();
    if (isDone) await pass();
    return { status, body: {} };
  };
}

/** True for a request of a page of the list. */
export function isList({ method, path }: FrontRequest): boolean {
  return method === "GET" && path.split("?")[0]?.endsWith("/rules") === true;
}

/** A 404 of what stands before a service, and knows nothing of it. */
export const strangePage: FrontAnswer = { status: 404, body: undefined, html: "default backend - 404" };

const mostBytes = 1 << 20;
const honest: Misbehaviour = (_request, pass) => pass();

/** Starts a front for a service, on 127.0.0.1 only, until the test ends. */
export async function startFront(service: string): Promise<Front> {
  let requests: FrontRequest[] = [];
  let misbehaviour = honest;
  const answer = async (incoming: IncomingMessage): Promise<FrontAnswer> => {
    const request = { method: incoming.method ?? "", path: incoming.url ?? "", body: await bodyOf(incoming) };
    requests.push(request);
    const pass: Pass = (changes) => sendOn(service, incoming, { ...request, ...changes });
    return misbehaviour(request, pass);
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming).then(
      ({ status, body, html, headers }) => {
        const text = html ?? (body === undefined ? "" : JSON.stringify(body));
        const type = html === undefined ? "application/json" : "text/html";
        outgoing.writeHead(status, { ...headers, "content-type": type, "content-length": Buffer.byteLength(text) });
        outgoing.end(text);
      },
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(close);
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : ""}`,
    taken() {
      const taken = requests;
      requests = [];
      return taken;
    },
    behave(how = honest) {
      misbehaviour = how;
    },
    close,
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Json | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming) {
    bytes += part.length;
    if (bytes > mostBytes) throw new Error("the body is too large");
    parts.push(part);
  }
  return bytes === 0 ? undefined : parseJson(Buffer.concat(parts).toString());
}

async function sendOn(
  service: string,
  { headers }: IncomingMessage,
  { method, path, body }: FrontRequest,
): Promise<FrontAnswer> {
  const kept = ["authorization", "idempotency-key", "if-match"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const response = await fetch(service + path, {
    method,
    headers: { ...Object.fromEntries(kept), ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: "manual",
  });
  const text = await response.text();
  const { status, headers: answered } = response;
  if (answered.get("content-type")?.startsWith("text/html") === true) return { status, body: undefined, html: text };
  const etag = answered.get("etag");
  return { status, body: text === "" ? undefined : parseJson(text), ...(etag === null ? {} : { headers: { etag } }) };
}
