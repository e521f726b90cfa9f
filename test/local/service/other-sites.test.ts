import { request } from "node:http";
import { expect, test } from "vitest";
import { type LocalService, localCredentials } from "../../../local/service/index.ts";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { serve } from "./under-test.ts";

const rules = "/api/v1/merchants/rules";
const contract = loadPreset("illustrative");

test.each(["GET", "POST", "OPTIONS", "DELETE"])(
  "the rules are served to programs of this machine, and %s to no page of another site, not with the right token either",
  async (method) => {
    const service = await serve({ contract });
    const { port } = new URL(service.url);
    service.put(undefined, rule(1));
    const before = service.rules();
    const rebound = `rebound.example:${port}`;
    const strangers: Record<string, string>[] = [
      { origin: "https://example.com" },
      { origin: "null" },
      { origin: "http://127.0.0.1:1" },
      { origin: `https://127.0.0.1:${port}` },
      { host: rebound },
      { host: rebound, origin: `http://${rebound}` },
    ];
    for (const headers of strangers) {
      const { status, body } = await raw(service, method, headers);
      expect(status, JSON.stringify(headers)).toBe(403);
      expect(JSON.parse(body).error).toMatchObject({
        code: "FORBIDDEN",
        message: expect.stringContaining("allowed: "),
      });
    }
    expect(service.rules()).toEqual(before);
    expect(service.requestCount("unknown")).toBe(strangers.length);
    const own = [{}, { origin: service.url }, { host: `localhost:${port}`, origin: `http://localhost:${port}` }];
    for (const headers of own)
      expect((await raw(service, method, headers)).status, JSON.stringify(headers)).not.toBe(403);
  },
);

/** A request with the service's token and any Host and Origin, which fetch does not let one set. */
function raw(
  service: LocalService,
  method: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number | undefined; body: string }> {
  const body = method === "POST" ? JSON.stringify(rule(2)) : "";
  const sent = {
    authorization: `Bearer ${localCredentials.token}`,
    ...(body === "" ? {} : { "content-type": "application/json" }),
    "content-length": Buffer.byteLength(body),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    request(service.url + rules, { method, headers: sent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode, body: text }));
    })
      .on("error", reject)
      .end(body);
  });
}
