import { expect, test } from "vitest";
import { Project, stepNames } from "./support.ts";

test("a provider that is a closure of the program is turned into text, and a program gets the real typescript", async () => {
  const project = new Project(`
    const whole = require("@pulumi/pulumi");
    const ts = require("typescript");
    const suffix = "-" + ts.SyntaxKind[ts.SyntaxKind.Identifier];
    class Echo extends whole.dynamic.Resource {
      constructor(name, props) {
        super({
          create: async (inputs) => ({ id: inputs.text + suffix, outs: { ...inputs, said: inputs.text + suffix } }),
          diff: async (id, olds, news) => ({ changes: olds.text !== news.text, replaces: ["text"] }),
        }, name, { said: undefined, ...props });
      }
    }
    exports.said = new Echo("one", { text: "hello" }).said;
    exports.isReal = "createProgram" in ts && !("default" in ts);
  `);
  const { outputs } = await project.ok("up");
  expect(outputs).toEqual({ said: "hello-Identifier", isReal: true });
  expect(stepNames(await project.ok("preview"))).toEqual([]);
  await project.ok("destroy");
});
