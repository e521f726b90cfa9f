import { expect } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, owner } from "../../support/stack/contracts.ts";
import type { Declared, Stack } from "../../support/stack/engines.ts";
import { openStack, type Place, unmarked } from "../../support/stack/place.ts";

export const path = "/api/v1/merchants/rules/{ruleId}";
export const operations = { update: { path, method: "POST", id: "new" } } as const;
const gone = [{ at: "/status", is: ["deleted"] }];
export const contracts = {
  "with marks and dead rows": contractOf({ operations, rule: { owner, gone } }),
  "by natural keys": contractOf({ operations }),
};
export const named = Object.entries(contracts);
export const forms = {
  "single rules": (first: number): Declared => ({
    a: { definition: rule(1, { priority: first }) },
    b: { definition: rule(2) },
  }),
  "a set": (first: number): Declared => ({ all: { rules: { a: rule(1, { priority: first }), b: rule(2) } } }),
};
export const shapes = Object.entries(forms);
/** The rules that are in force, without marks, oldest first. */
export const live = ({ service }: Place) =>
  unmarked(service.rules())
    .filter(({ rule: each }) => each.status === undefined)
    .map(({ rule: each }) => each);
export const priorities = (place: Place): unknown[] =>
  live(place)
    .map((each) => each.priority)
    .toSorted();
export const idOfLive = (place: Place, name: string): string =>
  place.service.rules().find(({ rule: each }) => each.name === name && each.status === undefined)?.ruleId ?? "";

/** Takes the answer of the next update away, after it was carried out, or the request itself. */
export function loseUpdate({ front }: Place, isDone = true): void {
  let isLost = false;
  front.behave(async ({ method, path: at }, pass) => {
    if (isLost || method !== "POST" || !/\/rules\/./.test(at)) return pass();
    isLost = true;
    if (isDone) await pass();
    throw new Error("the answer is lost");
  });
}

/** A run that knows nothing of its update, as after a kill: the state is as before it. */
export async function forgetting(stack: Stack, run: () => Promise<unknown>): Promise<void> {
  const before = stack.project.state();
  await run();
  stack.project.restore(before);
}

/** Rules of which an update loses its answer are found again in the same run. */
export async function foundAfterLostAnswer(
  contract: ContractInput,
  declared: (first: number) => Declared,
): Promise<void> {
  const { place, stack } = await openStack("local", { contract });
  await stack.up(declared(1));
  loseUpdate(place);
  await stack.up(declared(7));
  expect(priorities(place)).toEqual([2, 7]);
  expect(stack.knownIds()).toContain(idOfLive(place, "rule-1"));
  place.writes();
  await stack.isUnchanged();
  await stack.up(declared(8));
  expect(place.writes()).toHaveLength(1);
  expect(priorities(place)).toEqual([2, 8]);
}

/** Rules of which an update was killed after its write are found again by the next run. */
export async function foundAfterKill(contract: ContractInput, declared: (first: number) => Declared): Promise<void> {
  const { place, stack } = await openStack("local", { contract });
  await stack.up(declared(1));
  await forgetting(stack, () => stack.up(declared(7)));
  await stack.up(declared(7));
  expect(priorities(place)).toEqual([2, 7]);
  expect(stack.knownIds()).toContain(idOfLive(place, "rule-1"));
  await stack.isUnchanged();
}
