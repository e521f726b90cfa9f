import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { Redactor } from "../../../sdk/client/redact.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { clientOf, failureOf, serve } from "../../sdk/client/scripted-server.ts";
import { expectNoTrace, forms, secretAround } from "./traces.ts";

/** Whatever of an error could reach a log: all its fields, its causes, its stack. */
function shown(error: unknown): string {
  return `${inspect(error, { depth: 20, showHidden: true })}${JSON.stringify(error)}${String(error)}`;
}

const core = "ZqFieldOfIt";
const secret = secretAround(core);
const contract = {
  operations: {
    update: { path: "/rules/{ruleId}", body: "declared" },
    delete: { path: "/rules/{ruleId}", identifyBy: { in: "path" } },
  },
  rule: { naturalKey: "/name" },
  limits: { maxAttempts: 1 },
} as const;
const definition: JsonObject = { name: "limit-1", hook: { keys: ["other", secret] }, amount: 123_456 };

async function refusing(text: (body: string) => string) {
  const server = await serve(({ body }) => ({
    status: 422,
    json: { error: { code: text(body), message: text(body), details: [{ path: "hook", found: text(`${body} `) }] } },
    headers: { "x-request-id": encodeURIComponent(text(body)) },
  }));
  return clientOf(server, contract);
}

describe("a value of the definition that the service repeats", () => {
  test.each(forms)("is not printed: %s", async (_, spelling) => {
    const client = await refusing(() => `the value ${spelling(secret)} is refused`);
    const known = { known: definition };
    for (const call of [
      () => client.create(definition),
      () => client.update("r1", definition),
      () => client.update("r1", {}, { live: definition }),
      () => client.update("r1", {}, known),
      () => client.get("r1", known),
      () => client.delete("r1", known),
    ]) {
      const error = await failureOf(call());
      expect(error.exchange?.serviceMessage).toContain("[definition.hook.keys[1]]");
      expect(error.exchange?.serviceMessage).toMatch(/^the value .* is refused$/);
      expectNoTrace([core], { error: shown(error) });
    }
  });

  test("is named by where it stands, but for the natural key, what is too short to be a secret, and truth values", async () => {
    const client = await refusing((body) => `refused: ${body}`);
    const error = await failureOf(
      client.create({
        name: "limit-1",
        again: "limit-1",
        operator: "gt",
        priority: 7,
        isActive: true,
        amount: 5000,
        "a b": "long enough",
      }),
    );
    expect(error.exchange?.serviceMessage).toBe(
      'refused: {"name":"limit-1","again":"limit-1","operator":"gt","priority":7,"isActive":true,' +
        '"amount":[definition.amount],"a b":"[definition["a b"]]"}',
    );
  });

  test("is left where it is the natural key, be that a number", async () => {
    const server = await serve([{ status: 422, json: { error: { message: "12345 is taken, 67890" } } }]);
    const error = await failureOf(clientOf(server, contract).create({ name: 12_345, amount: 67_890 }));
    expect(error.exchange?.serviceMessage).toBe("12345 is taken, [definition.amount]");
  });

  test("is left where it is a part of a longer word or number, unless it is long itself", async () => {
    const client = await refusing(() => "declined, 50001, amounts; decline; 5000; xlong enoughx");
    const error = await failureOf(client.create({ a: "decline", b: 5000, c: "amount", d: "long enough" }));
    expect(error.exchange?.serviceMessage).toBe(
      "declined, 50001, amounts; [definition.a]; [definition.b]; x[definition.d]x",
    );
  });

  test("that the contract calls secret is hidden however short it is, the natural key too", async () => {
    const server = await serve([{ status: 422, json: { error: { message: "pin 07 of limit-1, 12.5, 42, 3" } } }]);
    const secrets = { rule: { naturalKey: "/name", secret: ["/name", "/pins/*"] } };
    const error = await failureOf(clientOf(server, secrets).create({ name: "limit-1", pins: ["07", 12.5, 42, 3] }));
    expect(error.exchange?.serviceMessage).toBe(
      "pin [definition.pins[0]] of [definition.name], [definition.pins[1]], [definition.pins[2]], 3",
    );
  });

  test("is not searched for in a text of thousands of characters, which is no message", async () => {
    const client = await refusing(() => `${"x".repeat(8192)}${secret}`);
    const error = await failureOf(client.create(definition));
    expect(error.exchange?.serviceMessage).toBe(`[a text of ${8192 + secret.length} characters]`);
  });
});

describe("what is hidden for good", () => {
  test("stays hidden however many tokens come after it", () => {
    const redactor = new Redactor();
    redactor.keep("client-secret");
    for (let index = 0; index < 100; index += 1) redactor.add(`token-${index}-`);
    expect(redactor.redact("client-secret token-99- token-90-")).toBe("[redacted] [redacted] [redacted]");
  });

  test("a client secret, after more renewals than tokens are remembered", async () => {
    const clientSecret = secretAround("ZqClientOfIt");
    let asked = 0;
    const server = await serve(({ target, body }) => {
      if (target !== "/token") return { json: { id: "r1" } };
      asked += 1;
      if (asked > 30) return { status: 400, json: { error: { message: body } } };
      return { json: { access_token: `t${asked}`, expires_in: 0.000_001 } };
    });
    const token = { path: "/token", fields: { s: "{clientSecret}" } };
    const credentials = { kind: "client", clientId: "shop", clientSecret } as const;
    const client = clientOf(server, { auth: { token } }, { credentials });
    for (let index = 0; index < 30; index += 1) await client.get("r1");
    const error = await failureOf(client.get("r1"));
    expect(error.exchange?.serviceMessage).toBe('{"s":"[redacted]"}');
    expectNoTrace(["ZqClientOfIt"], { error: shown(error) });
  });
});
