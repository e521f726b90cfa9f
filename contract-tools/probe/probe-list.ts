import { idPointers } from "../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import {
  fieldsLackingIn,
  isJsonArray,
  isJsonObject,
  type Pointer,
  pathOf,
  pointerOf,
  segmentsOf,
  withoutValueAt,
} from "../../sdk/json/index.ts";
import type { Made } from "./create.ts";
import { leftoverWords, namesRule, type Probing, wordsOf } from "./known.ts";
import { idInItems, type ListReader, MoreThanOnePage, type Row, unreadable } from "./list-reader.ts";
import { probePages } from "./pages.ts";
import { leavesOf, placeOf, type Rows } from "./response-parts.ts";
import { Stopped } from "./wire.ts";

/**
 * Reads the list before anything is made. Where every rule may go, a list that cannot be read is left out.
 * @throws Stopped: it cannot be read to its end, or rules are there, and nobody said that they may be
 */
export async function demandReadyPlace(probing: Probing): Promise<void> {
  const { told, sandbox, findings } = probing;
  try {
    await demandReadyList(probing);
  } catch (error) {
    if (told.mayEmpty !== true || sandbox.list === undefined || !(error instanceof Stopped)) throw error;
    findings.gap("/operations/list", error.message);
    sandbox.list = undefined;
  }
}

async function demandReadyList(probing: Probing): Promise<void> {
  const { told, sandbox } = probing;
  const { list } = sandbox;
  if (list === undefined) {
    if (told.mayEmpty === true) return;
    throw new Stopped(
      "there is no list by which it could be seen what is there",
      `name the list with --list "GET /path"; or, if every rule at the address may go, say --may-empty ${told.connection.baseUrl}`,
    );
  }
  await probeShape(probing, list);
  const count = (await sandbox.look()).others?.length ?? 0;
  if (count > 0 && told.allowExisting !== true && told.mayEmpty !== true)
    throw new Stopped(
      `${count} ${count === 1 ? "rule is" : "rules are"} there already`,
      adviceOnOthers(probing, count, (await sandbox.look()).rows),
    );
  const [one, other] = [await sandbox.look(), await sandbox.look()];
  if (one.others?.join() === other.others?.join()) return;
  throw new Stopped(
    "two readings of the list, one after the other, differ: somebody else works here, or rules change by themselves",
    "probe a sandbox in which nobody else works",
  );
}

/** Advises on rules that are there already: an earlier probe may have left them, they may go, or they are to stay. */
function adviceOnOthers({ told, plan, names }: Probing, count: number, rows: readonly Row[]): string {
  const known = new Set(told.leftover);
  const made = rows.flatMap(({ ruleId, rule }) =>
    ruleId !== undefined && !known.has(ruleId) && names.areIn(rule) ? [ruleId] : [],
  );
  if (made.length === count && count <= mostNamed)
    return `if an earlier probe left ${count === 1 ? "it" : "them"} there, run it again with ${leftoverWords([...known, ...made])}: it counts and deletes ${count === 1 ? "it" : "them"} as its own`;
  const notTried = plan.deletes.filter((way) => !namesRule(way)).map(wordsOf);
  const cost =
    notTried.length === 0
      ? ""
      : `; then ${notTried.join(" and ")} is not tried, because its path does not name the rule`;
  return `probe a sandbox without rules; or, if every rule at the address may go, say --may-empty ${told.connection.baseUrl}; or say --allow-existing, and they are counted and compared before and after each try${cost}`;
}

const mostNamed = 20;

/** Learns how the list is read, as far as its rules tell. Where there are several, how it comes in pages. */
async function probeShape(probing: Probing, list: ListReader): Promise<void> {
  if (await tryKnownPages(probing, list)) return;
  const filled = (await firstArrays(list)).filter(({ items }) => items.length > 0);
  const [rows] = filled;
  if (rows === undefined) return;
  if (filled.length > 1)
    throw unreadable(`rules could stand at ${filled.map(({ at }) => at || "its root").join(" and ")}`);
  const id = idInItems(rows.items, idPointers(probing.told.connection.contract.rule));
  if (id === undefined) throw unreadable("its items have nothing that could be an id");
  list.shape = { items: rows.at, envelope: "", id: [id], pagination: { type: "none", complete: false } };
  if (rows.items.length > 1) await probePages(probing, list);
}

async function firstArrays(list: ListReader): Promise<Rows[]> {
  const first = await list.page();
  try {
    return list.arrays(first);
  } catch (error) {
    // There are several pages. How they are asked for is found out next.
    if (error instanceof MoreThanOnePage) return list.arraysOfPage(first);
    throw error;
  }
}

/** Reads the list in the pages that the contract describes. @returns whether that works */
async function tryKnownPages({ told }: Probing, list: ListReader): Promise<boolean> {
  const { operations, rule } = told.connection.contract;
  if (operations.list === null || operations.list.pagination.type === "none") return false;
  const { items, envelope, pagination } = operations.list;
  const id = idPointers(rule);
  list.shape = { items, envelope: "", id: [...id.map((at) => envelope + at), ...id], pagination };
  try {
    await list.rows();
    return true;
  } catch (error) {
    if (!(error instanceof Stopped) && !(isMerchantRulesError(error) && error.code === "RESPONSE_INVALID")) throw error;
    list.shape = undefined;
    return false;
  }
}

/**
 * Finds where the list has its rules, and where each item has its definition and id: by the item of a new rule.
 * @throws Stopped: the list does not have it, or not its id
 */
export function findItems({ findings }: Probing, list: ListReader, { own, row }: Made): void {
  if (row === undefined)
    throw new Stopped(
      `the list does not have the rule that was just made (id ${own.ruleId}), after some seconds`,
      "check the path of the list; or leave the list out and say --may-empty with the address, if every rule there may go",
    );
  const { items, rule } = row;
  const source = `${list.said}: has the rule that was made`;
  const known = findings.pointersAt("/rule/id");
  const at = leavesOf(rule)
    .filter(({ value }) => String(value) === own.ruleId)
    .sort((one, other) => rank(one.at, known) - rank(other.at, known))[0]?.at;
  if (at === undefined)
    throw new Stopped(
      `${list.said}: has the rule without its id ${own.ruleId}`,
      "leave out this list: no contract can describe it",
    );
  const envelope = placeOf(rule, own.definition) ?? pointerOf(segmentsOf(at).slice(0, -1));
  const within = at.startsWith(`${envelope}/`) ? at.slice(envelope.length) : at;
  const { pagination = { type: "none" as const, complete: false } } = list.shape ?? {};
  list.shape = { items, envelope, id: [within], pagination };
  findings.fact("/operations/list/items", items, source);
  findings.fact("/operations/list/envelope", envelope, source);
  findings.fact("/operations/list/success", [list.status], source);
  const empty = list.emptyAt(items);
  if (empty !== undefined) findings.fact("/operations/list/empty", [empty.is], `${empty.said}: without rules`);
  const found = findings.valueAt("/rule/id");
  const all = isJsonArray(found) ? found : [];
  if (!known.includes(within)) findings.fact("/rule/id", [...all, within], `${source}, with its id at ${within}`);
}

/** Reads whether the items of the list lack fields that a GET shows. */
export async function probeSummaries({ findings, sandbox }: Probing, list: ListReader, { own }: Made): Promise<void> {
  const view = await sandbox.look();
  const listed = view.rows.find(({ ruleId }) => ruleId === own.ruleId)?.rule;
  const live = sandbox.ruleIn(view.own.get(own));
  if (listed === undefined || live === undefined || !isJsonObject(listed)) return;
  const whole = findings.pointersAt("/rule/id").reduce(withoutValueAt, live);
  const lacking = fieldsLackingIn(listed, whole).flatMap(({ path, value }) => (value === null ? [] : pathOf(path)));
  const what =
    lacking.length === 0 ? "has all that a GET shows" : `lacks ${lacking.slice(0, 5).join(", ")} of what a GET shows`;
  findings.fact("/operations/list/summaries", lacking.length > 0, `${list.said}: ${what}`);
}

/** Returns 0 for a pointer whose last segment a known pointer has too, else 1: the same name as elsewhere comes first. */
function rank(at: Pointer, known: readonly Pointer[]): number {
  return known.some((each) => segmentsOf(each).at(-1) === segmentsOf(at).at(-1)) ? 0 : 1;
}
