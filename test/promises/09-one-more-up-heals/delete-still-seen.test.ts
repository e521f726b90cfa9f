import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, identifyBy } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const [a, b] = [rule(1), rule(2)];

/** The next DELETE is carried out, but until `honest` is called reads show all that was there before it. */
function showDeletedFor({ service, front }: Place): void {
  const before = service.rules().map(({ ruleId, rule: live }) => ({ id: ruleId, ...live }));
  front.behave(({ method, path }, pass) => {
    if (method !== "GET") return pass();
    const [asked = ""] = path.split("?");
    const one = before.find(({ id }) => asked.endsWith(`/${id}`));
    return { status: 200, body: one ?? { rules: before } };
  });
}

onBothEngines((engine) => {
  test("a delete that was answered with success while a read still shows the rule leaves a doubt: declared again, the rule is there (readAfter)", async () => {
    const contract = contractOf({ operations: { delete: { identifyBy, readAfter: true } } });
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ all: { rules: { a, b } } });
    showDeletedFor(place);
    await stack.upFails(
      { all: { rules: { a } } },
      {},
      /the service answered that the rule is deleted, but a read still finds it/,
    );
    place.front.behave();
    expect(place.names()).toEqual([a.name]);
    await stack.up({ all: { rules: { a, b } } });
    await stack.isUnchanged();
    expect(place.names()).toEqual([a.name, b.name]);
  });

  test("a first delete after which a read still finds the rule leaves the rule in the state of its set", async () => {
    const { place, stack } = await openStack(engine);
    await stack.up({ all: { rules: { a, b } } });
    // The service says yes and does nothing.
    place.front.behave(({ method }, pass) => (method === "DELETE" ? { status: 200, body: {} } : pass()));
    await stack.upFails({ all: { rules: { a } } }, {}, /by its answer the rule is deleted, but a read still finds it/);
    place.front.behave();
    // One more up heals: exactly what is declared.
    await stack.up({ all: { rules: { a } } });
    expect(place.names()).toEqual([a.name]);
  });
});
