import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { type JsonObject, MerchantRule } from "../../provider/index.ts";
import { declaredJson } from "../../provider/resources/declared-json.ts";
import { providerSource } from "../../provider/resources/provider-source.ts";
import { loadedBy } from "../support/loaded.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const type = "pulumi-nodejs:dynamic/merchant-rules:MerchantRule";

const registered: { type: string; name: string; inputs: Record<string, unknown> }[] = [];

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ type, name, inputs, custom }) => {
      registered.push({ type, name, inputs });
      return { id: custom === true ? `id of ${name}` : undefined, state: inputs };
    },
    call: ({ inputs }) => inputs,
  });
});

describe("the code that the engine keeps for a rule", () => {
  test("never changes by a byte: state everywhere holds it", () => {
    expect(providerSource("merchantRule")).toBe(
      'exports.handler=()=>require("pulumi-merchant-rules/provider").merchantRule',
    );
    expect(Buffer.byteLength(providerSource("merchantRule"))).toBeLessThan(100);
  });

  test("is found in the installed package", () => {
    const code = `const m = { exports: {} }; new Function("exports", "require", ${JSON.stringify(providerSource("merchantRule"))})(m.exports, require); console.log(typeof m.exports.handler().create)`;
    expect(execFileSync(process.execPath, ["-e", code], { cwd: root, encoding: "utf8" }).trim()).toBe("function");
  });
});

describe("a MerchantRule in a program", () => {
  test("is registered with its definition, outputs and secrets included, and the code above", async () => {
    const rule = new MerchantRule("limit", {
      definition: { name: "limit", value: pulumi.secret(7), priority: pulumi.output(1), note: undefined },
      connection: "sandbox",
    });
    const id = await new Promise((resolve) => rule.ruleId.apply(resolve));
    expect(id).toBe("id of limit");
    const { inputs } = registered.find(({ name }) => name === "limit") ?? { inputs: {} };
    expect(inputs).toMatchObject({
      definition: { value: { name: "limit", priority: 1, value: 7 } },
      connection: "sandbox",
      __provider: providerSource("merchantRule"),
    });
    expect(JSON.stringify(inputs)).not.toContain("note");
    expect(await pulumi.isSecret(rule.definition)).toBe(true);
  });

  test.each([
    [
      { import: "r-1" },
      "MerchantRule r: the option import cannot work for rules. To take over rule r-1, remove import",
    ],
    [
      { id: "r-1" },
      "MerchantRule r: the option id cannot work for rules. To read a rule, call getMerchantRule({ ruleId })",
    ],
  ])("refuses the options that would have the engine read it: %j", (opts, said) => {
    expect(() => new MerchantRule("r", { definition: {} }, opts)).toThrow(said);
  });

  test("can be told from other resources", () => {
    const rule = new MerchantRule("told", { definition: {} });
    expect(MerchantRule.isInstance(rule)).toBe(true);
    expect(MerchantRule.isInstance(new pulumi.ComponentResource("x:y:Z", "other"))).toBe(false);
    expect(MerchantRule.isInstance({})).toBe(false);
    expect(Reflect.get(MerchantRule, "__pulumiType")).toBe(type);
  });

  test("has the type of its definition", () => {
    interface Limit {
      name: string;
      value?: number;
    }
    const rule = new MerchantRule<Limit>("typed", { definition: { name: pulumi.output("x"), value: 1 } });
    expectTypeOf(rule.definition).toEqualTypeOf<pulumi.Output<Limit>>();
    const json: JsonObject = { name: "any JSON will do" };
    new MerchantRule("json", { definition: json });
    new MerchantRule("mixed", {
      definition: { name: pulumi.output("x"), conditions: [{ value: pulumi.secret(1) }], extra: json },
    });
    // @ts-expect-error: name is not a number
    new MerchantRule<Limit>("wrong", { definition: { name: 1 } });
  });

  test.each<[string, unknown, string]>([
    ["a Date", { from: { when: new Date(0) } }, "x: definition.from.when holds a Date"],
    ["NaN", { list: [1, Number.NaN] }, "x: definition.list[1] holds NaN"],
    ["a BigInt", { "odd key": 1n }, 'x: definition["odd key"] holds a bigint'],
    ["a Map", { map: new Map() }, "x: definition.map holds a Map"],
    ["undefined among elements", { list: [undefined] }, "x: definition.list[0] holds undefined"],
    ["a function", { f: () => 1 }, "x: definition.f holds a function"],
  ])("refuses %s with its path", (_name, definition, message) => {
    expect(() => declaredJson(definition, "x: definition")).toThrow(`${message}, which is not JSON`);
  });

  test("refuses what is not JSON when it arrives in an output or a promise", async () => {
    const declared = declaredJson({ late: Promise.resolve(new Date(0)) }, "x: definition");
    await expect(Reflect.get(Object(declared), "late")).rejects.toThrow("x: definition.late holds a Date");
  });

  test("refuses a cycle and endless nesting", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(() => declaredJson(cycle, "x")).toThrow("x.self holds a reference to an object that contains it");
    let deep: unknown = 1;
    for (let level = 0; level < 200; level++) deep = [deep];
    expect(() => declaredJson(deep, "x")).toThrow("more than 100 levels of nesting");
  });
});

describe("a program that only declares rules", () => {
  test("loads none of the client's, the contract's or the command's packages", () => {
    const loaded = loadedBy("pulumi-merchant-rules");
    expect(loaded.some((url) => url.endsWith("/dist/provider/index.js"))).toBe(true);
    const rooms = ["sdk/client", "sdk/contract", "provider/hooks", "local", "cli"].map((room) => `/dist/${room}/`);
    const packages = ["undici", "zod", "yaml", "ajv"].map((name) => `/node_modules/${name}/`);
    const unwanted = [...rooms, ...packages];
    expect(loaded.filter((url) => unwanted.some((part) => url.includes(part)))).toEqual([]);
  });

  test("would load them by the hooks, so that the test above can fail", () => {
    expect(loadedBy("pulumi-merchant-rules/provider")).toContainEqual(expect.stringContaining("/node_modules/zod/"));
  });
});
