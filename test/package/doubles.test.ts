import { execFileSync } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../support/folder.ts";
import { root } from "./packed.ts";

const folder = newFolder();
cpSync(join(root, "dist"), join(folder, "double/dist"), { recursive: true });
cpSync(join(root, "package.json"), join(folder, "double/package.json"));
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

/** Runs a program that has two copies of the package, `one` and `other`. Gives what it registered, by run. */
function registered(program: string): unknown {
  writeFileSync(
    join(folder, "index.js"),
    `import { runtime } from "@pulumi/pulumi";
import * as one from ${JSON.stringify(join(root, "dist/provider/index.js"))};
import * as other from "./double/dist/provider/index.js";
const runs = [];
async function run(program) {
  const resources = [];
  runs.push(resources);
  await runtime.setMocks({
    newResource({ type, name, inputs }) {
      const of = inputs.__connection ?? inputs.owner;
      resources.push([type.split(":").at(-1), name, ...(of === undefined ? [] : [of])]);
      const id = runs.length + " " + type.split(":").at(-1) + " " + name;
      return { id, state: { ...inputs, link: id } };
    },
    call: ({ inputs }) => inputs,
  });
  await Promise.all(program().map((rule) => new Promise((resolve) => rule.ruleId.apply(resolve))));
}
const definition = { name: "a" };
${program}
console.log(JSON.stringify(runs.map((run) => run.toSorted())));
`,
  );
  return JSON.parse(execFileSync(process.execPath, ["index.js"], { cwd: folder, encoding: "utf8" }));
}

test("two copies of the package in a process register one owner and one connection, also by the provider of either", () => {
  const program = `await run(() => {
  const sandbox = new other.Provider("sandbox", { baseUrl: "https://sandbox.example.com" });
  return [
    new one.MerchantRule("a", { definition }),
    new other.MerchantRule("b", { definition }),
    new one.MerchantRule("c", { definition }, { provider: sandbox }),
    new other.MerchantRule("d", { definition }, { provider: sandbox }),
  ];
});`;
  expect(registered(program)).toEqual([
    [
      ["Connection", "default", "1 Owner owner"],
      ["Connection", "sandbox", "1 Owner owner"],
      ["MerchantRule", "a", "1 Connection default"],
      ["MerchantRule", "b", "1 Connection default"],
      ["MerchantRule", "c", "1 Connection sandbox"],
      ["MerchantRule", "d", "1 Connection sandbox"],
      ["Owner", "owner"],
      ["pulumi-nodejs", "sandbox"],
    ],
  ]);
});

test("each run with mocks has an owner and a connection of its own", () => {
  const program = `for (const name of ["a", "b"]) await run(() => [new one.MerchantRule(name, { definition })]);`;
  expect(registered(program)).toEqual([
    [
      ["Connection", "default", "1 Owner owner"],
      ["MerchantRule", "a", "1 Connection default"],
      ["Owner", "owner"],
    ],
    [
      ["Connection", "default", "2 Owner owner"],
      ["MerchantRule", "b", "2 Connection default"],
      ["Owner", "owner"],
    ],
  ]);
});
