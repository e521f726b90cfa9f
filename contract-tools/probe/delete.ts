import type { IdentifyBy } from "../../sdk/contract/index.ts";
import {
  isJsonObject,
  type Json,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
} from "../../sdk/json/index.ts";
import { type DeleteWay, namesRule, placesBy, wordsOf } from "./known.ts";
import type { Probing } from "./probing.ts";
import { named, type Own, type Sight, type View } from "./sandbox.ts";
import { Stopped } from "./stopped.ts";
import type { Planned, SeenResponse } from "./wire.ts";

/** A way to delete that took one rule away, and nothing else. */
export interface Proven {
  readonly planned: Planned;
  readonly place: IdentifyBy;
  /** How a deleted rule is still shown, where it is. */
  readonly gone: Gone | undefined;
}

/** A field by which a deleted rule that is still shown says so. */
interface Gone {
  readonly at: Pointer;
  readonly is: string | number | boolean;
}

/**
 * Finds how a delete names its rule: by path first, in a query or a body last, and there only with two own rules and
 * nothing else that may not go. What answers success and takes nothing away is no way.
 * @throws Stopped: more went than should
 */
export async function probeDelete(probing: Probing): Promise<Proven | undefined> {
  const { plan, sandbox, findings, told, say } = probing;
  const idName = segmentsOf(findings.pointersAt("/rule/id")[0] ?? "").at(-1) ?? "id";
  const tried: string[] = [];
  const { baseUrl } = told.connection;
  for (const way of plan.deletes) {
    const isCollection = !namesRule(way.planned);
    const notTried = `${wordsOf(way.planned)} was not tried, because`;
    for (const place of placesBy(way, idName)) {
      const [target, other] = sandbox.present;
      if (isCollection && told.mayEmpty !== true && (await sandbox.countOthers()) !== 0) {
        tried.push(
          `${notTried} its path does not name the rule, and rules are there that the probe did not make: it is tried where they are gone, or with --may-empty ${baseUrl}, if every rule there may go`,
        );
        break;
      }
      if (target === undefined || (isCollection && other === undefined)) {
        tried.push(`${notTried} it takes ${isCollection ? "two rules" : "a rule"} of the probe, and they are gone`);
        break;
      }
      const { proven, said } = await tryDelete(probing, way, place, target);
      if (proven === undefined) {
        tried.push(said);
        continue;
      }
      report(probing, proven, said);
      for (const left of plan.deletes.slice(plan.deletes.indexOf(way) + 1))
        say(`${wordsOf(left.planned)} is not tried, because a way to delete is proven`);
      return proven;
    }
  }
  if (plan.leftOutDelete !== undefined)
    tried.push(
      `${wordsOf({ operation: plan.leftOutDelete })} of the contract was not tried, because --create gives another path than the contract's: it is tried with --delete`,
    );
  findings.gap("/operations/delete/identifyBy", tried.length === 0 ? "no way to delete was given" : tried.join("; "));
  return undefined;
}

/** Deletes an own rule by a proven way. @throws Stopped: it is still there, or more went */
export async function deleteOwn(probing: Probing, { planned, place, gone }: Proven, own: Own): Promise<void> {
  const { result, after } = await probing.sandbox.attempt(`delete rule ${named(own)}`, [own], () =>
    send(probing, planned, place, own),
  );
  const settled = await probing.sandbox.settle(after, (view) => isGone(probing, view, own, gone));
  if (!settled.isShown) {
    // What took the first rule away may have been a request before it, which took effect late.
    probing.findings.retract("/operations/delete", "what was found of it did not work a second time");
    throw new Stopped(`${result.said}, but rule ${named(own)} is still there`, probing.sandbox.longerWait);
  }
  own.isGone = true;
}

async function tryDelete(
  probing: Probing,
  { planned }: DeleteWay,
  place: IdentifyBy,
  own: Own,
): Promise<{ proven: Proven | undefined; said: string }> {
  const { sandbox, say } = probing;
  say(`deleting rule ${named(own)} by ${wayOf(planned, place)}`);
  const before = (await sandbox.look()).own.get(own);
  const { result, after } = await sandbox.attempt(`a delete by ${wayOf(planned, place)}`, [own], () =>
    send(probing, planned, place, own),
  );
  if (!result.isSuccess) {
    if (after.own.get(own)?.is === "there")
      return { proven: undefined, said: `${result.said}, and the rule is still there` };
    throw new Stopped(
      `${result.said}, but the rule ${named(own)} is not there any more`,
      "look at the service's own log",
    );
  }
  const settled = await sandbox.settle(after, (view) => isGone(probing, view, own, undefined));
  const sight = settled.view.own.get(own);
  const gone = settled.isShown ? undefined : goneBy(probing, before, sight);
  if (!settled.isShown && gone === undefined) {
    const said = `${result.said}, but the rule is still there (${sight?.said ?? "not shown"})`;
    if (sight?.is === "there") return { proven: undefined, said };
    throw new Stopped(said, "look at the service's own log: it cannot be told whether the rule is gone");
  }
  own.isGone = true;
  return { proven: { planned, place, gone }, said: `${result.said}, and then ${sight?.said ?? "the rule is gone"}` };
}

async function send({ wire }: Probing, planned: Planned, place: IdentifyBy, { ruleId }: Own): Promise<SeenResponse> {
  return await wire.send(planned, { ruleId, place });
}

function isGone({ sandbox }: Probing, view: View, own: Own, gone: Gone | undefined): boolean {
  const sight = view.own.get(own);
  if (sight === undefined || sight.is === "gone") return true;
  const rule = sandbox.ruleIn(sight);
  return gone !== undefined && rule !== undefined && valueAt(rule, gone.at) === gone.is;
}

/** Returns the field that marks a rule that is still shown as deleted: the one word or boolean that the delete changed. */
function goneBy({ sandbox }: Probing, before: Sight | undefined, after: Sight | undefined): Gone | undefined {
  const was = before === undefined ? undefined : sandbox.ruleIn(before);
  const is = after === undefined ? undefined : sandbox.ruleIn(after);
  if (was === undefined || is === undefined) return undefined;
  const changed: Gone[] = [];
  const step = (value: Json, path: Path): void => {
    const at = pointerOf(path);
    if (isWord(value)) {
      if (valueAt(was, at) !== value) changed.push({ at, is: value });
    } else if (isJsonObject(value)) for (const [name, inner] of Object.entries(value)) step(inner, [...path, name]);
  };
  step(is, []);
  const [only] = changed;
  return changed.length === 1 ? only : undefined;
}

function isWord(value: Json): value is string | boolean {
  return typeof value === "boolean" || (typeof value === "string" && !/\d{4}-\d\d-\d\d/.test(value));
}

function report({ findings, told }: Probing, { planned, place, gone }: Proven, said: string): void {
  const { operation } = planned;
  const status = Number(/→ (\d+)/.exec(said)?.[1] ?? 200);
  findings.fact("/operations/delete/method", operation.method, said);
  findings.fact("/operations/delete/path", operation.path, said);
  if (Object.keys(operation.query).length > 0) findings.fact("/operations/delete/query", { ...operation.query }, said);
  findings.fact("/operations/delete/identifyBy", { ...place }, `${said}; the other rules are as they were`);
  findings.fact("/operations/delete/success", [status], said);
  if (gone !== undefined)
    findings.fact("/rule/gone", [{ at: gone.at, is: [gone.is] }], `${said}: the rule is still shown`);
  else if (told.connection.contract.rule.gone.length === 0)
    findings.fact("/rule/gone", [], `${said}: a deleted rule is not shown any more`);
}

function wayOf(planned: Planned, place: IdentifyBy): string {
  return wordsOf(planned) + (place.in === "path" ? "" : `, with the id in the ${place.in} as ${place.name}`);
}
