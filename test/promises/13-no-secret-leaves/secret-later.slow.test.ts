import { expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { contractFileOf } from "../../support/stack/service.ts";

const program = `
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { MerchantRule, MerchantRuleSet } from "pulumi-merchant-rules";
const hide = (_, value) => (value === "(hidden)" ? pulumi.secret("hush") : value);
for (const [name, args] of Object.entries(JSON.parse(readFileSync(new URL("rules.json", import.meta.url), "utf8"), hide)))
  new ("rules" in args ? MerchantRuleSet : MerchantRule)(name, args);
`;
const declared = (pin: string) => ({
  one: { definition: { name: "one", pins: [pin, "x"] } },
  all: { rules: { a: { name: "a", pins: ["y", pin] }, b: { name: "b" } } },
});
const learnt: [string, Parameters<typeof contractOf>[0], string][] = [
  ["the contract", { rule: { secret: ["/pins/*"] } }, "hush"],
  ["the program", {}, "(hidden)"],
];

onBothEngines((engine) => {
  test.each(learnt)(
    "a value that %s calls secret from now on is encrypted by the next run, which says so and sends nothing",
    async (_, contract, pin) => {
      const { project, asked, succeeds } = await openCommandStack(engine, { contract: contractOf() });
      const calls = (input: ContractInput) => project.set({ MERCHANT_RULES_CONTRACT: contractFileOf(input) });
      project.write("index.js", program);
      project.declare(declared("hush"));
      await succeeds("up");
      expect(project.state().match(/"hush"/g)).toHaveLength(4);
      calls(contractOf(contract));
      project.declare(declared(pin));
      asked();
      const { output } = await succeeds("preview");
      expect(output).toMatch(/one: encrypted in the state from now on: definition\.pins\[0\].*; no request is sent/);
      expect(output).toMatch(/all: encrypted in the state from now on: .*rules\.a\.pins\[1\]; no request is sent/);
      expect(output).not.toContain('"hush"');
      await succeeds("up");
      expect(project.state()).not.toContain('"hush"');
      await succeeds("preview", "--expect-no-changes");
      // Neither does anything come back when it is no secret any more, nor when it is one again.
      calls(contractOf());
      project.declare(declared("hush"));
      await succeeds("up", "--expect-no-changes");
      calls(contractOf(contract));
      project.declare(declared(pin));
      await succeeds("up", "--expect-no-changes");
      expect([project.state().includes('"hush"'), asked()]).toEqual([false, []]);
      await succeeds("refresh", "--expect-no-changes");
      await succeeds("preview", "--expect-no-changes");
    },
  );
});
