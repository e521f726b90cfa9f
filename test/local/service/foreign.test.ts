import { describe, expect, test } from "vitest";
import { defineContract } from "../../../sdk/contract/index.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { call, serve } from "./under-test.ts";

const rules = "/api/v1/merchants/rules";
const foreign = [
  { at: "/origin/by", is: ["system", "support"] },
  { at: "/id", is: ["default"] },
];
const input = contractOf({ rule: { foreign } });
const contract = defineContract(input);

describe("a rule of the service's own", () => {
  test.each([
    ["by a field", "r1", { name: "a", origin: { by: "support" } }],
    ["by its id", "default", { name: "a" }],
  ])("(%s) is read and listed as any other, and neither changed nor deleted", async (_by, id, definition) => {
    const service = await serve({ contract });
    service.put(id, definition);
    const refused = [
      await call(service, "DELETE", `${rules}?ruleId=${id}`),
      await call(service, "PUT", `${rules}/${id}`, { body: { name: "b" } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403]);
    expect(refused.map((each) => each.at("/error/code"))).toEqual(["RULE_FOREIGN", "RULE_FOREIGN"]);
    expect(service.rules()).toEqual([{ ruleId: id, rule: definition }]);
    expect((await call(service, "GET", `${rules}/${id}`)).at("/name")).toBe("a");
    expect((await call(service, "GET", rules)).at("/rules/0/id")).toBe(id);
    expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(409);
  });

  test("is made by nobody else, neither new nor of a rule that is there", async () => {
    const service = await serve({ contract });
    const id = service.put(undefined, { name: "a" });
    const body = { name: "b", origin: { by: "system" } };
    const refused = [
      await call(service, "POST", rules, { body }),
      await call(service, "PUT", `${rules}/${id}`, { body }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([422, 422]);
    expect(refused[0]?.at("/error/details/0")).toEqual({
      path: "origin.by",
      reason: 'must not be "system" or "support"',
    });
    expect(service.rules()).toEqual([{ ruleId: id, rule: { name: "a" } }]);
    expect((await call(service, "POST", rules, { body: { name: "b", origin: { by: "me" } } })).status).toBe(201);
  });

  test("stays so when it is gone as well", async () => {
    const gone = [{ at: "/status", is: ["deleted"] }];
    const service = await serve({ contract: defineContract({ ...input, rule: { ...input.rule, gone } }) });
    service.put("default", { name: "a", status: "deleted" });
    expect((await call(service, "DELETE", `${rules}?ruleId=default`)).status).toBe(403);
  });
});
