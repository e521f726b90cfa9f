import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Form,
  lettersOf,
  type Merchant,
  type RunChoice,
  type RunResult,
  type StackModel,
  World,
} from "./world-model.ts";

const x = (priority: number) => ({ name: "x", priority }) as const;
const y = (priority: number) => ({ name: "y", priority }) as const;

/** A service of its own for one test, and the first of its two stacks. */
async function opened(letters: string, form: Form) {
  const world = await World.open(lettersOf(letters), form);
  onTestFinished(() => world.close());
  const [stack] = world.stacks;
  const run = (choice: Partial<RunChoice> & { by?: StackModel } = {}): Promise<RunResult> => {
    const { by = stack, verb = "up", token = by.home, words = {}, fault } = choice;
    const order = choice.order ?? { isReversed: false, second: "beside the first" };
    return world.run(by, { verb, token, words, order, fault });
  };
  const succeeds = async (choice?: Parameters<typeof run>[0]): Promise<RunResult> => {
    const result = await run(choice);
    expect(result.output, "a run that fails").not.toMatch(/What to do/);
    expect(result.isGood).toBe(true);
    return result;
  };
  const fails = async (choice: Parameters<typeof run>[0], ...says: RegExp[]): Promise<void> => {
    const result = await run(choice);
    expect(result.isGood).toBe(false);
    for (const each of says) expect(result.output).toMatch(each);
  };
  /** The rules of a merchant, without their marks. */
  const live = (merchant: Merchant = 0) =>
    world.rules().flatMap((rule) => {
      if (rule.merchant !== merchant) return [];
      const { metadata: _, ...definition } = rule.rule;
      return [{ ruleId: rule.ruleId, ...definition }];
    });
  return { world, stack, run, succeeds, fails, live };
}

describe("without a natural key", () => {
  test("a key of a set that was renamed can be given to another rule", async () => {
    const { stack, succeeds, live } = await opened("M--L", "set");
    stack.program = { B: x(1) };
    await succeeds();
    stack.program = { A: x(1) };
    await succeeds();
    stack.program = { A: x(1), B: y(0) };
    await succeeds();
    expect(live()).toEqual([
      { ruleId: "1", ...x(1) },
      { ruleId: "2", ...y(0) },
    ]);
    stack.program = { A: x(0) };
    await succeeds();
    expect(live()).toEqual([{ ruleId: "1", ...x(0) }]);
  });
});

describe.each<Form>(["rules", "set"])("a first run with another merchant's token, of %s", (form) => {
  test.each([
    ["MNIL", "with a change", 1],
    ["MNI-", "with a change", 1],
    ["-NIL", "with a change", 1],
    ["--I-", "with a change", 1],
    ["MNIL", "unchanged", 0],
    ["--I-", "unchanged", 0],
  ])(
    "is put right by the words that refusals name, and says what it leaves there: contract %s, %s",
    async (letters, _change, priority) => {
      const { stack, run, succeeds, fails, live } = await opened(letters, form);
      stack.program = { A: x(0) };
      await succeeds({ token: 1 });
      stack.program = { A: x(priority) };
      // An unchanged run asks nobody.
      await fails({ verb: priority === 0 ? "refresh" : "up" }, /"acme"/, /"globex"/, /--replace/);
      await fails({ words: { replace: true } }, /MERCHANT_RULES_MOVED=true/);
      // A set is made anew by the update itself, a rule after a refresh.
      const said = [await run({ words: { moved: true } }), await run({ verb: "refresh", words: { moved: true } })];
      await succeeds();
      expect(said.map(({ output }) => output).join("\n")).toMatch(/rule .*1\)? stays at the merchant of the last run/);
      expect(live(0)).toEqual([{ ruleId: "1", ...x(priority) }]);
      expect(live(1)).toEqual([{ ruleId: "1", ...x(0) }]);
      await succeeds({ verb: "destroy" });
      expect(live(0)).toEqual([]);
      expect(live(1)).toHaveLength(1);
    },
  );
});

describe.each<Form>(["rules", "set"])("a stack that goes to another merchant without identity, of %s", (form) => {
  test.each(["MN-L", "----"])(
    "names every rule that the word `moved` takes out of its state: contract %s",
    async (letters) => {
      const { stack, succeeds, fails, live } = await opened(letters, form);
      stack.program = { A: x(0), B: y(0) };
      await succeeds();
      stack.home = 1;
      stack.program = { A: x(1) };
      await fails({}, /MERCHANT_RULES_MOVED=true/);
      const refreshed = await succeeds({ verb: "refresh", words: { moved: true } });
      expect(refreshed.output).toMatch(/rule .*1\)? (is not here|was not there) and counts as (gone|deleted)/);
      expect(refreshed.output).toMatch(/rule .*2\)? (is not here|was not there) and counts as (gone|deleted)/);
      await succeeds();
      expect(live(0)).toHaveLength(2);
      expect(live(1)).toEqual([{ ruleId: "1", ...x(1) }]);
    },
  );

  test("names a rule that is removed from the program in that run", async () => {
    const { stack, succeeds, live } = await opened("MN-L", form);
    stack.program = { A: x(0) };
    await succeeds();
    stack.home = 1;
    stack.program = {};
    expect((await succeeds({ words: { moved: true } })).output).toMatch(
      /rule .*1\)? (is not here|was not there) and counts as (gone|deleted)/,
    );
    expect(live(0)).toHaveLength(1);
  });
});

test("a rule that another resource of the stack takes over by a word and changes is passed on, where there are no marks", async () => {
  const { world, stack, succeeds, fails, live } = await opened("-N-L", "rules");
  stack.program = { B: x(0) };
  await succeeds();
  stack.program = { A: x(1) };
  await fails({}, /adopt: "1"/);
  await succeeds({ words: { adoptIds: { A: "1" } } });
  expect(live()).toEqual([{ ruleId: "1", ...x(1) }]);
  expect(world.idOf(stack, "A")).toBe("1");
  expect(world.idOf(stack, "B")).toBeUndefined();
});

test("a rule that is not as the state knows it is not said to lack a mark where the contract has none", async () => {
  const { world, stack, run } = await opened("-N-L", "rules");
  stack.program = { A: x(0) };
  await run();
  for (const { ruleId } of world.rules()) world.put(0, ruleId, x(2));
  stack.program = { A: x(1) };
  const { output } = await run();
  expect(output).toMatch(/differs from what the state knows/);
  expect(output).not.toMatch(/mark/);
});
