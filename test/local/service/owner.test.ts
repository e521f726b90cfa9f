import { describe, expect, test } from "vitest";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { call, serve, textAt } from "./under-test.ts";

const rules = "/api/v1/merchants/rules";
const bare: ContractInput = { version: 1, operations: { update: { path: `${rules}/{ruleId}` } } };

/** A service whose contract has a place for the mark, and a schema and immutable fields around it. */
function served(rule: NonNullable<ContractInput["rule"]>) {
  return serve({ contract: defineContract({ ...bare, rule: { id: ["/id"], owner: { at: "/meta/owner" }, ...rule } }) });
}

describe("the owner's mark", () => {
  test("is stored and answered as any field", async () => {
    const service = await served({});
    const body = { name: "a", meta: { owner: "x/y", color: "red" } };
    const created = await call(service, "POST", rules, { body });
    const id = textAt(created, "/id");
    expect(created.at("/meta")).toEqual(body.meta);
    expect((await call(service, "GET", `${rules}/${id}`)).at("/meta")).toEqual(body.meta);
    expect(service.rules()).toEqual([{ ruleId: id, rule: body }]);
    expect((await call(service, "PUT", `${rules}/${id}`, { body: { name: "a" } })).at("/meta")).toBeUndefined();
  });

  test.each([
    ["no place for it", { name: "a" }, false, 201],
    ["an object for other things, which has to be there", { name: "a", meta: {} }, true, 201],
    ["an object for other things, which has to be there", { name: "a", meta: { color: "red" } }, true, 201],
    ["a rule about what stands beside it", { name: "a", meta: { color: 1 } }, true, 422],
    ["a rule about another field", { name: 1 }, false, 422],
  ])("is not judged by a schema that has %s", async (_case, definition, hasMeta, status) => {
    const meta = { type: "object", properties: { color: { type: "string" } }, additionalProperties: false };
    const service = await served({
      schema: {
        type: "object",
        properties: { name: { type: "string" }, ...(hasMeta ? { meta } : {}) },
        required: hasMeta ? ["meta"] : [],
        additionalProperties: false,
      },
    });
    const body = { ...definition, meta: { ...("meta" in definition ? definition.meta : {}), owner: "x" } };
    const created = await call(service, "POST", rules, { body });
    expect([created.status, created.text.includes("owner")]).toEqual([status, status === 201]);
  });

  test("may change where what stands beside it is immutable", async () => {
    const service = await served({ immutable: ["/meta/color"] });
    const id = service.put(undefined, { name: "a" });
    const update = async (meta: Record<string, string>) =>
      (await call(service, "PUT", `${rules}/${id}`, { body: { name: "a", meta } })).status;
    expect([await update({ owner: "x" }), await update({ owner: "y" })]).toEqual([200, 200]);
    service.put(id, { name: "a", meta: { owner: "y", color: "red" } });
    expect(await update({ owner: "z", color: "blue" })).toBe(422);
    expect(await update({ owner: "z", color: "red" })).toBe(200);
  });
});
