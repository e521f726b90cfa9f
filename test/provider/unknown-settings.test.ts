import { expect, test } from "vitest";
import { rule } from "../support/rules.ts";
import { onBothEngines } from "../support/stack/engines.ts";
import { openPlace } from "../support/stack/place.ts";

const program = `
  import { MerchantRule } from "pulumi-merchant-rules";
  new MerchantRule("a", { definition: ${JSON.stringify(rule(1))} });
  new MerchantRule("b", { definition: ${JSON.stringify(rule(2))} });
`;

onBothEngines((engine) => {
  test("a setting of the stack's config that nothing reads is named in each run, with the nearest one there is", async () => {
    const place = await openPlace();
    const words = { same: "3fa9", moved: "04b2", recover: "11c0", formerNames: "shop/old" };
    const config = { onDrfit: "fail", colour: "red", onDrift: "fail", acceptAllGone: "true", rules: "rules", ...words };
    const stack = await place.stack(engine, { config, program });
    for (const verb of ["preview", "up"] as const) {
      const { output } = await stack.succeeds(verb);
      expect(output).toMatch(/merchant-rules:onDrfit, which is no setting .*: did you mean merchant-rules:onDrift\?/);
      expect(output).toMatch(/merchant-rules:colour, which is no setting .*: the settings are baseUrl, contract/);
      expect(output).toContain("merchant-rules:acceptAllGone, which is no setting");
      for (const known of ["onDrift", "rules", ...Object.keys(words)])
        expect(output).not.toContain(`merchant-rules:${known}, which`);
    }
  }, 120_000);
});
