import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, otherToken, owner, twoMerchants } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";
import { hasPulumi } from "../../support/stack/project.ts";

const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
const moved = { ...otherToken, MERCHANT_RULES_MOVED: "true" };

/** The command that a message tells to run. */
function adviceIn(output: string): string[] {
  const [, flags = ""] = /`pulumi up (--replace '[^']+')`/.exec(output.replaceAll(/\s+/g, " ")) ?? [];
  return flags.replaceAll("'", "").split(" ");
}

// The local engine has no --replace.
describe.skipIf(!hasPulumi)(
  "a stack goes to another merchant by the words that refusals name (needs the Pulumi CLI)",
  () => {
    test("and what it had at the first one stays there, untouched", async () => {
      const contract = contractOf({ auth: { identity: { path: "/me", at: "/account/id" } }, rule: { owner } });
      const { place, stack } = await openStack("pulumi", { ...twoMerchants, contract });
      await stack.up(declared);
      const before = place.service.of("acme").rules();
      const changed = { a: { definition: rule(1, { priority: 9 }) }, b: declared.b };
      const { output } = await stack.upFails(changed, { environment: otherToken }, /"globex"/, /"acme"/);
      const replaced = await stack.project.with(otherToken, () =>
        stack.project.run("pulumi", "up", ...adviceIn(output)),
      );
      expect(replaced.code, replaced.output).not.toBe(0);
      expect(replaced.output).toContain("MERCHANT_RULES_MOVED=true");
      await stack.succeeds("up", { environment: moved, refresh: true });
      expect(place.service.of("globex").rules()).toHaveLength(2);
      expect(place.service.of("acme").rules()).toEqual(before);
      await stack.isUnchanged({ environment: otherToken });
    }, 120_000);

    test("a copy of its state under another name, with its connection made anew, changes and deletes none of its rules", async () => {
      const { place, stack } = await openStack("pulumi", { contract: contractOf({ rule: { owner } }) });
      const three = { ...declared, c: { definition: rule(3) } };
      await stack.up(three);
      await stack.rename("copy");
      const before = place.service.rules();
      place.writes();
      stack.declare({ a: { definition: rule(1, { priority: 9 }) }, b: declared.b });
      const flags = ["--replace", "**merchant-rules:Connection::default"];
      const changed = await stack.project.run("pulumi", "up", ...flags);
      expect(changed.code, changed.output).not.toBe(0);
      expect(changed.output).toMatch(/managed by .*lifecycle\/test\/a/);
      expect(changed.output).toContain("MERCHANT_RULES_FORMER_NAMES=lifecycle/test");
      stack.declare(declared);
      const removed = await stack.project.run("pulumi", "up");
      expect(removed.code, removed.output).toBe(0);
      expect(removed.output).toMatch(/is managed by .*lifecycle\/test\/c.* and is not deleted/);
      expect(place.writes()).toEqual([]);
      expect(place.service.rules()).toEqual(before);
      // Had it been renamed and not copied, the word makes the rules its own again.
      stack.declare({ a: { definition: rule(1, { priority: 9 }) }, b: declared.b });
      await stack.succeeds("up", { environment: { MERCHANT_RULES_FORMER_NAMES: "lifecycle/test" } });
      expect(place.writes()).toEqual(["update"]);
    }, 120_000);

    test("and rules that were not changed are as they were after their connection was made anew", async () => {
      const { place, stack } = await openStack("pulumi", { contract: contractOf({ rule: { owner } }) });
      await stack.up(declared);
      const before = place.service.rules();
      place.writes();
      const flags = ["--replace", "**merchant-rules:Connection::default"];
      const replaced = await stack.project.run("pulumi", "up", ...flags);
      expect(replaced.code, replaced.output).toBe(0);
      expect(place.writes()).toEqual([]);
      expect(place.service.rules()).toEqual(before);
      await stack.isUnchanged();
      await stack.up({ a: { definition: rule(1, { priority: 9 }) }, b: declared.b });
      await stack.succeeds("destroy");
      expect(place.service.rules()).toEqual([]);
    }, 120_000);
  },
);
