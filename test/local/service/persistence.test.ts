import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { startLocalService } from "../../../local/service/index.ts";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { newFolder } from "../../support/folder.ts";
import { call, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";
let folder: string;
let dataFile: string;

beforeEach(() => {
  folder = newFolder();
  dataFile = join(folder, "rules.db");
});

describe("a data file", () => {
  test("keeps rules, their order and idempotency keys over a restart", async () => {
    const request = { headers: { "idempotency-key": "k" }, body: { name: "a" } };
    const first = await startLocalService({ contract, dataFile });
    const created = await call(first, "POST", rules, request);
    const second = first.put(undefined, { name: "b" });
    await first.close();

    const again = await serve({ contract, dataFile });
    expect(again.rules().map(({ ruleId }) => ruleId)).toEqual([textAt(created, "/id"), second]);
    const replayed = await call(again, "POST", rules, request);
    expect([replayed.text, replayed.headers.get("idempotency-replayed")]).toEqual([created.text, "true"]);
    await again.close();
  });

  test("may be shared by two services", async () => {
    const services = [await startLocalService({ contract, dataFile }), await startLocalService({ contract, dataFile })];
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const service = services[index % 2];
        if (service === undefined) throw new Error("two services");
        // Each key is sent to both: one of them makes the rule, the other answers the same.
        return call(service, "POST", rules, {
          headers: { "idempotency-key": `k${index >> 1}` },
          body: { name: `rule ${index >> 1}` },
        });
      }),
    );
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
    for (const service of services) expect(service.rules()).toHaveLength(30);
    await Promise.all(services.map((service) => service.close()));
  });

  test("that another program holds locked is answered 503, and one that it damages 500 without inner words", async () => {
    const service = await serve({ contract, dataFile });
    const other = new DatabaseSync(dataFile);
    other.exec("BEGIN IMMEDIATE");
    const busy = await call(service, "POST", rules, { body: { name: "a" } });
    expect([busy.status, busy.at("/error/code"), busy.headers.get("retry-after")]).toEqual([503, "BUSY", "1"]);
    other.exec("COMMIT");
    expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(201);
    other.exec("DROP TABLE rules");
    other.close();
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    const failed = await call(service, "GET", rules);
    expect([failed.status, failed.at("/error/code"), failed.text.includes("table")]).toEqual([500, "INTERNAL", false]);
    expect(said).toHaveBeenCalledOnce();
    said.mockRestore();
    await service.close();
  });

  const refusals: [string, (file: string) => void, string][] = [
    ["text", (file) => writeFileSync(file, "not a database ".repeat(100)), "is not a SQLite database"],
    ["damaged", (file) => writeFileSync(file, `SQLite format 3\u0000${"x".repeat(5000)}`), "not a database"],
    [
      "another program's",
      (file) => new DatabaseSync(file).exec("CREATE TABLE mine (a)"),
      "a database of another program",
    ],
    ["in a folder that does not exist", () => {}, "does not exist"],
    ["a folder", () => {}, "it is a folder"],
  ];
  test.each(refusals)("is refused when it is %s", async (kind, make, reason) => {
    make(dataFile);
    const file =
      kind === "a folder" ? folder : kind.startsWith("in a folder") ? join(folder, "none", "rules.db") : dataFile;
    const refused = expect(startLocalService({ contract, dataFile: file })).rejects;
    await refused.toMatchObject({ code: "SETTINGS_INVALID", message: expect.stringContaining(reason) });
    await refused.toThrow(file);
  });

  test("that a newer version wrote is refused and left alone", async () => {
    await (await startLocalService({ contract, dataFile })).close();
    const database = new DatabaseSync(dataFile);
    database.exec("PRAGMA user_version = 99");
    database.close();
    await expect(startLocalService({ contract, dataFile })).rejects.toThrow("newer version");
  });
});

describe("closing", () => {
  test("frees the port at once, with idle and half-sent connections open, and may be called twice", async () => {
    const service = await startLocalService({ contract });
    const port = Number(new URL(service.url).port);
    await call(service, "GET", rules);
    const half = connect(port, "127.0.0.1").on("error", () => {});
    half.write(`POST ${rules} HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const began = performance.now();
    await Promise.all([service.close(), service.close()]);
    expect(performance.now() - began).toBeLessThan(15_000);
    const next = await serve({ contract, port });
    expect(next.url).toBe(service.url);
  });

  test("a port in use is refused with its number", async () => {
    const { url } = await serve({ contract });
    const port = Number(new URL(url).port);
    await expect(startLocalService({ contract, port })).rejects.toThrow(`port ${port} failed: the port is in use`);
    await expect(startLocalService({ contract, port: 65_536 })).rejects.toThrow("0 to 65535");
  });
});

test("a client that goes away within its body does not disturb the others", async () => {
  const service = await serve({ contract });
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  socket.write(
    `POST ${rules} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"name":`,
  );
  await new Promise((resolve) => setTimeout(resolve, 30));
  socket.destroy();
  expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(201);
  expect(service.requestCount()).toBe(1);
});

test("a thousand rules are made quickly, and each is counted", async () => {
  const service = await serve({ contract, dataFile: join(folder, "many.db") });
  const names = Array.from({ length: 1000 }, (_, index) => `rule ${index}`);
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      for (const name of names.filter((_, index) => index % 16 === worker))
        await call(service, "POST", rules, { body: { name } });
    }),
  );
  expect([service.rules().length, service.requestCount("create")]).toEqual([1000, 1000]);
  await service.close();
});
