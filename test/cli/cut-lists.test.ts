import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { many } from "../support/rules.ts";
import { contractOf, list } from "../support/stack/contracts.ts";
import { openPlace } from "../support/stack/place.ts";
import { run } from "./command.ts";

const said = /the list may be cut: its last page has 50 rules, and nothing says that no more follow/;

test("a list that ends where services cut lists is said in drift, export and doctor, and is not once the contract says that it is whole", async () => {
  const place = await openPlace({ contract: contractOf() });
  const stack = await place.stack("local");
  await stack.up({ all: { rules: many(50) } });
  const { folder, stack: name } = stack.project;
  const cli = (...words: string[]) =>
    run([...words, "--cwd", folder, "--stack", name, "--engine", "local"], stack.project.variables());
  const told = async (): Promise<string[]> => {
    const drift = await cli("drift", "--json");
    const exported = await cli("export", "--out", join(folder, "out"));
    const doctor = await cli("doctor");
    return [JSON.parse(drift.stdout).warnings.join(), exported.stdout, doctor.stdout];
  };
  for (const text of await told()) expect(text).toMatch(said);
  const whole = contractOf({ operations: { list: { ...list, pagination: { type: "none", complete: true } } } });
  writeFileSync(place.contractFile, JSON.stringify(whole));
  for (const text of await told()) expect(text).not.toMatch(said);
});
