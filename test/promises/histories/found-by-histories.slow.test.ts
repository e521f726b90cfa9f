import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Form,
  lettersOf,
  type Merchant,
  type RunChoice,
  type RunResult,
  type StackModel,
  type Words,
  World,
} from "./world-model.ts";

const x = (priority: number) => ({ name: "x", priority }) as const;
const y = (priority: number) => ({ name: "y", priority }) as const;

/** The word `moved` for the case that a refusal names. */
function movedIn({ output }: RunResult): Words {
  return { moved: /MERCHANT_RULES_MOVED=([0-9a-f]{4})/.exec(output)?.[1] ?? "" };
}

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
  const fails = async (choice: Parameters<typeof run>[0], ...says: RegExp[]): Promise<RunResult> => {
    const result = await run(choice);
    expect(result.isGood).toBe(false);
    for (const each of says) expect(result.output).toMatch(each);
    return result;
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
    "is put right by the word that the refusal names, and says what it leaves there: contract %s, %s",
    async (letters, _change, priority) => {
      const { stack, succeeds, fails, live } = await opened(letters, form);
      stack.program = { A: x(0) };
      await succeeds({ token: 1 });
      stack.program = { A: x(priority) };
      const words = movedIn(await fails({}, /"acme", another merchant/));
      expect((await succeeds({ words })).output).toMatch(/rule .*1\)? stays at the merchant of the last run/);
      await succeeds();
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
    "names every rule that the word `moved` takes out of its state, also one that is removed from the program: contract %s",
    async (letters) => {
      const { stack, succeeds, fails, live } = await opened(letters, form);
      stack.program = { A: x(0), B: y(0) };
      await succeeds();
      stack.home = 1;
      stack.program = { A: x(1) };
      const words = movedIn(await fails({}));
      const { output } = await succeeds({ words });
      for (const id of ["1", "2"])
        expect(output).toMatch(new RegExp(`rule .*${id}\\)? stays at the merchant of the last run`));
      await succeeds();
      expect(live(0)).toHaveLength(2);
      expect(live(1)).toEqual([{ ruleId: "1", ...x(1) }]);
    },
  );
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
