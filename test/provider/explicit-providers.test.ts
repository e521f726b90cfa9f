import { join } from "node:path";
import { expect, test } from "vitest";
import { localCredentials } from "../../local/service/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { onBothEngines, type Stack } from "../support/stack/engines.ts";
import { startFront } from "../support/stack/front.ts";
import { openPlace, openStack } from "../support/stack/place.ts";

const token = "token-of-the-sandbox";

/** A program whose rules, by its file, go by a provider of its own, or by none. */
const program = `
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { MerchantRule, MerchantRuleSet, Provider } from "pulumi-merchant-rules";

const { settings, inSandbox, inShop, outside } = JSON.parse(readFileSync(new URL("program.json", import.meta.url), "utf8"));
const sandbox = new Provider("sandbox", settings);
class Shop extends pulumi.ComponentResource {
  constructor(name, rules, opts) {
    super("shop:index:Shop", name, {}, opts);
    new MerchantRuleSet(name + "-rules", { rules }, { parent: this });
  }
}
for (const [name, definition] of Object.entries(inSandbox)) new MerchantRule(name, { definition }, { provider: sandbox });
if (inShop !== undefined) new Shop("shop", inShop, { providers: [sandbox] });
for (const [name, definition] of Object.entries(outside)) new MerchantRule(name, { definition });
`;

interface Programmed {
  readonly settings: JsonObject;
  readonly inSandbox?: JsonObject;
  readonly inShop?: JsonObject;
  readonly outside?: JsonObject;
}

function write(stack: Stack, { settings, inSandbox = {}, inShop, outside = {} }: Programmed): void {
  stack.project.write("program.json", JSON.stringify({ settings, inSandbox, inShop, outside }));
}

/** A default connection, and the sandbox, which has credentials of its own. */
async function twoServices() {
  const ours = await openPlace();
  const sandbox = await openPlace({ contract: contractOf(), merchants: [{ name: "sandbox", token }] });
  return { ours, sandbox };
}

const names = (rules: readonly { readonly rule: JsonObject }[]) => rules.map((each) => each.rule.name).sort();

onBothEngines((engine) => {
  test("rules go where their provider leads, those of a component as well, and all others to the default connection", async () => {
    const { ours, sandbox } = await twoServices();
    const stack = await ours.stack(engine, { program });
    const declared = { settings: { ...sandbox.settings, token }, inShop: { r3: rule(3) }, outside: { b: rule(2) } };
    write(stack, { ...declared, inSandbox: { a: rule(1) } });
    await stack.succeeds("up");
    expect(names(sandbox.service.rules())).toEqual(["rule-1", "rule-3"]);
    expect(names(ours.service.rules())).toEqual(["rule-2"]);
    expect(stack.project.state()).not.toContain(token);

    sandbox.writes();
    write(stack, { ...declared, inSandbox: { a: rule(1, { priority: 50 }) } });
    await stack.succeeds("up", { refresh: true });
    expect(sandbox.writes()).toEqual(["update"]);
    await stack.succeeds("destroy");
    expect([...sandbox.service.rules(), ...ours.service.rules()]).toEqual([]);
  });

  test("a provider's address that changes changes no rule", async () => {
    const { ours, sandbox } = await twoServices();
    const moved = await startFront(sandbox.service.url);
    const stack = await ours.stack(engine, { program });
    const settings = { ...sandbox.settings, token };
    write(stack, { settings, inSandbox: { a: rule(1) } });
    await stack.succeeds("up");
    const before = sandbox.service.rules();
    sandbox.front.taken();
    write(stack, { settings: { ...settings, baseUrl: moved.url }, inSandbox: { a: rule(1) } });
    await stack.succeeds("up");
    await stack.isUnchanged();
    expect(sandbox.service.rules()).toEqual(before);
    expect(moved.taken().filter(({ method }) => method !== "GET")).toEqual([]);
    expect(sandbox.front.taken()).toEqual([]);
  });
});

test("a provider without credentials takes them from the variables under its name, and never those of the default connection", async () => {
  const { ours, sandbox } = await twoServices();
  const stack = await ours.stack("local", { program });
  write(stack, { settings: sandbox.settings, inSandbox: { a: rule(1) } });
  await stack.fails("up", {}, /MERCHANT_RULES_SANDBOX__TOKEN/);
  expect(sandbox.front.taken()).toEqual([]);
  await stack.succeeds("up", { environment: { MERCHANT_RULES_SANDBOX__TOKEN: token } });
  expect(names(sandbox.service.rules())).toEqual(["rule-1"]);
  expect(ours.front.taken()).toEqual([]);
});

test("a provider says by its own input who its credentials must be", async () => {
  const contract = contractOf({ auth: { identity: { path: "/me", at: "/account/id" } } });
  const { place, stack } = await openStack("local", { contract, merchants: [{ name: "sandbox", token }] }, { program });
  const settings = { ...place.settings, token };
  write(stack, { settings: { ...settings, identity: "shop" }, inSandbox: { a: rule(1) } });
  await stack.fails("up", {}, /"sandbox"/, /"shop"/);
  expect(place.writes()).toEqual([]);
  write(stack, { settings: { ...settings, identity: "sandbox" }, inSandbox: { a: rule(1) } });
  await stack.succeeds("up");
  expect(names(place.service.rules())).toEqual(["rule-1"]);
});

test("a provider's token that has ended is replaced by the variables under its name, in a refresh and a destroy as well", async () => {
  const { ours, sandbox } = await twoServices();
  const stack = await ours.stack("local", { program });
  write(stack, { settings: { ...sandbox.settings, token: "ended" }, inSandbox: { a: rule(1) } });
  await stack.succeeds("up", { environment: { MERCHANT_RULES_SANDBOX__TOKEN: token } });
  const from =
    /401.*input token of the provider "sandbox".*MERCHANT_RULES_SANDBOX__TOKEN in the environment comes first/s;
  await stack.fails("refresh", {}, from);
  await stack.fails("destroy", {}, from);
  const wrong = { MERCHANT_RULES_SANDBOX__TOKEN: "wrong" };
  await stack.fails("refresh", { environment: wrong }, /401.*from MERCHANT_RULES_SANDBOX__TOKEN in the environment/s);
  expect(names(sandbox.service.rules())).toEqual(["rule-1"]);
  const folder = newFolder({ rotated: `${token}\n` });
  await stack.succeeds("refresh", { environment: { MERCHANT_RULES_SANDBOX__TOKEN_FILE: join(folder, "rotated") } });
  const command = `cat ${JSON.stringify(join(folder, "rotated"))}`;
  await stack.succeeds("destroy", { environment: { MERCHANT_RULES_SANDBOX__TOKEN_COMMAND: command } });
  expect(sandbox.service.rules()).toEqual([]);
});

test("a token's command runs in the project's folder, in no preview, and once in a run that writes and reads again", async () => {
  const place = await openPlace();
  const environment = { MERCHANT_RULES_TOKEN_COMMAND: "echo run >> runs && cat own-token" };
  const stack = await place.stack("local", { environment });
  stack.project.write("own-token", localCredentials.token);
  stack.declare({ one: { definition: rule(1) } });
  await stack.succeeds("preview");
  expect(() => stack.project.read("runs")).toThrow("ENOENT");
  await stack.succeeds("up");
  expect(stack.project.read("runs")).toBe("run\n");
  await stack.up({ one: { definition: rule(1, { priority: 7 }) }, two: { definition: rule(2) } });
  expect(stack.project.read("runs")).toBe("run\nrun\n");
  await stack.isUnchanged();
  expect(names(place.service.rules())).toEqual(["rule-1", "rule-2"]);
  expect(stack.project.state()).not.toContain(localCredentials.token);
});
