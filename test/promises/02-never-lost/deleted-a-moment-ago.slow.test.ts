import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, lagging, owner } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { isList } from "../../support/stack/front.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const [a, b] = [rule(1), rule(2)];

/** The list, and no read of one rule, stays as it is now, for 2.8 s from the call of what it gives; by the contract it may for 3 s. */
function freezeList({ shown, front }: Place): () => void {
  const rules = shown();
  return () => {
    const end = performance.now() + 2800;
    front.behave((request, pass) =>
      isList(request) && performance.now() < end ? { status: 200, body: { rules } } : pass(),
    );
  };
}

onBothEngines((engine) => {
  test("a rule that was deleted a moment ago and is declared again is there, though the list is behind as the contract says (marks)", async () => {
    const { place, stack } = await openStack(engine, { contract: contractOf({ ...lagging(3000), rule: { owner } }) });
    await stack.up({ all: { rules: { a, b } } });
    const freeze = freezeList(place);
    await stack.up({ all: { rules: { a } } });
    freeze();
    await stack.up({ all: { rules: { a, b } } });
    place.front.behave();
    await stack.isUnchanged();
    expect(place.names()).toEqual([a.name, b.name]);
  }, 60_000);

  test("the same without marks, with adopt: true", async () => {
    const { place, stack } = await openStack(engine, { contract: contractOf(lagging(3000)) });
    await stack.up({ all: { rules: { a, b }, adopt: true } });
    const freeze = freezeList(place);
    await stack.up({ all: { rules: { a }, adopt: true } });
    freeze();
    await stack.up({ all: { rules: { a, b }, adopt: true } });
    place.front.behave();
    await stack.isUnchanged();
    expect(place.names()).toEqual([a.name, b.name]);
  }, 60_000);
});
