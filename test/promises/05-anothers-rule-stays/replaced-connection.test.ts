import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, identity, marking, otherToken, owner, twoMerchants } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { wordIn } from "../../support/stack/model-stack.ts";
import { openStack } from "../../support/stack/place.ts";
import { hasPulumi } from "../../support/stack/project.ts";

const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };

onBothEngines((engine) => {
  test("a stack goes to another merchant by the word that the refusal names, and what it had stays there, untouched", async () => {
    const { place, stack } = await openStack(engine, {
      ...twoMerchants,
      contract: contractOf({ auth: { identity }, rule: { owner } }),
    });
    await stack.up(declared);
    const before = place.service.of("acme").rules();
    place.writes();
    const changed = { a: { definition: rule(1, { priority: 9 }) }, b: declared.b };
    const { output: text } = await stack.upFails(changed, { environment: otherToken }, /"globex"/);
    expect(place.writes()).toEqual([]);
    const environment = { ...otherToken, ...wordIn({ text }, "MOVED") };
    await stack.succeeds("up", { environment, refresh: true });
    expect(place.service.of("globex").rules()).toHaveLength(2);
    expect(place.service.of("acme").rules()).toEqual(before);
    await stack.isUnchanged({ environment: otherToken });
  }, 120_000);
});

// The local engine has no --replace.
const replacing = ["--replace", "**merchant-rules:Connection::default"];
describe.skipIf(!hasPulumi)("a connection that is made anew (needs the Pulumi CLI)", () => {
  test("lets a copy of the state under another name change and delete none of its rules", async () => {
    const { place, stack } = await openStack("pulumi", { contract: marking });
    await stack.up({ ...declared, c: { definition: rule(3) } });
    await stack.rename("copy");
    const before = place.service.rules();
    place.writes();
    stack.declare({ a: { definition: rule(1, { priority: 9 }) }, b: declared.b });
    const changed = await stack.project.run("pulumi", "up", ...replacing);
    expect(changed.code, changed.output).not.toBe(0);
    expect(changed.output).toContain("MERCHANT_RULES_FORMER_NAMES=lifecycle/test");
    expect(place.writes()).toEqual([]);
    expect(place.service.rules()).toEqual(before);
    // Had it been renamed and not copied, the word makes the rules its own again.
    await stack.succeeds("up", { environment: { MERCHANT_RULES_FORMER_NAMES: "lifecycle/test" } });
    expect(place.writes()).toEqual(["update", "delete"]);
  }, 120_000);

  test("leaves rules that were not changed as they were", async () => {
    const { place, stack } = await openStack("pulumi", { contract: marking });
    await stack.up(declared);
    const before = place.service.rules();
    place.writes();
    const replaced = await stack.project.run("pulumi", "up", ...replacing);
    expect(replaced.code, replaced.output).toBe(0);
    expect(place.writes()).toEqual([]);
    expect(place.service.rules()).toEqual(before);
    await stack.isUnchanged();
    await stack.up({ a: { definition: rule(1, { priority: 9 }) }, b: declared.b });
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  }, 120_000);
});
