import { describe, expect, onTestFinished, test } from "vitest";
import { draftContract } from "../../contract-tools/draft.ts";
import { contractFacts } from "../../contract-tools/probe/contract-facts.ts";
import type { Told } from "../../contract-tools/probe/known.ts";
import { probe } from "../../contract-tools/probe/probe.ts";
import { RulesClient } from "../../sdk/client/index.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import { hasJava, startWireMock } from "./wiremock.ts";

const mapping = "/__admin/mappings";
const byPath = { method: "DELETE", path: `${mapping}/{ruleId}`, query: {} };
const byQuery = { method: "DELETE", path: mapping, query: {} };

/** What somebody knows who has read of these paths, and no more. */
async function wireMock() {
  const service = await startWireMock();
  onTestFinished(() => service.close());
  const contract = defineContract({ version: 1, auth: { present: { format: "Basic {basic}" } } });
  const credentials = { kind: "client" as const, clientId: service.user, clientSecret: service.password };
  const told: Told = {
    connection: { name: "default", baseUrl: service.url, contract, parameters: {}, credentials },
    definition: {
      name: "limit",
      priority: 3,
      request: { method: "POST", urlPath: "/payments" },
      response: { status: 200 },
    },
    create: { method: "POST", path: mapping, query: {} },
    get: { method: "GET", path: `${mapping}/{ruleId}`, query: {} },
    list: { method: "GET", path: mapping, query: {} },
    update: [{ method: "PUT", path: `${mapping}/{ruleId}`, query: {} }],
    delete: [byPath],
  };
  return { service, told };
}

describe.skipIf(!hasJava)("WireMock, which nobody here wrote", () => {
  test("is probed, and a rule lives by the contract that is found", async () => {
    const { service, told } = await wireMock();
    await service.put({
      name: "of somebody else",
      request: { method: "GET", urlPath: "/else" },
      response: { status: 201 },
    });
    const before = await service.rules();
    const probed = await probe({ ...told, allowExisting: true, delete: [byQuery, byPath] });
    expect(probed).toMatchObject({ stopped: undefined, left: [] });
    expect(await service.rules()).toEqual(before);
    const { contract } = draftContract(contractFacts(told, probed), []);
    expect(contract.operations).toMatchObject({
      delete: { path: byPath.path, identifyBy: { in: "path" } },
      update: { body: "declared" },
      list: {
        items: "/mappings",
        pagination: { type: "offset", limit: "limit", offset: "offset", total: "/meta/total" },
      },
    });
    const client = new RulesClient({ ...told.connection, contract });
    onTestFinished(() => client.close());
    const { ruleId } = await client.create({ ...told.definition, name: "own" }, chosen(contract));
    await client.update(ruleId, { ...told.definition, name: "own", priority: 5 });
    expect((await client.get(ruleId)).rule).toMatchObject({ name: "own", priority: 5 });
    const names: unknown[] = [];
    for await (const { rule } of client.list()) names.push(rule.name);
    expect(names.sort()).toEqual(["of somebody else", "own"]);
    await client.delete(ruleId);
    expect(await service.rules()).toEqual(before);
  });

  test("deletes everything on a query that it does not know, and so is asked once", async () => {
    const { service, told } = await wireMock();
    const sent: string[] = [];
    const probed = await probe({ ...told, delete: [byQuery] }, { sent: (line) => sent.push(line) });
    expect(probed.stopped?.reason).toMatch(/another rule, .* is gone/);
    expect(sent.filter((line) => line.startsWith("DELETE"))).toHaveLength(1);
    expect(await service.rules()).toEqual([]);
  });
});

function chosen(contract: ReturnType<typeof defineContract>) {
  const ruleId = "11111111-1111-4111-8111-111111111111";
  return contract.operations.create.identifyBy === null ? {} : { ruleId };
}
