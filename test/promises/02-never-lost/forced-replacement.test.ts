import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { marking, rule } from "../../support/rules.ts";
import { startHost } from "../../support/stack/hooks.ts";
import { type HookNames, resource } from "../../support/stack/hosts.ts";
import { serve } from "../../support/stack/service.ts";

/** A service, and hosts as the runs of one stack have them, one each. */
async function open(contract?: ContractInput) {
  const served = await serve(contract);
  const nextRun = async (hooks: HookNames = "merchantRule") => {
    const host = await startHost(served.environment, hooks);
    return host;
  };
  return { service: served.service, nextRun };
}

/**
 * By `replacementTrigger`, `pulumi up --replace`, `--target-replace` and `pulumi state taint` the engine replaces a resource
 * without asking the provider for a difference: it calls check, create, and then delete of the old resource.
 */
describe("a replacement that the engine has decided alone", () => {
  test("keeps a rule with the resource's own mark: its delete spares what its create took over", async () => {
    const { service, nextRun } = await open(marking);
    const inputs = resource("limit", { definition: rule(1) });
    const { id, outs } = await (await nextRun()).create(inputs);
    const host = await nextRun();
    service.resetRequests();
    await host.check(inputs);
    expect((await host.create(inputs)).id).toBe(id);
    await host.delete(id, outs);
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual([id]);
    expect(service.requestCount("delete")).toBe(0);
    await (await nextRun()).delete(id, outs);
    expect(service.rules()).toEqual([]);
  });

  test("keeps every rule of a set", async () => {
    const { service, nextRun } = await open(marking);
    const inputs = resource("limits", { rules: { a: rule(1), b: rule(2) } });
    const { id, outs } = await (await nextRun("merchantRuleSet")).create(inputs);
    const host = await nextRun("merchantRuleSet");
    await host.check(inputs);
    await host.create(inputs);
    await host.delete(id, outs);
    expect(service.rules()).toHaveLength(2);
    expect(service.requestCount("delete")).toBe(0);
  });

  test("keeps a rule without marks that adopt names, as the refusal advises", async () => {
    const { service, nextRun } = await open();
    const inputs = resource("limit", { definition: rule(1) });
    const { id, outs } = await (await nextRun()).create(inputs);
    const refusing = await nextRun();
    await refusing.check(inputs);
    await expect(refusing.create(inputs)).rejects.toThrow(`add adopt: "${id}"`);
    const adopting = { ...inputs, adopt: id };
    const host = await nextRun();
    await host.check(adopting);
    expect((await host.create(adopting)).id).toBe(id);
    await host.delete(id, outs);
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual([id]);
  });

  test("is another matter in a later run, in which the resource's difference is asked for", async () => {
    const { service, nextRun } = await open(marking);
    const inputs = resource("limit", { definition: rule(1) });
    await (await nextRun()).create(inputs);
    const host = await nextRun();
    const { id, outs } = await host.create(inputs);
    await host.diff(id, outs, inputs);
    await host.delete(id, outs);
    expect(service.rules()).toEqual([]);
  });

  test("deletes the old rule when the new one is another", async () => {
    const { service, nextRun } = await open(marking);
    const inputs = resource("limit", { definition: rule(1) });
    const { id, outs } = await (await nextRun()).create(inputs);
    const host = await nextRun();
    const changed = { ...inputs, definition: rule(2) };
    await host.check(changed);
    const { id: other } = await host.create(changed);
    await host.delete(id, outs);
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual([other]);
  });
});

test("replaceOnChanges alone is refused where the natural key stays, and deleteBeforeReplace is the way", async () => {
  const { service, nextRun } = await open();
  const inputs = resource("limit", { definition: rule(1) });
  const { id, outs } = await (await nextRun()).create(inputs);
  const changed = { ...inputs, definition: rule(1, { priority: 50 }) };
  const host = await nextRun();
  await host.check(changed, inputs);
  await host.diff(id, outs, changed);
  await expect(host.create(changed)).rejects.toThrow(
    "What to do: give the resource the option deleteBeforeReplace: true, or remove its option replaceOnChanges",
  );
  const next = await nextRun();
  await next.check(changed, inputs);
  await next.diff(id, outs, changed);
  await next.delete(id, outs);
  const { id: other } = await next.create(changed);
  expect(service.rules()).toMatchObject([{ ruleId: other, rule: { priority: 50 } }]);
});
