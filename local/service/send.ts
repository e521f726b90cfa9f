import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Reply } from "./faults/index.ts";

/** Writes a reply to the connection itself: as a web Response it would take twice as long. */
export function send(reply: Reply, requestIdHeader: string, outgoing: ServerResponse): void {
  if (reply.send === "nothing") {
    outgoing.destroy();
    return;
  }
  const { status, body, headers: own } = reply.response;
  const type = body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const headers: Headers = { ...type, ...own, [requestIdHeader]: randomUUID() };
  if (reply.send === "half") sendHalf(reply, headers, outgoing);
  else if (reply.send === "padded") sendPadded(reply, headers, outgoing);
  else outgoing.writeHead(status, headers).end(body);
}

type Headers = Record<string, string | number>;

function sendHalf(
  { response: { status, body }, ending }: Extract<Reply, { send: "half" }>,
  headers: Headers,
  outgoing: ServerResponse,
): void {
  const { socket } = outgoing;
  const stop = (): void => {
    if (ending === "reset") socket?.resetAndDestroy();
    else socket?.end();
  };
  if (body === "") {
    // A response without a body has no other middle than the one of its status line.
    socket?.write(`HTTP/1.1 ${status} `, stop);
    return;
  }
  const bytes = Buffer.from(body);
  outgoing.writeHead(status, headers);
  outgoing.write(bytes.subarray(0, bytes.length / 2), stop);
}

const blanks = Buffer.alloc(65_536, " ");

/** Sends a body and blanks up to `bytes`, a piece at a time; stops when the client goes away. */
function sendPadded(
  { response, bytes, declared }: Extract<Reply, { send: "padded" }>,
  { "content-length": _length, ...headers }: Headers,
  outgoing: ServerResponse,
): void {
  const length = Buffer.byteLength(response.body);
  let left = Math.max(0, bytes - length);
  outgoing.writeHead(response.status, { ...headers, ...(declared ? { "content-length": left + length } : {}) });
  outgoing.write(response.body);
  const goOn = (): void => {
    while (left > 0 && !outgoing.destroyed) {
      const piece = blanks.subarray(0, left);
      left -= piece.length;
      if (!outgoing.write(piece)) {
        outgoing.once("drain", goOn);
        return;
      }
    }
    if (!outgoing.destroyed) outgoing.end();
  };
  goOn();
}
