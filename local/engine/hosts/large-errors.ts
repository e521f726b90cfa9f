/**
 * Errors that are too large for a header. gRPC carries an error's message and details in HTTP/2 trailers, and Node's
 * HTTP/2 client takes no more than about 130 KB of those (Pulumi's own engine takes 16 MB). The partial result of a set
 * with a thousand rules has more, and without it their ids would be lost: it goes by way of a file.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type * as Grpc from "@grpc/grpc-js";
import { type Failure, type Method, wrapServedMethods } from "./served-methods.ts";

const fileKey = "merchant-rules-error-file";
const detailsKey = "grpc-status-details-bin";
const mostInHeaders = 32_768;

/** Lets every service of a provider host spill errors that are too large. To be called there, before it starts. */
export function spillLargeErrors(grpc: typeof Grpc): void {
  wrapServedMethods(grpc, (method) => spilling(method, grpc.Metadata));
}

/** Reads the message and details of an error in the engine, from wherever they are. */
export function wholeError(error: Grpc.ServiceError): { message: string; details: Buffer | undefined } {
  const [file] = error.metadata.get(fileKey);
  if (typeof file === "string") {
    try {
      const [message, details] = readFileSync(file, "utf8")
        .split("\n", 2)
        .map((line) => Buffer.from(line, "base64"));
      return { message: message?.toString("utf8") ?? "", details: details?.length === 0 ? undefined : details };
    } finally {
      rmSync(dirname(file), { recursive: true, force: true });
    }
  }
  const [details] = error.metadata.get(detailsKey);
  return {
    message: error.details === "" ? error.message : error.details,
    details: Buffer.isBuffer(details) ? details : undefined,
  };
}

function spilling(method: Method, MetadataOf: typeof Grpc.Metadata): Method {
  return function spill(this: unknown, call, respond) {
    return method.call(this, call, (error, response, trailer) => {
      if (error === null || error === undefined) return respond(error, response, trailer);
      const small = spilled(error, MetadataOf);
      respond(small, response, small === error ? trailer : small.metadata);
    });
  };
}

function spilled(error: Failure, MetadataOf: typeof Grpc.Metadata): Failure {
  const message = Buffer.from(error.message ?? "");
  const [details = Buffer.alloc(0)] = error.metadata?.get(detailsKey) ?? [];
  if (message.length + details.length <= mostInHeaders) return error;
  const file = join(mkdtempSync(join(tmpdir(), "merchant-rules-error-")), "error");
  writeFileSync(file, `${message.toString("base64")}\n${Buffer.from(details).toString("base64")}`, { mode: 0o600 });
  const metadata = new MetadataOf();
  metadata.set(fileKey, file);
  return { ...(error.code === undefined ? {} : { code: error.code }), message: "the error is in a file", metadata };
}
