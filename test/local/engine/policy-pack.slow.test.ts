import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
  analyzeState,
  EngineError,
  type PackChoice,
  type PolicyFindings,
  readExport,
} from "../../../local/engine/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { newFolder } from "../../support/folder.ts";

const root = newFolder();
const good = join(import.meta.dirname, "fixtures/policies");

/** A stack with one rule as `pulumi stack export` prints it. */
function exportOf(definition: JsonObject): string {
  const type = "pulumi-nodejs:dynamic/fixture:Rule";
  const rule = { urn: `urn:pulumi:dev::fixture::${type}::a`, custom: true, type, id: "r1", inputs: { definition } };
  const manifest = { time: "", magic: "", version: "" };
  return JSON.stringify({ version: 3, deployment: { manifest, resources: [{ ...rule, outputs: { definition } }] } });
}

async function analyze(definition: JsonObject, packs: PackChoice): Promise<PolicyFindings> {
  const resources = await readExport(exportOf(definition), "the test");
  return await analyzeState({ resources, cwd: root, ...packs });
}

/** A pack whose program is the text. */
function packOf(name: string, program: string, manifest = "runtime: nodejs\n", linked = true): string {
  const folder = join(root, name);
  cpSync(good, folder, { recursive: true });
  if (linked) symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(folder, "node_modules"), "dir");
  writeFileSync(join(folder, "index.js"), program);
  writeFileSync(join(folder, "PulumiPolicy.yaml"), manifest);
  return name;
}

function configOf(name: string, text: string): string {
  writeFileSync(join(root, name), text);
  return name;
}

/** The error with which packs are refused: its code, and its text. */
async function refused(
  policyPacks: readonly string[],
  policyPackConfigs?: readonly string[],
  definition: JsonObject = {},
): Promise<string> {
  const analyzed = analyze(definition, { policyPacks, policyPackConfigs });
  const error: unknown = await analyzed.catch((thrown: unknown) => thrown);
  if (!(error instanceof EngineError)) throw new Error(`not refused, but ${String(error)}`);
  return `${error.code}: ${error.message}`;
}

test.concurrent("a policy pack takes levels and properties from a file, and its policies' defaults for the rest", async () => {
  const strict = { short: { max: 4 }, few: { enforcementLevel: "disabled", max: 0 } };
  const mild = { all: "advisory", few: { max: 0 }, "no-bad": "disabled", trimmed: "mandatory" };
  const files = [configOf("strict.json", JSON.stringify(strict)), configOf("mild.json", JSON.stringify(mild)), ""];
  const found = await Promise.all(
    files.map(async (file) => {
      const packs = file === "" ? { policyPacks: [good] } : { policyPacks: [good], policyPackConfigs: [file] };
      const definition = { name: " a very long name for a rule ", bad: true };
      const { violations, remediations } = await analyze(definition, packs);
      return [...remediations, ...violations.map(({ level, message }) => `${level}: ${message}`)];
    }),
  );
  const trimmed = expect.objectContaining({
    after: { definition: { name: "a very long name for a rule", bad: true } },
  });
  const bad = "mandatory: No bad rules.\nthe rule is bad\nvery bad";
  expect(found).toEqual([
    [trimmed, bad, "mandatory: Names are short.\nfound 29 letters, allowed 4"],
    [
      "advisory: Names are short.\nfound 29 letters, allowed 20",
      "advisory: A stack has few rules.\nfound 1 rules (0 made), allowed 0",
    ],
    [trimmed, bad, "mandatory: Names are short.\nfound 29 letters, allowed 20"],
  ]);
});

describe.concurrent("a policy pack is refused", () => {
  test("that is not there, is none, or runs elsewhere", async () => {
    mkdirSync(join(root, "empty"));
    const advice = "What to do: name the folder of a policy pack with --policy-pack";
    expect(await refused(["none"])).toBe(`POLICY_PACK: there is no folder none\n${advice}`);
    expect(await refused(["empty"])).toBe(`POLICY_PACK: empty has no PulumiPolicy.yaml\n${advice}`);
    expect(await refused([])).toBe(
      "BAD_CALL: there is no policy pack to run\nWhat to do: name its folder with --policy-pack",
    );
    packOf("python", "", "runtime: { name: python }\n");
    expect(await refused(["python"])).toMatch(
      /^UNSUPPORTED: a policy pack with the runtime "python" \(.*\) is not handled/,
    );
    packOf("broken", "", "runtime: [\n");
    expect(await refused(["broken"])).toMatch(/^POLICY_PACK: .*PulumiPolicy.yaml is not valid YAML: line /);
    packOf("wrong", "", "name: x\n");
    expect(await refused(["wrong"])).toMatch(/^POLICY_PACK: .*PulumiPolicy.yaml is not a policy pack:/);
  });

  test("that has no @pulumi/policy to run with", async () => {
    packOf("bare", "", undefined, false);
    expect(await refused(["bare"])).toBe(
      `POLICY_PACK: the policy pack in bare cannot be started: @pulumi/policy is not installed for it\nWhat to do: run npm install in ${join(root, "bare")}`,
    );
  });

  test.each([
    ["throws", 'throw new Error("no luck")', 32, "Error: no luck"],
    ["ends", "", 0, "it said nothing; a pack is a program that makes a PolicyPack"],
    [
      "all",
      'const { PolicyPack } = require("@pulumi/policy"); new PolicyPack("p", { policies: [{ name: "all" }] })',
      1,
      'Invalid policy name "all". "all" is a reserved name.',
    ],
  ])("that %s at its start, with what it said", async (name, program, code, reason) => {
    expect(await refused([packOf(name, program)])).toBe(
      `POLICY_PACK: the policy pack in ${name} ended before it was ready (exit code ${code}): ${reason}\nWhat to do: fix the pack, then run this again`,
    );
  });

  test("that ends while it is asked", async () => {
    expect(await refused([good], undefined, { odd: "exit" })).toBe(
      `POLICY_PACK: the policy pack in ${good} ended when it was to analyze a (exit code 3)`,
    );
  });

  test("with a configuration that is not there, or not of the form", async () => {
    const of = (text: string) => refused([good], [configOf("form.json", text)]);
    expect(await refused([good], ["none.json"])).toBe(
      "POLICY_PACK: there is no file none.json\nWhat to do: name a JSON file with --policy-pack-config",
    );
    expect(await of("{x")).toBe("POLICY_PACK: form.json is not JSON: Expected property name or '}'");
    expect(await of("[]")).toBe("POLICY_PACK: form.json is not an object, in which each key is the name of a policy");
    const levels = "allowed are advisory, mandatory, remediate, disabled";
    expect(await of('{"short": "mandatry"}')).toBe(
      `POLICY_PACK: form.json: short: found "mandatry", ${levels}, or an object with enforcementLevel and the policy's own properties`,
    );
    expect(await of('{"short": {"enforcementLevel": 1}}')).toBe(
      `POLICY_PACK: form.json: short/enforcementLevel: found 1, ${levels}`,
    );
    expect(await of('{"environments": ["prod"]}')).toMatch(/^UNSUPPORTED: a Pulumi ESC environment \(form\.json\)/);
    expect(await refused([good], ["a.json", "b.json"])).toBe(
      "BAD_CALL: there are 1 policy packs and 2 configurations\nWhat to do: give one --policy-pack-config for each --policy-pack, in the same order, or none",
    );
  });

  test("with a configuration that its policies do not take", async () => {
    const names = "all, trimmed, polite, no-bad, named, known-target, short, odd, few";
    expect(await refused([good], [configOf("name.json", '{"no-bat": "mandatory"}')])).toBe(
      `POLICY_PACK: name.json: the policy pack rule-policies@v1.2.3 has no policy "no-bat"\nWhat to do: name one of its policies (did you mean no-bad?): ${names}`,
    );
    expect(
      await refused([good], [configOf("values.json", '{"short": {"max": 0, "maks": 1}, "few": {"max": "3"}}')]),
    ).toBe(
      [
        "POLICY_PACK: values.json:",
        "  short/maks: the policy has no such property, allowed are max",
        "  short/max: found 0, but it must be >= 1",
        '  few/max: found "3", but it must be integer',
      ].join("\n"),
    );
  });
});
