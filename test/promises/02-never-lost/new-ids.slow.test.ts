import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";
import {
  contracts,
  forgetting,
  foundAfterKill,
  foundAfterLostAnswer,
  idOfLive,
  live,
  loseUpdate,
  named,
  operations,
  priorities,
  shapes,
} from "./new-ids.ts";

onBothEngines((engine) => {
  describe.each(shapes)("%s", (shape, declared) => {
    test.each(named)("follow their rules to the ids that updates give them, %s", async (_kind, contract) => {
      const { place, stack } = await openStack(engine, { contract });
      await stack.up(declared(1));
      const first = place.idOf("rule-1");
      await stack.up(declared(7));
      const second = idOfLive(place, "rule-1");
      expect(second).not.toBe(first);
      expect(priorities(place)).toEqual([2, 7]);
      expect(stack.knownIds()).toContain(second);
      expect(stack.knownIds()).not.toContain(first);
      place.writes();
      await stack.isUnchanged();
      // A set's own id is no rule's.
      const idAtEngine = (): string => stack.known().a ?? second;
      expect(idAtEngine()).toBe(shape === "a set" ? second : first);
      await stack.succeeds("refresh");
      expect(idAtEngine()).toBe(second);
      await stack.isUnchanged();
      await stack.up(declared(8));
      expect(priorities(place)).toEqual([2, 8]);
      place.service.put(idOfLive(place, "rule-1"), { ...rule(1, { priority: 99 }), ...markOfLive(place) });
      await stack.succeeds("up", { refresh: true });
      expect(priorities(place)).toEqual([2, 8]);
      await stack.succeeds("destroy");
      expect(live(place)).toEqual([]);
    });
  });
});

/** The mark of the first rule, which an edit by hand leaves. */
function markOfLive({ service }: Place): object {
  const { metadata } = service.rules().find(({ rule: each }) => each.name === "rule-1")?.rule ?? {};
  return metadata === undefined ? {} : { metadata };
}

describe.each(shapes)("%s, of which an update", (_, declared) => {
  test.each(named)("loses its answer, are found again in the same run, %s", (_kind, contract) =>
    foundAfterLostAnswer(contract, declared),
  );

  test.each(named)("was killed after its write, are found again by the next run, %s", (_kind, contract) =>
    foundAfterKill(contract, declared),
  );

  test.each(named)("was killed, leave nothing behind that nobody was told of, %s", async (kind, contract) => {
    const { place, stack } = await openStack("local", { contract });
    await stack.up(declared(1));
    await forgetting(stack, () => stack.up(declared(7)));
    const id = idOfLive(place, "rule-1");
    const { output } = await stack.succeeds("destroy");
    if (kind === "by natural keys") expect(output).toMatch(new RegExp(`is no longer there, and rule ${id} has its`));
    else expect(live(place)).toEqual([]);
  });

  test("was killed, are seen by a refresh under their new ids, with marks", async () => {
    const { place, stack } = await openStack("local", { contract: contracts["with marks and dead rows"] });
    await stack.up(declared(1));
    await forgetting(stack, () => stack.up(declared(7)));
    stack.declare(declared(8));
    await stack.succeeds("up", { refresh: true });
    expect(priorities(place)).toEqual([2, 8]);
  });

  test("loses its answer, without a list: are never made twice, and each way that is advised goes on", async () => {
    for (const fate of ["done", "not done", "gone"] as const) {
      const contract = contractOf({ operations: { ...operations, list: null } });
      const { place, stack } = await openStack("local", { contract });
      await stack.up(declared(1));
      loseUpdate(place, fate !== "not done");
      await stack.upFails(declared(7), {}, /the rule may exist by another id/, /run again/);
      if (fate === "gone") place.service.remove(idOfLive(place, "rule-1"));
      if (fate === "not done") await stack.up(declared(7));
      else {
        const said = /no longer there.*another id.*add adopt.*`pulumi up --refresh`, which makes it again/s;
        await stack.upFails(declared(7), {}, said);
        await stack.fails("up", {}, said);
        const id = idOfLive(place, "rule-1");
        if (fate === "gone") await stack.succeeds("up", { refresh: true });
        else await stack.up(adopting(declared(7), id));
      }
      expect(priorities(place)).toEqual([2, 7]);
      await stack.up(declared(7));
      expect(priorities(place)).toEqual([2, 7]);
    }
  });
});

/** The first rule with the word that takes it over. */
function adopting({ a, b, all }: Declared, id: string): Declared {
  if (all !== undefined && "rules" in all) return { all: { ...all, adopt: { a: id } } };
  return {
    ...(a !== undefined && "definition" in a ? { a: { ...a, adopt: id } } : {}),
    ...(b === undefined ? {} : { b }),
  };
}
