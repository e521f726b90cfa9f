import { describe, expect, test } from "vitest";
import { recoverId } from "../../../provider/merchant/words.ts";
import { marking, rule } from "../../support/rules.ts";
import { openHost } from "../../support/stack/hooks.ts";
import { failureOf, markBy, ownerIdOf, resource, withoutBits } from "../../support/stack/hosts.ts";
import { marksOf } from "../../support/stack/service.ts";

/** The user's word for one run, as a refusal has it for the stacks of these tests. */
const recovering = { MERCHANT_RULES_RECOVER: ["", "shop/prod/limit"].map((of) => recoverId(ownerIdOf(of))).join() };

describe("create makes a rule at most once", () => {
  test("a rule that exists already, as it is declared, is refused: nobody can tell whose it is", async () => {
    const { host, served } = await openHost();
    const other = served.service.put(undefined, rule(1));
    const create = host.create({ definition: rule(1) });
    await expect(create).rejects.toThrow(`rule ${other} has the same natural key (/name: "rule-1") and exists already`);
    // Three ways on are named: each is followed by a test of its own.
    await expect(create).rejects.toThrow(
      new RegExp(`adopt: "${other}".*give it an alias.*MERCHANT_RULES_RECOVER=[0-9a-f]{4}.*RULE_CONFLICT`, "s"),
    );
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
  });

  test("a rule that a killed run left behind is taken over in a run that recovers, not made again", async () => {
    const { served, another, host } = await openHost(undefined, recovering);
    const left = served.service.put(undefined, rule(1));
    const { id, outs } = await host.create({ definition: rule(1) });
    expect(id).toBe(left);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    expect(outs).toMatchObject({ ruleId: left, definition: rule(1) });
    expect(host.stderr).toContain(`rule ${left} exists, is as declared as a whole, and is taken over to recover`);
    await (await another()).delete(id, outs);
    expect(served.service.rules()).toEqual([]);
  });

  test.each([
    ["with other values", rule(1, { priority: 9 })],
    ["with fields that are not declared", rule(1, { note: "of another team" })],
  ])("a run that recovers takes over no rule %s", async (_, existing) => {
    const { served, host } = await openHost(undefined, recovering);
    served.service.put(undefined, existing);
    await expect(host.create({ definition: rule(1) })).rejects.toThrow(/exists already.*RULE_CONFLICT/s);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
  });

  test("a rule that a killed run left behind is gone on with where its mark says whose it is", async () => {
    const { served, another, host } = await openHost(marking);
    const inputs = resource("limit", { definition: rule(1) });
    const left = await host.create(inputs);
    const ownMark = marksOf(served);
    expect(ownMark.map(withoutBits)).toEqual([markBy("shop/prod/limit")]);
    served.service.resetRequests();
    expect(await (await another()).create(inputs)).toEqual({ ...left, outs: { ...left.outs, taken: [""] } });
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    // One that differs enters the state as it is, and the next run makes it as declared: no write is blind.
    const changed = resource("limit", { definition: rule(1, { priority: 9 }) });
    served.service.resetRequests();
    const failure = await failureOf((await another()).create(changed));
    expect(failure.message).toMatch(/is this stack's already, and differs at priority.*`pulumi up` again/s);
    expect(failure.partial).toMatchObject({ id: left.id, properties: { definition: rule(1) } });
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    const next = await another();
    const known = failure.partial?.properties ?? {};
    expect(await next.diff(left.id, known, changed)).toMatchObject({ changes: "unknown", replaces: [] });
    expect(await next.update(left.id, known, changed)).toMatchObject({ definition: rule(1, { priority: 9 }) });
    expect(served.service.rules()).toMatchObject([{ ruleId: left.id, rule: { priority: 9 } }]);
    expect(marksOf(served)).toEqual(ownMark);
  });

  test("a rule with the mark of another stack is refused, and taken over by adopt alone", async () => {
    const { served, host } = await openHost(marking, recovering);
    const metadata = { managedBy: markBy("shop/staging/limit") };
    const other = served.service.put(undefined, rule(1, { metadata }));
    const inputs = resource("limit", { definition: rule(1) });
    await expect(host.create(inputs)).rejects.toThrow(
      new RegExp(`is managed by "shop/staging/limit", as its mark says.*adopt: "${other}".*RULE_CONFLICT`, "s"),
    );
    expect(served.service.requestCount()).toBe(1);
    expect((await host.create({ ...inputs, adopt: other })).id).toBe(other);
    // Its mark is written at once: by the other one its old owner would delete it.
    expect(marksOf(served).map(withoutBits)).toEqual([markBy("shop/prod/limit")]);
  });

  test("another rule with its natural key is an error that names it and says how to take it over", async () => {
    const { host, served } = await openHost();
    const other = served.service.put(undefined, rule(1, { priority: 9, actions: [] }));
    const failure = host.create({ definition: rule(1) });
    await expect(failure).rejects.toThrow(
      new RegExp(
        `rule ${other} has the same natural key .*differs at (actions\\[0\\], priority|priority, actions\\[0\\]).*adopt: "${other}"`,
        "s",
      ),
    );
    expect(served.service.requestCount("create")).toBe(0);
  });

  test.each([["its id"], ["its natural key"]])(
    "adopt takes over an existing rule by %s and makes it as declared",
    async (by) => {
      const { host, served, another } = await openHost();
      const existing = served.service.put(undefined, rule(1, { priority: 9 }));
      const adopt = by === "its id" ? existing : true;
      const { id, outs } = await host.create({ definition: rule(1), adopt });
      expect(id).toBe(existing);
      expect(served.service.rules()).toMatchObject([{ ruleId: existing, rule: { priority: 1 } }]);
      const seen = await host.read(id, outs);
      expect(seen.inputs.definition).toEqual(rule(1));
      await (await another()).delete(id, outs);
      expect(served.service.rules()).toEqual([]);
    },
  );

  test("adopt of a rule that is not there creates none", async () => {
    const { host, served } = await openHost();
    await expect(host.create({ definition: rule(1), adopt: "missing" })).rejects.toThrow(/RULE_NOT_FOUND/);
    expect(served.service.rules()).toEqual([]);
  });

  test("adopt says what the contract lacks for it", async () => {
    const { host, served } = await openHost({ version: 1 });
    await expect(host.create({ definition: rule(1), adopt: true })).rejects.toThrow(/operations\.list/);
    const existing = served.service.put(undefined, rule(1, { priority: 9 }));
    await expect(host.create({ definition: rule(1), adopt: existing })).rejects.toThrow(
      /differs at priority.*no update operation/s,
    );
    expect(await host.create({ definition: rule(1, { priority: 9 }), adopt: existing })).toMatchObject({
      id: existing,
    });
  });

  test("a create whose answer is lost says that the rule may exist, where the list cannot be read after it", async () => {
    const { host, served, another } = await openHost({ ...marking, idempotency: null, limits: { maxAttempts: 1 } });
    const inputs = resource("limit", { definition: rule(1) });
    served.service.faults.set([
      { kind: "close", at: "after", operations: ["create"] },
      { kind: "status", status: 500, operations: ["list"], request: 2 },
    ]);
    await expect(host.create(inputs)).rejects.toThrow(
      /create rule failed: .*the rule may exist; the list could not be read.*look at the service.*if it is not, run again \(RULE_OUTCOME_UNKNOWN/s,
    );
    served.service.faults.clear();
    const { id } = await (await another()).create(inputs);
    expect(served.service.rules()).toMatchObject([{ ruleId: id }]);
  });

  test("two resources with one natural key are one rule and one error", async () => {
    const { host, served } = await openHost();
    const results = await Promise.allSettled(
      ["one", "two"].map((name) => host.create(resource(name, { definition: rule(1) }))),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const winner = results[0]?.status === "fulfilled" ? "one" : "two";
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { message: expect.stringContaining(`managed by resource "shop/prod/${winner}" of this stack`) },
    });
    expect(served.service.rules()).toHaveLength(1);
  });

  test("a second resource that declares a rule of the stack is refused, whichever comes first", async () => {
    const { host, served, another } = await openHost();
    const [one, two] = [resource("one", { definition: rule(1) }), resource("two", { definition: rule(1) })];
    const { id, outs } = await host.create(one);
    const next = await another();
    expect(await next.diff(id, outs, one)).toMatchObject({ changes: "none" });
    await expect(next.create(two)).rejects.toThrow(/managed by resource "shop\/prod\/one" of this stack/);
    const third = await another();
    const refused = expect(third.create(two)).rejects.toThrow(/managed by resource "shop\/prod\/one" of this stack/);
    expect(await third.diff(id, outs, one)).toMatchObject({ changes: "none" });
    await refused;
    expect(served.service.rules()).toHaveLength(1);
    expect(served.service.requestCount("update")).toBe(0);
  });

  test("where rules have marks, the one of two that is asked about second is refused", async () => {
    const { host, served, another } = await openHost(marking);
    const [one, two] = [resource("one", { definition: rule(1) }), resource("two", { definition: rule(1) })];
    const { id, outs } = await host.create(one);
    const next = await another();
    expect((await next.create(two)).id).toBe(id);
    expect(next.stderr).toContain(`rule ${id} is taken over from "shop/prod/one"`);
    expect(await next.diff(id, outs, one)).toMatchObject({ changes: "some", replaces: [] });
    await expect(next.update(id, outs, one)).rejects.toThrow(
      new RegExp(`rule ${id} is managed by resource "shop/prod/two" of this stack as well.*declare the rule once`, "s"),
    );
    expect(served.service.rules()).toHaveLength(1);
  });

  test("a resource that is renamed keeps its rule where the rule has a mark: the old one does not delete it", async () => {
    const { host, served, another } = await openHost(marking);
    const old = await host.create(resource("old", { definition: rule(1) }));
    const next = await another();
    const inputs = resource("new", { definition: rule(1) });
    const renamed = await next.create(inputs);
    expect(renamed.id).toBe(old.id);
    await next.delete(old.id, old.outs);
    // By the mark of the old name a later run would delete it.
    expect(marksOf(served).map(withoutBits)).toEqual([markBy("shop/prod/new")]);
    expect(served.service.rules()).toMatchObject([{ ruleId: renamed.id, rule: rule(1) }]);
    const later = await another();
    expect(await later.diff(renamed.id, renamed.outs, inputs)).toMatchObject({ changes: "none" });
    await later.delete(old.id, old.outs);
    expect(served.service.rules()).toHaveLength(1);
    await (await another()).delete(renamed.id, renamed.outs);
    expect(served.service.rules()).toEqual([]);
  });

  test("an old name of a rule that has the mark of its new one goes away in a run of its own, without the rule", async () => {
    const { host, served, another } = await openHost(marking);
    const old = await host.create(resource("old", { definition: rule(1) }));
    await (await another()).create(resource("new", { definition: rule(1), adopt: old.id }));
    const last = await another();
    await last.delete(old.id, old.outs);
    expect(last.stderr).toContain('is managed by "shop/prod/new" now, as its mark says, and is not deleted');
    expect(marksOf(served).map(withoutBits)).toEqual([markBy("shop/prod/new")]);
  });

  test("a resource that is renamed is refused its rule where nothing tells whose it is, and an alias keeps it", async () => {
    const { host, served, another } = await openHost();
    const old = await host.create(resource("old", { definition: rule(1) }));
    const next = await another();
    const inputs = resource("new", { definition: rule(1) });
    served.service.resetRequests();
    await expect(next.create(inputs)).rejects.toThrow(/exists already.*only renamed or moved, give it an alias/s);
    // By an alias the engine knows that it is one resource, and asks what has changed.
    expect(await next.diff(old.id, old.outs, inputs)).toMatchObject({ changes: "none" });
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    expect(served.service.rules()).toHaveLength(1);
  });
});
