import { createRequire } from "node:module";
import type { ResourceValidationArgs } from "@pulumi/policy";
import structs from "google-protobuf/google/protobuf/struct_pb.js";
import { describe, expect, test } from "vitest";
import { normalForm } from "../../policy/normal-form.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { type Declared, evaluate, noOptions, rule, ruleSet, unknown } from "./evaluate.ts";

/** The policy host's own, which its types do not name. */
const require = createRequire(import.meta.url);
const {
  deserializeProperties,
  serializeProperties,
}: {
  deserializeProperties: (properties: structs.Struct, keepSecrets: boolean) => Record<string, unknown>;
  serializeProperties: (properties: Record<string, unknown>) => Promise<JsonObject>;
} = require("@pulumi/policy/deserialize.js");
const { unknownCheckingProxy }: { unknownCheckingProxy: (props: object) => Record<string, unknown> } =
  require("@pulumi/policy/proxy.js");

const config = { trim: ["/name", "/tags/*"], upperCase: ["/currency", "/limits/*/currency"] };

/** A secret as the engine sends it. */
function secret(value: unknown) {
  return { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value };
}

/** A resource's properties as the engine gets them back; undefined where they stay as they are. */
async function remediated({ type, name, props }: Declared, given: object = config): Promise<JsonObject | undefined> {
  const shown = unknownCheckingProxy(deserializeProperties(structs.Struct.fromJavaScript(sent(props)), true));
  const args: ResourceValidationArgs = {
    type,
    name,
    props: shown,
    urn: `urn:pulumi:dev::shop::${type}::${name}`,
    opts: noOptions,
    stackTags: new Map(),
    isType: () => false,
    asType: () => undefined,
    getConfig: <T extends object>() => ({ trim: [], upperCase: [], ...given }) as T,
    notApplicable: () => {
      throw new Error("not applicable");
    },
  };
  const result = await normalForm.remediateResource?.(args);
  return result ? serializeProperties(result) : undefined;
}

function sent(props: object): JsonObject {
  return JSON.parse(JSON.stringify(props));
}

const around = {
  __provider: 'exports.handler=()=>require("pulumi-merchant-rules/provider").merchantRule',
  __owner: { "shop/dev/a": null },
  connection: " default ",
};

describe("normal-form, as a remediation", () => {
  test("corrects a rule that is a text as it does an object, and leaves other texts as they are", async () => {
    const wrong = { name: " a ", limits: [{ currency: "eur" }] };
    const right = { name: "a", limits: [{ currency: "EUR" }] };
    const kept = '{ "name": "b" }';
    expect(await remediated(ruleSet("all", { a: JSON.stringify(wrong), b: kept }))).toMatchObject({
      rules: { a: JSON.stringify(right), b: kept },
    });
    expect(await remediated({ ...rule("one", {}), props: { definition: JSON.stringify(wrong) } })).toMatchObject({
      definition: JSON.stringify(right),
    });
  });

  test("trims texts and writes currency codes in capital letters, and changes nothing else", async () => {
    const definition = { name: " large ", currency: "eur", note: " x ", tags: [" a", 5, "b"], n: 1.5, none: null };
    expect(await remediated(rule("a", definition, { props: around }))).toEqual({
      ...around,
      definition: { ...definition, name: "large", currency: "EUR", tags: ["a", 5, "b"] },
    });
  });

  test("does so for each rule of a set", async () => {
    const rules = {
      a: { name: "a", currency: "EUR" },
      "b/c": { name: "b\t", limits: { day: { currency: " gBp" } } },
    };
    expect(await remediated(ruleSet("all", rules, { props: around }))).toEqual({
      ...around,
      rules: { ...rules, "b/c": { name: "b", limits: { day: { currency: "GBP" } } } },
    });
  });

  test.each(["EUR", "eu", "euro", "e r", "", "12a", " euro ", "ßßß"])(
    "leaves %j where currency codes stand",
    async (currency) => {
      expect(await remediated(rule("a", { name: "a", currency }))).toBeUndefined();
    },
  );

  test("gives nothing back where there is nothing to change", async () => {
    expect(
      await remediated(rule("a", { name: "large", currency: "EUR", other: " x " }, { props: around })),
    ).toBeUndefined();
    expect(await remediated(rule("a", { name: " a " }), {})).toBeUndefined();
    expect(await remediated({ type: "aws:s3/bucket:Bucket", name: "logs", props: { name: " a " } })).toBeUndefined();
  });

  test("leaves secrets as they are, and secret", async () => {
    const definition = {
      name: secret(" hush "),
      currency: " eur",
      limits: secret([{ currency: "eur" }]),
      tags: [secret(" a ")],
    };
    expect(await remediated(rule("a", definition))).toEqual({ definition: { ...definition, currency: "EUR" } });
    expect(await remediated(ruleSet("all", secret({ a: { name: " a " } })))).toBeUndefined();
  });

  test("leaves what is not known yet as it is", async () => {
    const definition = { name: unknown, currency: " eur", tags: [unknown, " b"], limits: unknown };
    expect(await remediated(rule("a", definition))).toEqual({
      definition: { ...definition, currency: "EUR", tags: [unknown, "b"] },
    });
    expect(await remediated(rule("a", unknown))).toBeUndefined();
    expect(await remediated(ruleSet("all", unknown))).toBeUndefined();
  });

  test("leaves nothing to correct", async () => {
    const declared = ruleSet("all", { a: { name: " a ", currency: "eur " }, b: { tags: [" b", "c\n"] } });
    const props = await remediated(declared);
    expect(props).toBeDefined();
    expect(await remediated({ ...declared, props: { ...props } })).toBeUndefined();
    expect((await evaluate(normalForm, [{ ...declared, props: { ...props } }], config)).violations).toEqual([]);
  });

  test("refuses a wrong configuration", async () => {
    await expect(remediated(rule("a", {}), { lowerCase: ["/name"] })).rejects.toThrow(
      /found lowerCase, allowed: trim, upperCase, secret/,
    );
  });
});

describe("normal-form, as a check", () => {
  test("is off unless its level is configured", () => {
    expect(normalForm.enforcementLevel).toBe("disabled");
  });

  test("reports what it would change, and no value", async () => {
    const declared = [
      rule("a", { name: " hush ", currency: "eur" }),
      ruleSet("all", { b: { name: "b", tags: ["c", "d "] }, c: { currency: "EUR", limits: [{ currency: " EUR" }] } }),
    ];
    expect((await evaluate(normalForm, declared, config)).violations).toEqual([
      "a: a: /name: found blanks at an end of the text, allowed none",
      "a: a: /currency: found a currency code with small letters or blanks, allowed three capital letters",
      "all: b: /tags/1: found blanks at an end of the text, allowed none",
      "all: c: /limits/0/currency: found a currency code with small letters or blanks, allowed three capital letters",
    ]);
  });

  test("leaves out what is not known yet, and says so", async () => {
    const declared = [rule("a", { name: unknown, tags: [" a", unknown] })];
    expect(await evaluate(normalForm, declared, config)).toMatchObject({
      violations: ["a: a: /tags/0: found blanks at an end of the text, allowed none"],
      notes: ["not known before the run, so not checked: a: /name, a: /tags/1"],
    });
  });

  test("has nothing to say without a pointer, and refuses what is none", async () => {
    expect((await evaluate(normalForm, [rule("a", {})])).notApplicable).toEqual(["no pointer is configured"]);
    await expect(evaluate(normalForm, [rule("a", {})], { trim: ["name"] })).rejects.toThrow(
      /trim\/0 must match pattern/,
    );
  });
});
