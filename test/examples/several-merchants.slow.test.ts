import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadPreset } from "../../sdk/contract/index.ts";
import { hasPulumi } from "../support/stack/project.ts";
import { startService } from "../support/stack/service.ts";
import { copyExample } from "./copy.ts";

/** The example with two merchants: one at a service of its own, and one whose service is not there. */
async function openShops() {
  const service = await startService({ contract: loadPreset("illustrative") });
  const gone = await startService({ contract: loadPreset("illustrative") });
  await gone.close();
  const example = copyExample("several-merchants");
  const shops = [
    { name: "florist", baseUrl: gone.url, reviewAbove: 1, countries: ["NL"] },
    { name: "bakery", baseUrl: service.url, reviewAbove: 200, countries: ["NL"] },
  ];
  writeFileSync(
    join(example.folder, "merchants.ts"),
    `export interface Merchant { name: string; baseUrl: string; reviewAbove: number; countries: readonly string[] }
export const merchants: readonly Merchant[] = ${JSON.stringify(shops)};`,
  );
  return { ...example, service };
}

describe("examples/several-merchants", () => {
  test("says in one sentence that it needs the Pulumi CLI, where there is none", async () => {
    const { node } = copyExample("several-merchants");
    const { code, stdout, stderr } = await node(["all.ts", "up"], { PATH: "/nowhere" });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "error: the Automation API runs the Pulumi CLI, and there is no command pulumi on the PATH. What to do: install it (https://www.pulumi.com/docs/install/) and run this again.\n",
    });
  });

  test("says what it can be called with", async () => {
    const { node } = copyExample("several-merchants");
    expect(await node(["all.ts", "plan"])).toMatchObject({ code: 2, stderr: expect.stringContaining("preview | up") });
    expect(await node(["all.ts", "up", "bakry"])).toMatchObject({
      code: 2,
      stderr: "merchants.ts has no merchant bakry; it has: bakery, jeweller, ticket-shop\n",
    });
  });

  test("declares the rules of the merchant whose stack it is, on the local engine", async () => {
    const service = await startService({ contract: loadPreset("illustrative") });
    const { merchantRules } = copyExample("several-merchants");
    const words = ["local", "up", "--stack", "jeweller", "--yes"];
    const { code, output } = await merchantRules(words, { MERCHANT_RULES_BASE_URL: service.url });
    expect(code, output).toBe(0);
    expect(service.rules().map(({ rule }) => rule.conditions)).toEqual([
      [{ field: "amount", operator: "gt", value: 20_000 }],
      [{ field: "country", operator: "notIn", value: ["NL", "BE", "DE", "CH"] }],
    ]);
  });

  test.skipIf(!hasPulumi)(
    "with the Pulumi CLI: one merchant fails, the others are done, and the summary says so",
    { timeout: 300_000 },
    async () => {
      const { node, service } = await openShops();
      const { code, output } = await node(["all.ts", "up"]);
      expect(code, output).toBe(1);
      expect(output).toContain("cannot connect to");
      expect(output).toContain("rules: 2 created and verified");
      expect(output).toContain(
        [
          "up: 1 succeeded, 1 failed",
          "  florist  FAILED  see above",
          "  bakery   ok      create 3",
          "Those that failed once more: node all.ts up florist",
        ].join("\n"),
      );
      expect(service.rules()).toHaveLength(2);
      expect(await node(["all.ts", "refresh", "bakery"])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("bakery  ok      nothing to change"),
      });
      expect(await node(["all.ts", "destroy", "bakery"])).toMatchObject({ code: 0 });
      expect(service.rules()).toEqual([]);
    },
  );
});
