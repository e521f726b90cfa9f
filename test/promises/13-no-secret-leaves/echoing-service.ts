import { isJsonObject, type Json, type JsonObject, valueAt } from "../../../sdk/json/index.ts";
import {
  type Answer,
  cut,
  dropped,
  type Received,
  type ScriptedServer,
  serve,
} from "../../sdk/client/scripted-server.ts";
import { forms } from "./traces.ts";

/** The ways in which a request can fail; rules are named after them. */
export const failures = [
  ...["302", "400", "401", "403", "409", "422", "429", "500", "503"],
  ...["html", "other shape", "cut json", "cut", "dropped"],
] as const;

export const methods = ["POST", "GET", "PUT", "DELETE"];

export interface EchoingService extends ScriptedServer {
  /** The failures so far: `POST 422`. */
  readonly failed: ReadonlySet<string>;
  /** The methods of which requests about a rule fail in the way that its name says; none at first. */
  failing: readonly string[];
  readonly rules: Map<string, JsonObject>;
}

/**
 * A rules service that, where it fails, repeats whatever it was sent and whatever it knows: in its code, its message,
 * its request id, its Location; in another form with every request.
 * @param told what it has heard of besides, such as the token that it gave
 */
export async function serveEchoing(
  token: string,
  told: readonly string[],
  onWrite = (): void => undefined,
): Promise<EchoingService> {
  const rules = new Map<string, JsonObject>();
  const failed = new Set<string>();
  const spellings = told.flatMap((text) => forms.map(([, spelling]) => spelling(text)));
  let echoes = 0;
  const next = (): string => spellings[echoes++ % spellings.length] ?? "";

  function fail(way: string, { body, headers }: Received): Answer {
    const error = {
      code: `E-${next()}`,
      message: `${next()} is not right, nor is ${next()}; you sent ${headers.authorization} ${body}`,
    };
    const echo = JSON.stringify({ error });
    switch (way) {
      case "html":
        return { status: 200, body: `<p>${error.message}</p>` };
      case "other shape":
        return { status: 200, json: { id: { [error.message]: error.message }, error } };
      case "cut json":
        return { status: 200, body: echo.slice(0, -2) };
      case "cut":
        return cut(200, echo);
      case "dropped":
        return dropped;
      default:
        return {
          status: Number(way),
          body: echo,
          headers: { "x-request-id": encodeURIComponent(next()), location: `/?${encodeURIComponent(next())}` },
        };
    }
  }

  let failing: readonly string[] = [];
  const server = await serve((received) => {
    const { method, target, body } = received;
    if (target === "/token") return { json: { access_token: token, expires_in: 3600 } };
    const sent: Json = body === "" ? null : JSON.parse(body);
    const ruleId =
      method === "POST"
        ? `id of ${String(valueAt(sent, "/name"))}`
        : decodeURIComponent(target.split("/").at(-1) ?? "");
    const way = failures.find((each) => ruleId.endsWith(` ${each}`));
    if (method !== "GET") onWrite();
    if (failing.includes(method) && way !== undefined) {
      failed.add(`${method} ${way}`);
      return fail(way, received);
    }
    if (isJsonObject(sent)) rules.set(ruleId, sent);
    const rule = rules.get(ruleId);
    if (method === "DELETE") rules.delete(ruleId);
    return rule === undefined
      ? { status: 404 }
      : { status: method === "POST" ? 201 : 200, json: { ...rule, id: ruleId } };
  });
  return {
    ...server,
    failed,
    rules,
    get failing() {
      return failing;
    },
    set failing(methods) {
      failing = methods;
    },
  };
}
