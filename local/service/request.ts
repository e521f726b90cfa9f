import type { IncomingMessage } from "node:http";

/** A request as the operations see it: read to its end, not yet judged. */
export interface IncomingRequest {
  readonly method: string;
  /** The path as sent, percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Returns a header's value; several of one name are joined by a comma. */
  header(name: string): string | undefined;
  readonly body: Body;
}

/** A body, or the fact that it is larger than may be read. */
export type Body = { readonly bytes: Buffer } | { readonly tooLarge: true };

const empty: Body = { bytes: Buffer.alloc(0) };

/** Reads a whole request; a body beyond `maxBodyBytes` is passed over and not kept. */
export async function readRequest(incoming: IncomingMessage, maxBodyBytes: number): Promise<IncomingRequest> {
  const target = incoming.url ?? "/";
  // Not new URL: it would resolve . and .. and read //host as a host.
  const at = target.indexOf("?");
  return {
    method: incoming.method ?? "GET",
    path: at === -1 ? target : target.slice(0, at),
    query: new URLSearchParams(at === -1 ? "" : target.slice(at + 1)),
    header: (name) => {
      const value = incoming.headers[name.toLowerCase()];
      return typeof value === "object" ? value.join(", ") : value;
    },
    body: await readBody(incoming, maxBodyBytes),
  };
}

function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Body> {
  const { "content-length": length, "transfer-encoding": coding } = incoming.headers;
  if (coding === undefined && (length === undefined || length === "0")) return Promise.resolve(empty);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // Read on and keep nothing: a client that still sends would see a broken connection instead of the 413.
      if (size > maxBytes) chunks.length = 0;
      else chunks.push(chunk);
    });
    incoming.on("end", () => resolve(size > maxBytes ? { tooLarge: true } : { bytes: Buffer.concat(chunks) }));
    incoming.on("error", reject);
    incoming.on("close", () => reject(new Error("the connection closed within the request's body")));
  });
}

/**
 * Returns why a request is not of a program of this machine, by its headers; undefined where it is. A page of another site
 * is kept out, even when its name was turned to this machine's address: a browser sends that name as the host, and the
 * page's site as the origin.
 */
export function strangerBy(header: (name: string) => string | undefined): string | undefined {
  const host = header("host") ?? "";
  const origin = header("origin");
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/i.test(host))
    return `found host ${JSON.stringify(host)}; allowed: 127.0.0.1 and localhost`;
  if (origin !== undefined && origin !== `http://${host}`)
    return `found origin ${JSON.stringify(origin)}; allowed: none, or http://${host}`;
  return undefined;
}
