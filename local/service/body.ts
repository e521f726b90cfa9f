import { findNotJson, isJson, isJsonObject, type Json, type JsonObject, pathOf } from "../../sdk/json/index.ts";
import { badRequest, Refusal } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";

/**
 * Parses the body of a request as a JSON object.
 * @throws Refusal as {@link jsonValue}, and 400 for what is not an object.
 */
export function jsonBody(
  request: IncomingRequest,
  maxBodyBytes: number,
  type: string | null = "application/json",
): JsonObject {
  const value = jsonValue(request, maxBodyBytes, type);
  if (!isJsonObject(value)) throw badRequest("the body must be a JSON object");
  return value;
}

/**
 * Parses the body of a request as JSON.
 * @throws Refusal 415, 413, 400 for what is not JSON, 422 for JSON that no program can hold.
 */
export function jsonValue(
  request: IncomingRequest,
  maxBodyBytes: number,
  type: string | null = "application/json",
): Json {
  if (type !== null) demandType(request, type);
  const value = parseJson(textOf(request, maxBodyBytes));
  const fault = findNotJson(value);
  if (fault !== undefined || !isJson(value)) {
    const details = fault === undefined ? [] : [{ path: pathOf(fault.path), reason: `found ${fault.found}` }];
    throw new Refusal(422, "VALIDATION_FAILED", "the body holds a value that cannot be kept", { details });
  }
  return value;
}

/**
 * Parses the body of a request as a form, and returns its fields.
 * @throws Refusal 415, 413, 400 for a field that is sent twice.
 */
export function formBody(request: IncomingRequest, maxBodyBytes: number): JsonObject {
  demandType(request, "application/x-www-form-urlencoded");
  const fields = new Map<string, Json>();
  for (const [name, value] of new URLSearchParams(textOf(request, maxBodyBytes))) {
    if (fields.has(name)) throw badRequest(`the field ${name} is sent more than once`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** Refuses a body. @throws Refusal 400 where there is one */
export function demandNoBody({ body }: IncomingRequest): void {
  if ("tooLarge" in body || body.bytes.length > 0) throw badRequest("this operation takes no body");
}

function demandType(request: IncomingRequest, wanted: string): void {
  const sent = request.header("content-type") ?? "";
  const [type = "", ...parameters] = sent.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  if (type === wanted && (charset === undefined || charset === "utf-8" || charset === "utf8")) return;
  const found = sent === "" ? "no content-type" : `content-type ${sent}`;
  throw new Refusal(415, "UNSUPPORTED_MEDIA_TYPE", `found ${found}; allowed: ${wanted}`);
}

function textOf({ body }: IncomingRequest, maxBodyBytes: number): string {
  if ("tooLarge" in body) {
    throw new Refusal(413, "PAYLOAD_TOO_LARGE", `the body is larger than ${maxBodyBytes} bytes`);
  }
  try {
    return utf8.decode(body.bytes);
  } catch {
    throw badRequest("the body is not UTF-8");
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest("the body is not JSON");
  }
}
