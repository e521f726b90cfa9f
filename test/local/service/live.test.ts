import { request } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { eventsPath, type LivePage, type LocalService } from "../../../local/service/index.ts";
import { type ContractInput, defineContract, loadPreset } from "../../../sdk/contract/index.ts";
import { isJsonObject, type Json } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { call, serve } from "./under-test.ts";

const contract = loadPreset("illustrative");
const page: LivePage = {
  html: "<!doctype html><title>rules</title>",
  policy: "default-src 'none'",
  row: ({ ruleId, rule: { name = null } }) => ({ id: ruleId, name }),
};

/** Looks at the events of a service until the test ends. */
async function watch({ url }: LocalService) {
  const seen: { event: string; data: Json }[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(url + eventsPath, { signal: stop.signal });
  const ended = (async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const each of events) {
        const [, event = "", data = "null"] = /^event: (\w+)\ndata: (.*)$/.exec(each) ?? [];
        seen.push({ event, data: JSON.parse(data) });
      }
    }
  })().catch(() => undefined);
  const all = (event: string): Json[] => seen.filter((each) => each.event === event).map(({ data }) => data);
  return { response, seen, all, ended };
}

/** The rules of a watcher as its page has them: by id, the name. */
function shownBy(seen: readonly { event: string; data: Json }[]): Map<Json | undefined, Json | undefined> {
  const shown = new Map<Json | undefined, Json | undefined>();
  for (const { event, data } of seen) {
    if (event === "rules" && isJsonObject(data) && Array.isArray(data.rules))
      for (const { id, name } of data.rules) shown.set(id, name);
    if (event !== "changed" || !Array.isArray(data)) continue;
    for (const each of data) if (each.rule === null) shown.delete(each.id);
    for (const each of data) if (each.rule !== null) shown.set(each.id, each.rule.name);
  }
  return shown;
}

test("the page is at / with its policy; without one, and where the contract has a / itself, it is not", async () => {
  const { url, pageUrl } = await serve({ contract, page });
  expect(pageUrl).toBe(`${url}/`);
  const response = await fetch(url);
  expect(await response.text()).toBe(page.html);
  expect(response.headers.get("content-security-policy")).toBe(page.policy);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect((await call({ url }, "POST", "/")).status).toBe(404);

  const without = await serve({ contract });
  expect(without.pageUrl).toBeUndefined();
  expect((await call(without, "GET", "/")).status).toBe(404);
  expect((await call(without, "GET", eventsPath)).status).toBe(404);

  const list: NonNullable<ContractInput["operations"]>["list"] = { path: "/", items: "", pagination: { type: "none" } };
  const own = await serve({ contract: defineContract({ version: 1, operations: { list } }), page });
  expect(own.pageUrl).toBeUndefined();
  expect((await call(own, "GET", "/")).text).toBe("[]");
});

test("no page of another site sees the page or its events", async () => {
  const { url } = await serve({ contract, page });
  for (const path of ["/", eventsPath])
    for (const headers of [{ origin: "https://example.com" }, { host: "rebound.example" }]) {
      const status = await new Promise((done, failed) => {
        request(url + path, { headers }, (response) => {
          response.resume();
          done(response.statusCode);
        })
          .on("error", failed)
          .end();
      });
      expect(status, `${path} ${JSON.stringify(headers)}`).toBe(403);
    }
});

test("whoever looks sees what is there, and each write and request as they come", async () => {
  const service = await serve({ contract, page, now: () => Date.UTC(2026, 0, 2) });
  const ids = Array.from({ length: 450 }, (_, k) => service.put(undefined, rule(k)));
  const watcher = await watch(service);
  expect(watcher.response.headers.get("content-type")).toBe("text/event-stream");
  await expect.poll(() => shownBy(watcher.seen).size).toBe(450);
  const [first] = watcher.all("rules");
  expect(first).toMatchObject({ isFirst: true, rules: { length: 200, 0: { id: ids.at(-1) } } });

  await call(service, "POST", "/api/v1/merchants/rules", { body: rule(1000) });
  const [updated = "", removed = "", briefly = ""] = [ids[3], ids[4], service.put(undefined, rule(2000))];
  service.put(updated, { ...rule(3), name: "renamed" });
  service.remove(removed);
  service.remove(briefly);
  await call(service, "GET", "/nowhere?a=b");
  await expect.poll(() => shownBy(watcher.seen).get(updated)).toBe("renamed");
  await expect
    .poll(() => watcher.all("requests").flat())
    .toMatchObject([
      { at: "2026-01-02T00:00:00.000Z", method: "POST", operation: "create", status: "201" },
      { method: "GET", path: "/nowhere?a=b", operation: "unknown", status: "404" },
    ]);
  const shown = shownBy(watcher.seen);
  expect(shown.has(removed)).toBe(false);
  expect(shown.has(briefly)).toBe(false);
  expect([...shown.values()]).toContain(rule(1000).name);
  expect(shown.size).toBe(450);
  await Promise.all(Array.from({ length: 60 }, () => call(service, "GET", "/nowhere")));
  const later = await watch(service);
  await expect.poll(() => later.all("requests")[0]).toHaveLength(50);
});

test("a rule that is deleted and kept is gone from the page", async () => {
  const { version: _, ...rest } = JSON.parse(JSON.stringify(contract));
  const soft = defineContract({
    version: 1,
    ...rest,
    rule: { ...rest.rule, gone: [{ at: "/status", is: ["deleted"] }] },
  });
  const service = await serve({ contract: soft, page });
  const watcher = await watch(service);
  const ruleId = service.put(undefined, rule(1));
  await expect.poll(() => shownBy(watcher.seen).size).toBe(1);
  service.put(ruleId, { ...rule(1), status: "deleted" });
  await expect.poll(() => shownBy(watcher.seen).size).toBe(0);
  expect(service.rows()).toHaveLength(1);
});

test("a page that takes nothing is let go before it costs memory, and the others see on", async () => {
  const service = await serve({
    contract,
    page: { ...page, row: ({ ruleId, rule: { text = null } }) => ({ id: ruleId, name: text }) },
  });
  const { port } = new URL(service.url);
  const socket = connect(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(`GET ${eventsPath} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  const other = await watch(service);
  let isEnded = false;
  socket.on("close", () => {
    isEnded = true;
  });
  socket.on("error", () => undefined);
  const text = "x".repeat(500_000);
  for (let k = 0; k < 60; k++) {
    service.put("large", { name: "large", text: `${text}${k}` });
    await new Promise((done) => setTimeout(done, 110));
    if (k === 40) socket.resume();
    if (isEnded) break;
  }
  expect(isEnded).toBe(true);
  service.put("small", { name: "small", text: "small" });
  await expect.poll(() => shownBy(other.seen).get("small")).toBe("small");
});

test("sixteen pages at a time, and a closing service waits for none of them", async () => {
  const service = await serve({ contract, page });
  const watchers = [];
  for (let k = 0; k < 16; k++) watchers.push(await watch(service));
  const refused = await fetch(service.url + eventsPath);
  expect([refused.status, await refused.text()]).toEqual([503, "at most 16 pages at a time\n"]);
  await service.close();
  await Promise.all(watchers.map(({ ended }) => ended));
});
