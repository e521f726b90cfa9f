import { randomBytes } from "node:crypto";
import { parseBaseUrl } from "../../sdk/client/connection.ts";
import { withoutDriven } from "../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import type { Fact } from "../draft.ts";
import { makeAnother, makeFirst } from "./create.ts";
import { deleteOwn, probeDelete } from "./delete.ts";
import { probeFields } from "./fields.ts";
import { Findings, type Unmeasured } from "./findings.ts";
import { leftoverWords, namesRule, type Probing, planOf, type Told } from "./known.ts";
import { ListReader, type Row } from "./list-reader.ts";
import { probeMore } from "./more.ts";
import { Names, nameAt } from "./names.ts";
import { probePages } from "./pages.ts";
import { demandReadyPlace, findItems, probeSummaries } from "./probe-list.ts";
import { named, type Own, Sandbox } from "./sandbox.ts";
import { tryContract } from "./try-contract.ts";
import { probeUpdate } from "./update.ts";
import { Stopped, Wire } from "./wire.ts";

/** The result of a probe. */
export interface Probed {
  readonly facts: readonly Fact[];
  readonly gaps: readonly Unmeasured[];
  /** Why it ended before its end, and what to do. */
  readonly stopped: { readonly reason: string; readonly advice: string | undefined } | undefined;
  /** The rules that it made and could not delete, in words. */
  readonly left: readonly string[];
  /** What to do about them. */
  readonly leftAdvice: string | undefined;
  /** Number of requests that were sent. */
  readonly requests: number;
}

export interface ProbeOptions {
  /** Called with what comes next and with each finding. */
  readonly say?: (line: string) => void;
  /** Called with each request and its status. */
  readonly sent?: (line: string) => void;
  /** How long the service may take to show what was written, in milliseconds. Default: 3000. */
  readonly waitMs?: number;
  /** Ends the probe before its next try. */
  readonly signal?: AbortSignal;
}

/**
 * Probes a service: makes rules of a definition, looks at the effect of each request, and deletes them. It never throws
 * for what the service does: then it stops, cleans up by a way that is proven, and says what is left.
 * @throws MerchantRulesError SETTINGS_INVALID
 */
export async function probe(
  given: Told,
  { say = () => {}, sent, signal, waitMs = 3000 }: ProbeOptions = {},
): Promise<Probed> {
  const { contract, baseUrl } = given.connection;
  // As a create of the product, it does not send what requests of their own change.
  const told = { ...given, definition: withoutDriven(given.definition, contract) };
  const plan = planOf(told);
  const wire = new Wire(told.connection, plan.all, sent);
  const { origin } = parseBaseUrl(baseUrl, "baseUrl");
  const list = plan.list === undefined ? undefined : new ListReader(wire, plan.list, contract, origin);
  const names = new Names(
    told.definition,
    nameAt(told.definition, told.nameAt ?? contract.rule.naturalKey),
    randomBytes(3).toString("hex"),
  );
  const isLeftover = ({ ruleId, rule }: Row): boolean =>
    ruleId !== undefined && told.leftover?.includes(ruleId) === true && names.areIn(rule);
  const sandbox = new Sandbox(wire, { list, get: plan.get, signal, waitMs, isLeftover });
  const findings = new Findings(say);
  const probing: Probing = { told, plan, wire, sandbox, findings, names, say, proven: undefined };
  let stopped: Probed["stopped"];
  try {
    await steps(probing);
  } catch (error) {
    stopped = stopOf(error);
  }
  sandbox.signal = undefined;
  const left = await cleanUp(probing);
  const leftAdvice = left.length === 0 ? undefined : await adviceOnLeft(probing, stopped !== undefined);
  await wire.close();
  return { facts: findings.facts, gaps: findings.gaps, stopped, left, leftAdvice, requests: wire.count };
}

async function steps(probing: Probing): Promise<void> {
  const { sandbox, say } = probing;
  await demandReadyPlace(probing);
  const { list } = sandbox;
  say("making a rule");
  const first = await makeFirst(probing);
  if (list !== undefined) {
    findItems(probing, list, first);
    await probeSummaries(probing, list, first);
  }
  await makeAnother(probing);
  if (list !== undefined && list.shape?.pagination.type === "none") {
    say("looking for the pages of the list");
    await probePages(probing, list);
  }
  const added = await probeFields(probing, first);
  await probeUpdate(probing);
  await probeDelete(probing);
  if (probing.proven === undefined) return;
  await probeMore(probing, added);
  findLags(probing);
  await tryContract(probing);
}

/** Notes the longest times after which the list and a GET showed a write. */
function findLags({ sandbox, findings, plan }: Probing): void {
  const lags = [
    { by: "list", name: "the list", isRead: sandbox.list !== undefined },
    { by: "get", name: "a GET", isRead: plan.get !== undefined },
  ] as const;
  for (const { by, name, isRead } of lags) {
    const { length } = sandbox.lagsMs[by];
    const lagMs = Math.max(...sandbox.lagsMs[by]);
    if (!isRead || length === 0) continue;
    const source =
      lagMs === 0
        ? `each of ${length} writes was seen by ${name} right after it`
        : `of ${length} writes, one was seen by ${name} ${lagMs} ms after it; twice that, in whole seconds`;
    findings.fact(`/operations/${by}/lagMs`, Math.ceil((2 * lagMs) / 1000) * 1000, source);
  }
}

/** Deletes what was made, by a way that is proven. @returns what is left, in words */
async function cleanUp(probing: Probing): Promise<string[]> {
  const { asked } = probing.sandbox;
  const left = [...(await takeLeftovers(probing)), ...(await deletePresent(probing))];
  if (asked === undefined) return left;
  const name =
    asked.name === undefined ? "a rule like the definition" : `a rule by the name ${JSON.stringify(asked.name)}`;
  return [...left, `${name} may be there: the answer to its create does not say`];
}

/** Takes rules of an earlier probe for its own from now on, where they look so. @returns those that do not, in words */
async function takeLeftovers({ told, sandbox, names }: Probing): Promise<string[]> {
  const strange: string[] = [];
  for (const ruleId of new Set(told.leftover)) {
    const own: Own = { ruleId, definition: told.definition, name: undefined, isGone: false };
    try {
      const shown = await sandbox.shown(ruleId);
      if (shown === undefined) continue;
      if (names.areIn(shown)) sandbox.own.push(own);
      else strange.push(`rule ${named(own)}: it is not deleted, because its name is none that a probe gives`);
    } catch (error) {
      strange.push(`rule ${named(own)} may be there: ${stopOf(error).reason}`);
    }
  }
  return strange;
}

async function deletePresent(probing: Probing): Promise<string[]> {
  const { sandbox, say, proven } = probing;
  const { present } = sandbox;
  if (present.length === 0) return [];
  if (proven === undefined) {
    await noteGone(probing);
    return sandbox.present.map((own) => `rule ${named(own)}: no way to delete it is proven`);
  }
  say(`deleting ${present.length === 1 ? "the rule" : `the ${present.length} rules`} that the probe made`);
  for (const own of present) {
    try {
      await deleteOwn(probing, own);
    } catch (error) {
      // One that goes wrong may go wrong for all: nothing more is deleted.
      const { reason } = stopOf(error);
      return sandbox.present.map((each) => `rule ${named(each)}${each === own ? `: ${reason}` : ""}`);
    }
  }
  return [];
}

/** Advises the user on rules that are left. */
async function adviceOnLeft({ sandbox, told, plan, proven }: Probing, isStopped: boolean): Promise<string> {
  const ids = sandbox.present.map(({ ruleId }) => ruleId);
  const here = "delete it at the service";
  if (ids.length === 0) return `look for it, and ${here}`;
  const again = `it counts and deletes ${ids.length === 1 ? "that rule" : "those rules"} as its own with ${leftoverWords(ids)}`;
  if (isStopped || proven !== undefined) return `run it again, and ${again}; or ${here}`;
  if (told.mayEmpty !== true && plan.deletes.some((way) => !namesRule(way)) && (await readAnyOthers(sandbox)))
    return `if every rule at the address may go, run it again with --may-empty ${told.connection.baseUrl}, and ${again}; or ${here}`;
  return `look up how a delete names its rule, and run it again with that as --delete "DELETE /path/{ruleId}" or --delete-by query:NAME, and ${again}; or ${here}`;
}

/** Reads whether rules are there that the probe did not make; false where that cannot be read. */
async function readAnyOthers(sandbox: Sandbox): Promise<boolean> {
  try {
    return (await sandbox.countOthers()) !== 0;
  } catch (error) {
    // The list that cannot be read has stopped the probe, and its reason is said.
    stopOf(error);
    return false;
  }
}

/** Notes which own rules went by a try that took more than it should. */
async function noteGone({ sandbox }: Probing): Promise<void> {
  try {
    for (const [own, sight] of (await sandbox.look()).own) own.isGone = sight.is === "gone";
  } catch (error) {
    // What cannot be seen may be there, and is named.
    stopOf(error);
  }
}

function stopOf(error: unknown): { reason: string; advice: string | undefined } {
  if (error instanceof Stopped) return { reason: error.message, advice: error.advice };
  if (isMerchantRulesError(error)) return { reason: error.with({ advice: undefined }).message, advice: error.advice };
  throw error;
}
