import { expect, test } from "vitest";
import { parseContract } from "../../../sdk/contract/index.ts";

/** A contract that cannot work, the path in it that is wrong, what is found there, what is allowed. */
type Row = readonly [contract: string, path: string, found: string, allowed: string];

const answers: Row[] = [
  ["errors: { notFound: [{}] }", "errors.notFound.0", '{"status":null', "a status, a code, or both"],
  ["errors: { notFound: [{ status: 422 }] }", "errors.notFound.0.code", "null", "a code beside this status"],
  ["errors: { notFound: [{ status: 403, code: x }] }", "errors.notFound.0.status", "403", "not about credentials"],
  ["errors: { inUse: [{ status: 200 }] }", "errors.inUse.0.status", "200", "from 300 to 499"],
  [
    "errors: { exists: [{ status: 201 }] }",
    "errors.exists.0.status",
    "201",
    "a status that operations.create.success does not have",
  ],
];

test.each([...answers])("%s is refused at %s", (contract, path, found, allowed) => {
  const lines = (text: string): string => {
    try {
      parseContract(text, "contract.yaml");
      return "it is taken";
    } catch (error) {
      return String(error);
    }
  };
  const said = lines(`version: 1\n${contract}`);
  expect(said).toContain("contract.yaml cannot work");
  const line = said.split("\n").find((each) => each.includes(` ${path}: found `)) ?? said;
  expect(line).toMatch(/contract\.yaml:\d+: /);
  expect(line).toContain(`${path}: found ${found}`);
  expect(line).toContain(allowed);
});
