import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knowledgeOfRules } from "../../provider/hooks/look-up.ts";
import { connectionType, ownerType, ruleType, setType } from "../../provider/host/types.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { ownedBy } from "../support/stack/owners.ts";

const folder = newFolder();

const withDelete = { delete: { identifyBy: { in: "query", name: "ruleId" } } } as const;
const withList = { ...withDelete, list: { path: "/api/v1/merchants/rules", items: "/rules" } } as const;
const named = { definition: { name: "limit" } };
const nameless = { definition: { priority: 1 } };
const owned = ownedBy("shop/dev/limit");

function found(type: string, inputs: JsonObject, contract: ContractInput | undefined): boolean {
  const file = join(folder, "contract.json");
  if (contract !== undefined) writeFileSync(file, JSON.stringify(contract));
  const config = (key: string) => (key === "merchant-rules:contract" && contract !== undefined ? file : undefined);
  return knowledgeOfRules.findsCreates({ type, inputs }, { config, environment: {}, folder });
}

describe("what an earlier create made can be found", () => {
  const byName: ContractInput = { version: 1, operations: withList, rule: { naturalKey: "/name" } };
  const byMark: ContractInput = { version: 1, operations: withList, rule: { owner: { at: "/metadata/managedBy" } } };

  test("by the natural key, where there is a list and each rule has the key", () => {
    expect(found(ruleType, named, byName)).toBe(true);
    expect(found(ruleType, nameless, byName)).toBe(false);
    expect(found(setType, { rules: { a: { name: "a" }, b: { name: "b" } } }, byName)).toBe(true);
    expect(found(setType, { rules: { a: { name: "a" }, b: {} } }, byName)).toBe(false);
  });

  test("by the mark, where there is a list and the resource says whose it is", () => {
    expect(found(ruleType, { ...nameless, ...owned }, byMark)).toBe(true);
    expect(found(ruleType, nameless, byMark)).toBe(false);
    // One of both says not whose it is.
    expect(found(ruleType, { ...nameless, __owner: owned.__owner ?? {} }, byMark)).toBe(false);
    expect(found(ruleType, { ...nameless, __connection: owned.__connection ?? "" }, byMark)).toBe(false);
  });

  test("by the id that the client chooses, where the resource says whose it is", () => {
    const create = { identifyBy: { in: "body", name: "id" } } as const;
    const byId: ContractInput = { version: 1, operations: { ...withDelete, create }, rule: { id: ["/id"] } };
    expect(found(ruleType, { ...nameless, ...owned }, byId)).toBe(true);
    expect(found(ruleType, nameless, byId)).toBe(false);
  });

  test("not without a list, be there an idempotency key or not, and not without a contract", () => {
    const withoutList: ContractInput = { ...byName, operations: withDelete };
    const idempotent: ContractInput = { ...withoutList, idempotency: { header: "Idempotency-Key" } };
    for (const contract of [withoutList, idempotent, undefined])
      expect(found(ruleType, { ...named, ...owned }, contract)).toBe(false);
  });

  test("where it was adopted by its id, or is an Owner or a Connection: nothing was made", () => {
    expect(found(ruleType, { ...nameless, adopt: "rule-1" }, byName)).toBe(true);
    expect(found(connectionType, {}, undefined)).toBe(true);
    expect(found(ownerType, {}, undefined)).toBe(true);
    expect(found("pulumi-nodejs:dynamic/other:Thing", named, byName)).toBe(false);
  });
});
