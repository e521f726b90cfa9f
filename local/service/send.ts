import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Answer } from "./answer.ts";
import type { Reply } from "./faults/index.ts";

/** Written to the connection itself: as a web Response an answer takes twice as long. */
export function send(reply: Reply, requestIdHeader: string, outgoing: ServerResponse): void {
  if (reply.send === "nothing") {
    outgoing.destroy();
    return;
  }
  const { status, body } = reply.answer;
  const headers = headersOf(reply.answer, requestIdHeader);
  switch (reply.send) {
    case "whole":
    case "unharmed":
      outgoing.writeHead(status, headers);
      outgoing.end(body);
      return;
    case "half":
      sendHalf(status, headers, body, reply.ending, outgoing);
      return;
    case "padded":
      sendPadded(reply, headers, outgoing);
      return;
  }
}

type Headers = Record<string, string | number>;

function headersOf({ body, headers }: Answer, requestIdHeader: string): Headers {
  const type = body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return { ...type, ...headers, [requestIdHeader]: randomUUID() };
}

function sendHalf(
  status: number,
  headers: Headers,
  body: string,
  ending: "reset" | "end",
  outgoing: ServerResponse,
): void {
  const { socket } = outgoing;
  const stop = (): void => {
    if (ending === "reset") socket?.resetAndDestroy();
    else socket?.end();
  };
  if (body === "") {
    // An answer without a body has no other middle than the one of its status line.
    socket?.write(`HTTP/1.1 ${status} `, stop);
    return;
  }
  const bytes = Buffer.from(body);
  outgoing.writeHead(status, headers);
  outgoing.write(bytes.subarray(0, bytes.length / 2), stop);
}

const blanks = Buffer.alloc(65_536, " ");

/** Never more in memory than one piece; stops when the client goes away. */
function sendPadded(
  { answer, bytes, declared }: Extract<Reply, { send: "padded" }>,
  { "content-length": _length, ...headers }: Headers,
  outgoing: ServerResponse,
): void {
  let left = Math.max(0, bytes - Buffer.byteLength(answer.body));
  outgoing.writeHead(answer.status, {
    ...headers,
    ...(declared ? { "content-length": left + Buffer.byteLength(answer.body) } : {}),
  });
  outgoing.write(answer.body);
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
