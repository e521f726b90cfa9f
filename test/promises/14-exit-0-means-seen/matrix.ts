import { isDeepStrictEqual } from "node:util";
import PQueue from "p-queue";
import type { FaultInput } from "../../../local/service/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list, owner } from "../../support/stack/contracts.ts";
import { openWorld, type World } from "../../support/stack/hooks.ts";
import { type Ended, ModelStack } from "../../support/stack/model-stack.ts";
import type { ServeOptions } from "../../support/stack/service.ts";

type Operation = "create" | "update" | "delete";
const own = ["a", "b", "c", "d"] as const;
const shapes = ["set", "four rules"] as const;
const companies = ["alone", "beside a second writer"] as const;

interface Spoken extends ServeOptions {
  readonly contract: ContractInput;
  /** Faults that last as long as the run does. */
  readonly always?: FaultInput;
}

const pages = { type: "cursor", limit: "limit", cursor: "after", next: "/nextCursor" } as const;
const offset = { type: "offset", limit: "limit" } as const;
const contracts: Readonly<Record<string, Spoken>> = {
  "a list": { contract: contractOf() },
  "a list of pages": {
    contract: contractOf({ operations: { list: { ...list, pagination: pages } }, limits: { pageSize: 3 } }),
  },
  "a list of pages by offset": {
    contract: contractOf({ operations: { list: { ...list, pagination: offset } }, limits: { pageSize: 3 } }),
  },
  "a list with marks": { contract: contractOf({ rule: { owner } }) },
  "a list that lags": {
    contract: contractOf({ operations: { list: { ...list, lagMs: 60 } } }),
    always: { kind: "stale-list", lagMs: 40 },
  },
  "responses with the id alone": { contract: contractOf(), answers: "id" },
  "ids of the client": {
    contract: contractOf({
      operations: { create: { identifyBy: { in: "body", name: "id" }, idFormat: "rule-{hex}" } },
    }),
  },
  "no list": {
    contract: contractOf({ operations: { list: null, get: { lagMs: 20 } }, rule: { naturalKey: null } }),
  },
};

type Answer = NonNullable<Extract<FaultInput, { kind: "write-nothing" }>["answer"]>;
type Lie = Extract<FaultInput, { answer?: Answer | undefined }>;
const each = (lie: Lie, ...answers: Answer[]): Lie[] => answers.map((answer) => ({ ...lie, answer }));
const other = { kind: "store-otherwise", at: "/priority", value: 999 } as const;
const lies: Readonly<Record<Operation, readonly FaultInput[]>> = {
  create: [
    ...each({ kind: "write-nothing" }, "usual", "echo", "empty-object", "error"),
    ...each({ kind: "create-twice" }, "usual", "id"),
    ...each({ kind: "drop-fields", at: "/priority" }, "usual", "echo"),
    ...each(other, "usual", "id", "empty"),
  ],
  update: [
    ...each({ kind: "write-nothing" }, "usual", "id", "echo", "error"),
    { kind: "write-others" },
    { kind: "write-others", others: "all" },
    ...each({ kind: "drop-fields", at: "/conditions" }, "usual", "echo"),
    ...each(other, "usual", "echo"),
  ],
  delete: [
    ...each({ kind: "write-nothing" }, "usual", "empty", "error"),
    { kind: "write-others" },
    { kind: "write-others", others: "all" },
    { kind: "delete-all" },
  ],
};

export interface Cell {
  readonly name: string;
  readonly operation: Operation;
  readonly spoken: Spoken;
  readonly shape: (typeof shapes)[number];
  readonly isAlone: boolean;
  /** Undefined: the service tells the truth. */
  readonly lie: FaultInput | undefined;
}

/** All cells, or the one of each `step`. */
export function cells(step = 1): Cell[] {
  const all = Object.entries(contracts).flatMap(([contract, spoken]) =>
    Object.entries(lies).flatMap(([operation, kinds]) =>
      shapes.flatMap((shape) =>
        companies.flatMap((company) =>
          [undefined, ...kinds.flatMap((lie) => [1, 2, 3].map((request) => ({ ...lie, request })))].map((lie) => ({
            name: [contract, operation, shape, company, lie === undefined ? "no lie" : JSON.stringify(lie)].join(", "),
            operation: operation as Operation,
            spoken,
            shape,
            isAlone: company === "alone",
            lie,
          })),
        ),
      ),
    ),
  );
  return all.filter(({ spoken: { always }, lie }, at) => at % step === 0 && !(always && lie?.kind === "write-nothing"));
}

/**
 * What came of a cell. well: it ended well, and all is as it has to be. said: it failed, and a later run healed it. believed: it
 * ended well, and something is not as it has to be. stopped for nothing: it failed, and the service told the truth.
 */
const endings = ["well", "said", "believed", "stopped for nothing", "named no rule", "not healed"] as const;
type Ending = (typeof endings)[number];

interface Result {
  readonly cell: Cell;
  readonly ending: Ending;
  /** What is not as it has to be, and what was said. */
  readonly why?: string;
}

/** Runs cells side by side and prints their counts. Returns those that are not as they have to be. */
export async function runCells(all: readonly Cell[], size: "whole" | "bounded"): Promise<string[]> {
  const queue = new PQueue({ concurrency: 12 });
  const results = await queue.addAll(all.map((cell) => () => runCell(cell)));
  const count = (wanted: Ending): string => `${results.filter(({ ending }) => ending === wanted).length} ${wanted}`;
  console.log(`Lies (${size}): ${all.length} cells, ${endings.map(count).join(", ")}`);
  return results.flatMap(({ cell, ending, why }) => (why === undefined ? [] : [`${ending}: ${cell.name}\n${why}`]));
}

const byHand = { h1: rule(91), h2: rule(92) };
const changedByHand = { priority: 7 };

/** Runs one cell in a service and a stack of its own. */
async function runCell(cell: Cell): Promise<Result> {
  const { operation, spoken, shape, isAlone, lie } = cell;
  const { always, ...options } = spoken;
  // Without a list only rules that the state knows can be judged, so that they are the oldest.
  const hasList = spoken.contract.operations?.list !== null;
  let isRunning = false;
  let writes = 0;
  const onRequest = (request: { operation: unknown }): void => {
    if (!isRunning || isAlone || request.operation !== operation) return;
    writes += 1;
    if (writes === 1 && world.names().includes("rule-92")) world.edit("rule-92", changedByHand);
    if (writes === 2) world.service.put(undefined, rule(93));
  };
  const world = await openWorld({ ...options, onRequest });
  const { service } = world;
  const stack = new ModelStack(world);
  const result = (ending: Ending, why?: string): Result => ({ cell, ending, ...(why === undefined ? {} : { why }) });
  try {
    const putHand = (): void => Object.values(byHand).forEach((each) => void service.put(undefined, each));
    if (hasList) putHand();
    const before = declared(operation === "create" ? [] : own, 0);
    const after = declared(operation === "delete" ? [] : own, operation === "update" ? 50 : 0);
    const seeded = await stack.up(resources(before, shape));
    if (seeded.failures.length > 0) return result("stopped for nothing", seeded.text);
    if (!hasList) putHand();
    service.faults.set([lie ?? [], always ?? []].flat());
    isRunning = true;
    const ended = await stack.up(resources(after, shape));
    isRunning = false;
    const isHit = service.faults.injected.some(({ fault }) => fault.kind === lie?.kind);
    const hand = [
      byHand.h1,
      writes > 0 ? { ...byHand.h2, ...changedByHand } : byHand.h2,
      ...(writes > 1 ? [rule(93)] : []),
    ];
    const wrong = notAs({ world, stack, spoken }, after, hand);
    if (ended.failures.length === 0)
      return wrong.length === 0 ? result("well") : result("believed", [...wrong, ended.text].join("\n"));
    if (!isHit) return result("stopped for nothing", ended.text);
    if (!nameRules(ended, world)) return result("named no rule", ended.text);
    service.faults.clear();
    const left = await healed({ world, stack, spoken }, after, shape, ended);
    return left.length === 0 ? result("said") : result("not healed", [...left, "first:", ended.text].join("\n"));
  } finally {
    await world.close();
  }
}

interface Seen {
  readonly world: World;
  readonly stack: ModelStack;
  readonly spoken: Spoken;
}

/** Finds what is not as it has to be: without a list, of the rules that the state knows alone. */
function notAs(
  { world, stack, spoken }: Seen,
  after: Record<string, JsonObject>,
  hand: readonly JsonObject[],
): string[] {
  const live = world.service.rules().map(({ ruleId, rule: { metadata: _, id: __, ...each } }) => ({ ruleId, each }));
  const ids = Object.entries(stack.ids()).map(([name, id]) => [name.split(".").at(-1), id] as const);
  const wrong = Object.entries(after).flatMap(([key, definition]) => {
    const ruleId = ids.find(([name]) => name === key)?.[1];
    const found = live.find((rule) => rule.ruleId === ruleId)?.each;
    return isDeepStrictEqual(found, definition) ? [] : [`${key} is ${JSON.stringify(found)}`];
  });
  const deleted = own.flatMap((key, at) => (key in after ? [] : [`rule-${at + 1}`]));
  const left = live.filter(({ each }) => deleted.includes(String(each.name)));
  wrong.push(...left.map(({ each }) => `${each.name} is there`));
  if (spoken.contract.operations?.list === null) return wrong;
  const expected = [...Object.values(after), ...hand].map(({ name }) => String(name)).sort();
  const names = live.map(({ each }) => String(each.name)).sort();
  if (!isDeepStrictEqual(names, expected)) wrong.push(`there are ${names}`);
  for (const each of hand)
    if (!live.some((rule) => isDeepStrictEqual(rule.each, each))) wrong.push(`${each.name} by hand is not as it was`);
  return wrong;
}

/** True where a message names a rule, by its id or its key, or a path of it. Of a resource of one rule the engine says the name. */
function nameRules({ failures }: Ended, { service }: World): boolean {
  const ids = service.rules().map(({ ruleId }) => ruleId);
  const words = /^ +[abcdz]: |\brule [\w-]{8,}|\bpriority\b|\bconditions\b|the rule may exist/m;
  return failures.some((text) => ids.some((id) => text.includes(id)) || words.test(text));
}

/** Does what the messages say, and then twice at most `up --refresh`. Returns what is not as declared. */
async function healed(
  { world, stack, spoken }: Seen,
  after: Record<string, JsonObject>,
  shape: Cell["shape"],
  said: Ended,
): Promise<string[]> {
  const ofHand = world.service
    .rules()
    .filter(({ rule: { name } }) => String(name).startsWith("rule-9") && name !== "rule-9");
  let text = said.text;
  for (let turn = 1; turn <= 2; turn += 1) {
    const known = new Set(Object.values(stack.ids()));
    for (const { ruleId } of world.service.rules())
      if (!known.has(ruleId) && !ofHand.some((each) => each.ruleId === ruleId))
        if (text.includes(ruleId) || /may exist/.test(text)) world.service.remove(ruleId);
    const ended = await stack.refreshedUp(resources(after, shape));
    text = ended.text;
    if (ended.failures.length > 0) continue;
    return notAs(
      { world, stack, spoken },
      after,
      ofHand.map((each) => each.rule),
    );
  }
  return [text];
}

function declared(keys: readonly string[], more: number): Record<string, JsonObject> {
  const rules = keys.map((key, at) => [key, rule(at + 1, { priority: at + 1 + more })] as const);
  return Object.fromEntries([...rules, ["z", rule(9)] as const]);
}

function resources(rules: Record<string, JsonObject>, shape: Cell["shape"]): Record<string, JsonObject> {
  if (shape === "set") return { all: { rules } };
  return Object.fromEntries(Object.entries(rules).map(([key, definition]) => [key, { definition }]));
}
