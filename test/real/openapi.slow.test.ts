import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RulesClient } from "../../sdk/client/index.ts";
import { loadContract } from "../../sdk/contract/index.ts";
import { command } from "../cli/command.ts";
import { newFolder } from "../support/folder.ts";
import { textInZip } from "../support/zip.ts";
import { stub } from "./payments.ts";
import { hasJava, jar, startWireMock } from "./wiremock.ts";

describe.skipIf(!hasJava)("the contract that contract init makes of WireMock's own description", () => {
  test("is one by which a rule is made, read, listed, changed and deleted there, and no other is touched", async () => {
    const service = await startWireMock();
    onTestFinished(() => service.close());
    const folder = newFolder();
    const [input, output] = [join(folder, "openapi.json"), join(folder, "c.yaml")];
    writeFileSync(input, textInZip(jar(), "swagger/wiremock-admin-api.json"));
    // What the description lacks: how its interface is locked.
    const words = ["--collection", "/__admin/mappings", "--set", 'auth.present.format="Basic {basic}"'];
    expect(await command("contract", "init", "--openapi", input, "--output", output, ...words)).toMatchObject({
      code: 0,
    });
    const client = new RulesClient({
      name: "default",
      baseUrl: service.url,
      contract: loadContract(output),
      parameters: {},
      credentials: { kind: "client", clientId: service.user, clientSecret: service.password },
    });
    onTestFinished(() => client.close());
    const other = await service.put(stub(99, { name: "by hand" }));
    const { ruleId } = await client.create(stub(1));
    expect((await client.get(ruleId)).rule).toMatchObject(stub(1));
    await client.update(ruleId, stub(1, { over: 5000 }));
    expect((await client.get(ruleId)).rule).toMatchObject(stub(1, { over: 5000 }));
    const listed: string[] = [];
    for await (const live of client.list()) listed.push(live.ruleId);
    expect(listed.sort()).toEqual([other, ruleId].sort());
    expect(await client.delete(ruleId)).toBe("deleted");
    await expect(client.get(ruleId)).rejects.toMatchObject({ code: "RULE_NOT_FOUND" });
    expect((await service.rules()).map((live) => live.ruleId)).toEqual([other]);
  }, 120_000);
});
