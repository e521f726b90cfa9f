import { createServer, type IncomingMessage } from "node:http";
import { type ContractInput, defineContract } from "../../../../sdk/contract/index.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../sdk/json/index.ts";
import { atEnd } from "../../../support/ends.ts";

export type Merchant = 0 | 1;

/** Short ids ("1", "2" at each merchant), the same given again (highest + 1), opaque ones, and ones that the client chooses. */
export type Ids = "short" | "again" | "opaque" | "chosen";

/** A rule at a merchant. What the test alone knows of it: who made it, and whether this stack may write it. */
export interface LiveRule {
  readonly ruleId: string;
  readonly rule: JsonObject;
  readonly maker: "ours" | "hand" | "another stack";
  readonly isMine: boolean;
}

/** The rules of both merchants, and the last numbers that ids were made of. */
export interface Rules {
  rules: [LiveRule[], LiveRule[]];
  last: [number, number];
}

export interface Write {
  readonly kind: "create" | "update" | "delete";
  readonly merchant: Merchant;
  /** The rule as it was before. */
  readonly live: LiveRule | undefined;
}

/** The run that is served now. A request of any other run, which may be dead, is neither carried out nor answered. */
export interface Serving {
  readonly run: number;
  readonly at: Rules;
  readonly ids: Ids;
  /** Hears of a write before it is carried out. */
  readonly write: (write: Write) => { readonly isDone: boolean; readonly isAnswered: boolean };
}

/** Makes a token of a merchant: a JWT whose subject is the principal, and which says the run. */
export function tokenOf(merchant: Merchant, credentials: number, run: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: `${merchant}/${credentials}`, run })}.x`;
}

/** Gives a new id at a merchant. */
export function newId(at: Rules, merchant: Merchant, ids: Ids): string {
  if (ids === "again") return String(Math.max(0, ...at.rules[merchant].map(({ ruleId }) => Number(ruleId))) + 1);
  const counter = ids === "short" ? merchant : 0;
  at.last[counter] += 1;
  return ids === "short" ? String(at.last[counter]) : `rule-${at.last[counter]}`;
}

/** Serves the rules that a test holds: two merchants of one service, each by several tokens. It keeps nothing itself. */
export async function startService(contract: ContractInput) {
  const { create, update, delete: remove } = defineContract(contract).operations;
  const status = { create: create.success[0], update: update?.success[0], delete: remove.success[0] };
  const service = { url: "", serving: undefined as Serving | undefined };
  const server = createServer((request, response) => {
    response.setHeader("connection", "close");
    answer(request).then(
      (told) => {
        if (told === undefined) return response.destroy();
        response.writeHead(told.status, { "content-type": "application/json" });
        return response.end(told.status === 204 ? undefined : JSON.stringify(told.body));
      },
      () => response.destroy(),
    );
  });

  async function answer(request: IncomingMessage): Promise<{ status: number; body: JsonObject } | undefined> {
    const body = await bodyOf(request);
    const { serving } = service;
    const [, payload = ""] = (request.headers.authorization ?? "").split(".");
    const { sub, run } = JSON.parse(Buffer.from(payload, "base64url").toString());
    if (serving === undefined || run !== serving.run) return undefined;
    const merchant: Merchant = String(sub).startsWith("0") ? 0 : 1;
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const rules = serving.at.rules[merchant];
    if (pathname === "/me") return { status: 200, body: { account: { id: `merchant-${merchant}` } } };
    const path = /^.*\/rules\/?/.exec(pathname)?.[0] ?? "";
    const named = pathname.slice(path.length) || searchParams.get("ruleId");
    if (request.method === "GET" && named === null) return { status: 200, body: { rules: rules.map(shown) } };
    const live = rules.find(({ ruleId }) => ruleId === named);
    if (request.method !== "POST" && live === undefined) return { status: 404, body: {} };
    if (request.method === "GET" && live !== undefined) return { status: 200, body: shown(live) };
    const kind = request.method === "POST" ? "create" : request.method === "DELETE" ? "delete" : "update";
    const { isDone, isAnswered } = serving.write({ kind, merchant, live });
    const { id, ...rule } = body;
    const ruleId =
      live?.ruleId ?? (typeof id === "string" ? id : isDone ? newId(serving.at, merchant, serving.ids) : "");
    if (live === undefined && rules.some((each) => each.ruleId === ruleId)) return { status: 409, body: {} };
    const now: LiveRule = { maker: "ours", isMine: true, ...live, ruleId, rule };
    if (isDone && live === undefined) rules.push(now);
    if (isDone && live !== undefined) rules.splice(rules.indexOf(live), 1, ...(kind === "delete" ? [] : [now]));
    return isAnswered ? { status: status[kind] ?? 200, body: kind === "delete" ? {} : shown(now) } : undefined;
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  service.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  atEnd(() => void server.close());
  return service;
}

function shown({ ruleId, rule }: LiveRule): JsonObject {
  return { id: ruleId, ...rule };
}

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const text = Buffer.concat(await request.toArray()).toString();
  const body: Json = text === "" ? {} : JSON.parse(text);
  return isJsonObject(body) ? body : {};
}
