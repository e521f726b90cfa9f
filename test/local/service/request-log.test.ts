import { expect, test } from "vitest";
import { RequestLog } from "../../../local/service/request-log.ts";

test("the last 100,000 requests are kept, and all are counted", () => {
  const log = new RequestLog();
  for (let index = 0; index < 250_000; index += 1) {
    log.add({ operation: index % 2 === 0 ? "get" : "list", method: "GET", path: `/${index}`, query: {}, status: 200 });
  }
  expect(log.requests).toHaveLength(100_000);
  expect([log.requests[0]?.path, log.requests.at(-1)?.path]).toEqual(["/150000", "/249999"]);
  expect([log.count(), log.count("get"), log.count("list")]).toEqual([250_000, 125_000, 125_000]);
});
