import { expect, onTestFinished, test } from "vitest";
import { rule } from "../support/connections.ts";
import { TestProject } from "../support/project.ts";
import { contractOf, open } from "../worlds/world.ts";

const program = (name: string, alias: string | undefined, definition: object): string => `
import { MerchantRule } from "pulumi-merchant-rules";
new MerchantRule("${name}", { definition: ${JSON.stringify(definition)} }, ${alias === undefined ? "{}" : `{ aliases: [{ name: "${alias}" }] }`});
`;

test.each([
  ["no mark", contractOf()],
  ["a mark", contractOf({ rule: { owner: { at: "/metadata/managedBy" } } })],
])(
  "a resource that was renamed keeps its rule by the alias that the refusal advises, under a contract with %s",
  async (_case, contract) => {
    const world = await open({ contract });
    const project = new TestProject(world.environment);
    onTestFinished(() => project.remove());
    project.write("index.js", program("old", undefined, rule(1)));
    expect(await project.run("local", "up")).toMatchObject({ code: 0 });
    const [before] = world.service.rules();
    if (contract.rule?.owner === undefined) {
      project.write("index.js", program("new", undefined, rule(1)));
      const refused = await project.run("local", "up");
      expect(refused.code).not.toBe(0);
      expect(refused.output).toContain("If this resource was only renamed or moved, give it an alias");
    }
    project.write("index.js", program("new", "old", rule(1)));
    world.asked();
    const renamed = await project.run("local", "up");
    expect(renamed.code, renamed.output).toBe(0);
    expect(world.asked().filter((operation) => operation !== "list" && operation !== "get")).toEqual([]);
    expect(world.service.rules().map(({ ruleId }) => ruleId)).toEqual([before?.ruleId]);
    const gone = await project.run("local", "destroy");
    expect(gone.code, gone.output).toBe(0);
    expect(world.service.rules()).toEqual([]);
  },
);
