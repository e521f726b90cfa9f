import { localCredentials } from "../../../local/service/index.ts";
import { field, isJsonObject, type Json, valueAt } from "../../../sdk/json/index.ts";

export { startService as serve } from "../../support/stack/service.ts";

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: Json;
  /** Presented as `Authorization: Bearer`; null presents nothing. */
  readonly token?: string | null;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The value at a pointer of the body. */
  at(pointer: string): Json | undefined;
}

/** One request over a real socket: `call(service, "GET", "/path")`. */
export async function call(service: { url: string }, method: string, target: string, sent?: Sent): Promise<Received> {
  const response = await request(service, method, target, sent);
  const text = await response.text();
  const json: Json | undefined = text === "" ? undefined : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, at: (pointer) => valueAt(json, pointer) };
}

/** A request's end as a client sees it, which may go wrong in any way; redirects are not followed. */
export interface Attempted {
  /** Undefined when no status arrived. */
  readonly status: number | undefined;
  readonly headers: Headers;
  /** The part of the body that arrived. */
  readonly text: string;
  /** The code of the connection's failure, if it failed. */
  readonly failure: string | undefined;
}

/** One request as {@link call} makes it, whose failure is a result. */
export async function attempt(
  service: { url: string },
  method: string,
  target: string,
  sent?: Sent,
): Promise<Attempted> {
  let response: Response | undefined;
  let text = "";
  try {
    response = await request(service, method, target, sent);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch (error) {
    const failure = codeOf(error);
    return { status: response?.status, headers: response?.headers ?? new Headers(), text, failure };
  }
  return { status: response.status, headers: response.headers, text, failure: undefined };
}

function request(
  { url }: { url: string },
  method: string,
  target: string,
  { headers = {}, body, token = localCredentials.token }: Sent = {},
): Promise<Response> {
  return fetch(url + target, {
    method,
    redirect: "manual",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** fetch wraps what happened to the connection as the cause of its own error. */
function codeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  throw error;
}

/** The text at a pointer, which a test needs to go on. */
export function textAt(received: Received, pointer: string): string {
  const value = received.at(pointer);
  if (typeof value !== "string") throw new Error(`no text at ${pointer} of ${received.text}`);
  return value;
}

/** One field of every element of the array at a pointer. */
export function fieldOfEach(received: Received, pointer: string, name: string): Json[] {
  const value = received.at(pointer);
  if (!Array.isArray(value)) throw new Error(`no array at ${pointer} of ${received.text}`);
  return value.map((element: Json) => (isJsonObject(element) ? (field(element, name) ?? null) : element));
}
