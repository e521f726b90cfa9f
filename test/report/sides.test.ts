import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { setType } from "../../provider/types.ts";
import { readPreview } from "../../report/plan/preview.ts";
import { folderSide, liveSide, programSide, stackSide, stateSide } from "../../report/sides/index.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import { isMask, type JsonObject, withoutMasks } from "../../sdk/rules/index.ts";
import { contractOf } from "../promises/worlds/world.ts";
import { markBy, rule, serve } from "../support/connections.ts";
import { resource, sessionOf } from "../support/hosts.ts";
import { applied, withSecretsAt } from "../support/states.ts";

const contract: ContractInput = contractOf({
  rule: { naturalKey: "/name", owner: { at: "/metadata/managedBy" }, secret: ["/token"] },
});
const declared: Record<string, JsonObject> = {
  all: { rules: { a: rule(1, { token: "s3cret-1" }), b: rule(2), c: rule(3) } },
  one: { definition: rule(4) },
};

async function world() {
  const served = await serve(contract);
  onTestFinished(() => served.close());
  const session = () => sessionOf(served.environment);
  const state = await applied(session(), declared);
  return { ...served, state, session };
}

test("every side has the same rules, with masks at the same secrets that are equal exactly when the secrets are", async () => {
  const { state, session, service } = await world();
  const fromState = stateSide(state, session(), "stack dev");
  const live = await liveSide(session().place("default"), "production", "default");
  const folder = folderSide(rulesIn({ a: { ...rule(1), token: "s3cret-1" }, b: rule(2), c: rule(3) }), {
    contract: defineContract(contract),
  });
  const program = programSide(
    readPreview(JSON.stringify({ steps: [stepOf("all", declared.all ?? {})] }), "the preview"),
    () => defineContract(contract),
  );
  for (const side of [fromState, live, folder, program]) {
    const first = side.rules.find(({ name }) => name === "rule-1");
    expect(side.rules.map(({ name }) => name).slice(0, 3).sort(), side.kind).toEqual(["rule-1", "rule-2", "rule-3"]);
    expect(isMask(first?.definition.token), side.kind).toBe(true);
    expect(first?.definition, side.kind).toEqual(fromState.rules[0]?.definition);
    expect(JSON.stringify(side.rules)).not.toContain("s3cret");
    expect(side.notes).toEqual([]);
  }
  expect(fromState.rules[0]).toMatchObject({ resource: "MerchantRuleSet all", key: "a", connection: "default" });
  expect(folder.rules[0]).toMatchObject({ key: "a", file: expect.stringMatching(/rules\/a\.yaml$/), line: 1 });
  expect(live.rules[0]).toMatchObject({ owner: expect.stringMatching(/^shop\/prod\//), ruleId: expect.any(String) });
  expect(program.rules[0]).toMatchObject({ resource: "MerchantRuleSet all", key: "a" });
  const [{ ruleId, rule: first }] = service.rules().filter(({ rule: each }) => each.name === "rule-1") as [never];
  service.put(ruleId, { ...(first as JsonObject), token: "rotated" });
  const rotated = await liveSide(session().place("default"), "production", "default");
  expect(rotated.rules.find(({ name }) => name === "rule-1")?.definition.token).not.toEqual(
    fromState.rules[0]?.definition.token,
  );
});
