import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, identifyBy } from "../../support/stack/contracts.ts";
import type { Declared } from "../../support/stack/engines.ts";
import { openPlace, type Place } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

/** Steps between the service's deeds and its answers. One that throws loses the answer. */
interface Between {
  /** The id that a create gets; the lowest free one where it says none. */
  idOfCreate?: () => Promise<number | undefined>;
  created?: (id: number) => Promise<void>;
  deleted?: (id: number) => Promise<void>;
  read?: (id: number, isFound: boolean) => Promise<void>;
}

interface Reusing {
  readonly place: Place;
  readonly rows: ReadonlyMap<number, JsonObject>;
  readonly between: Between;
}

/** A service that gives the ids of deleted rules again. */
async function openReusing(contract: ContractInput): Promise<Reusing> {
  const place = await openPlace({ contract });
  const rows = new Map<number, JsonObject>();
  const between: Between = {};
  const lowestFree = (): number => {
    let id = 1;
    while (rows.has(id)) id += 1;
    return id;
  };
  const shown = ([id, row]: readonly [number, JsonObject]): JsonObject => ({ id: String(id), ...row });
  place.front.behave(async ({ method, path, body }) => {
    const [at = "", query = ""] = path.split("?");
    if (method === "POST") {
      const id = (await between.idOfCreate?.()) ?? lowestFree();
      const row = isJsonObject(body) ? body : {};
      rows.set(id, row);
      await between.created?.(id);
      return { status: 201, body: shown([id, row]) };
    }
    if (method === "DELETE") {
      const id = Number([...new URLSearchParams(query).values()][0]);
      const status = rows.delete(id) ? 200 : 404;
      await between.deleted?.(id);
      return { status, body: {} };
    }
    if (at.endsWith("/rules")) return { status: 200, body: { rules: [...rows].map(shown) } };
    const id = Number(at.split("/").at(-1));
    const row = rows.get(id);
    await between.read?.(id, row !== undefined);
    return row === undefined ? { status: 404, body: {} } : { status: 200, body: shown([id, row]) };
  });
  return { place, rows, between };
}

/** Time for an answer to reach who waits for it. With less of it a test shows less, and does not fail. */
const answerMs = 100;
/** How long a delete's answer, or that of the read after it, is held for a create that may take its id. */
const heldMs = 1000;

/**
 * Creates get the ids of rules that are deleted already and are answered before the delete is, or the read after it. Two
 * at most are held at once, so that creates have a turn. Gives the ids that were taken so.
 */
function answerLate(what: "deletes" | "reads", between: Between): Set<number> {
  const held = new Map<number, () => void>();
  const taken = new Set<number>();
  // The first create goes alone, when no delete is under way.
  let isHeld = false;
  const hold = async (id: number): Promise<void> => {
    if (!isHeld || held.size >= 2) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set(id, resolve);
    await Promise.race([promise, sleep(heldMs)]);
    held.delete(id);
  };
  if (what === "deletes") between.deleted = hold;
  else between.read = async (id, isFound) => (isFound ? undefined : hold(id));
  between.idOfCreate = async () => {
    isHeld = true;
    const [first] = held;
    if (first === undefined) return undefined;
    const [id, answer] = first;
    held.delete(id);
    taken.add(id);
    sleep(answerMs).then(answer);
    return id;
  };
  return taken;
}

const numbers = Array.from({ length: 16 }, (_, k) => k + 1);
const rulesOf = (priority: number, those: readonly number[]): Record<string, JsonObject> =>
  Object.fromEntries(those.map((k) => [`r${k}`, rule(k, { priority })]));
const asSet = (priority: number): Declared => ({ all: { rules: rulesOf(priority, numbers) } });
const asRules = (priority: number): Declared =>
  Object.fromEntries(Object.entries(rulesOf(priority, numbers)).map(([key, definition]) => [key, { definition }]));

const shownBy = (rows: ReadonlyMap<number, JsonObject>): unknown[] =>
  [...rows.values()].map(({ name, priority }) => `${name} ${priority}`).toSorted();
const atPriority = (priority: number): string[] => numbers.map((k) => `rule-${k} ${priority}`).toSorted();

const limits = { concurrency: 4 };
const replacing = contractOf({ limits, operations: { update: null } });
const readingAfter = contractOf({ limits, operations: { update: null, delete: { identifyBy, readAfter: true } } });

test.each(
  variants([
    ["a set", asSet, 1],
    // An engine deletes them all before it makes the first again.
    ["resources", asRules, 0],
  ]),
)("a create may get the id of a rule whose delete is not answered yet (%s)", async (_, declared, least) => {
  const { place, rows, between } = await openReusing(replacing);
  const stack = await place.stack("local");
  await stack.up(declared(1));
  const taken = answerLate("deletes", between);
  await stack.up(declared(2));
  expect(taken.size).toBeGreaterThanOrEqual(least);
  expect(shownBy(rows)).toEqual(atPriority(2));
  await stack.isUnchanged({ refresh: true });
});

test("a delete that is read afterwards is not refuted by the rule that has its id now", async () => {
  const { place, rows, between } = await openReusing(readingAfter);
  const stack = await place.stack("local");
  await stack.up(asSet(1));
  const read = Promise.withResolvers<void>();
  const taken = answerLate("deletes", between);
  let given: number | undefined;
  between.created = async (id) => {
    if (taken.has(id)) given ??= id;
    if (given === id) await read.promise;
    await sleep(answerMs);
  };
  between.read = async (id) => {
    if (id === given) read.resolve();
  };
  await stack.up(asSet(2));
  expect(given).toBeDefined();
  expect(shownBy(rows)).toEqual(atPriority(2));
  await stack.isUnchanged({ refresh: true });
});

test("a read after a delete, answered after another rule got the id, makes that one no rule that is gone", async () => {
  const { place, rows, between } = await openReusing(readingAfter);
  const stack = await place.stack("local");
  await stack.up(asSet(1));
  const taken = answerLate("reads", between);
  await stack.up(asSet(2));
  expect(taken.size).toBeGreaterThan(0);
  expect(shownBy(rows)).toEqual(atPriority(2));
  await stack.isUnchanged({ refresh: true });
});

test("a first delete is not called without effect because another rule has its id now", async () => {
  const { place, rows, between } = await openReusing(contractOf());
  const stack = await place.stack("local");
  await stack.up({ all: { rules: rulesOf(1, [1, 2, 3]) } });
  const deleted = Promise.withResolvers<void>();
  between.deleted = async () => deleted.resolve();
  between.idOfCreate = async () => void (await deleted.promise);
  await stack.up({ all: { rules: rulesOf(1, [2, 3, 4]) } });
  expect([...rows.keys()].toSorted()).toEqual([1, 2, 3]);
  await stack.isUnchanged({ refresh: true });
});

test("a delete that is sent again after a lost answer, and takes the rule that has its id now, loses nothing", async () => {
  const { place, rows, between } = await openReusing(replacing);
  const stack = await place.stack("local");
  await stack.up(asSet(1));
  const taken = answerLate("deletes", between);
  const { deleted } = between;
  let lost: number | undefined;
  between.deleted = async (id) => {
    if (id === lost) return;
    await deleted?.(id);
    if (lost !== undefined || !taken.has(id)) return;
    lost = id;
    throw new Error("the answer is lost");
  };
  await stack.up(asSet(2));
  expect(lost).toBeDefined();
  expect(shownBy(rows)).toEqual(atPriority(2));
  await stack.isUnchanged({ refresh: true });
});
