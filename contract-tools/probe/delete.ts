import type { IdentifyBy } from "../../sdk/contract/index.ts";
import { valueAt } from "../../sdk/json/index.ts";
import { deletePlaces, type Gone, namesRule, type Probing, type Proven, wordsOf } from "./known.ts";
import { isWord, valuesIn } from "./response-parts.ts";
import { named, type Own, type Shown, type Sight, type View } from "./sandbox.ts";
import { type Planned, Stopped } from "./wire.ts";

/**
 * Finds how a delete names its rule: by path first, in a query or a body last, and there only with two own rules and
 * nothing else that may not go. What answers success and takes nothing away is no way.
 * @throws Stopped: more went than should
 */
export async function probeDelete(probing: Probing): Promise<void> {
  const { plan, sandbox, findings, told, say } = probing;
  const tried: string[] = [];
  const { baseUrl } = told.connection;
  for (const way of plan.deletes) {
    const isCollection = !namesRule(way);
    const notTried = `${wordsOf(way)} was not tried, because`;
    for (const place of deletePlaces(way, told, findings.idName)) {
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
        say(`${wordsOf(left)} is not tried, because a way to delete is proven`);
      probing.proven = proven;
      return;
    }
  }
  if (plan.leftOutDelete !== undefined)
    tried.push(
      `${wordsOf({ operation: plan.leftOutDelete })} of the contract was not tried, because --create gives another path than the contract's: it is tried with --delete`,
    );
  findings.gap("/operations/delete/identifyBy", tried.length === 0 ? "no way to delete was given" : tried.join("; "));
}

/** Deletes an own rule by the proven way. @throws Stopped: it is still there, or more went */
export async function deleteOwn(probing: Probing, own: Own): Promise<void> {
  const { sandbox, wire, findings, proven } = probing;
  if (proven === undefined) throw new Error("unreachable: no way to delete is proven");
  const { planned, place, gone } = proven;
  const { result, after } = await sandbox.attempt(`delete rule ${named(own)}`, [own], () =>
    wire.send(planned, { ruleId: own.ruleId, place }),
  );
  const settled = await sandbox.settle(after, shownGone(probing, own, gone));
  if (!settled.isShown) {
    // What took the first rule away may have been a request before it, which took effect late.
    findings.retract("/operations/delete", "what was found of it did not work a second time");
    throw new Stopped(`${result.said}, but rule ${named(own)} is still there`, sandbox.longerWait);
  }
  own.isGone = true;
}

async function tryDelete(
  probing: Probing,
  planned: Planned,
  place: IdentifyBy,
  own: Own,
): Promise<{ proven: Proven | undefined; said: string }> {
  const { sandbox, wire, say } = probing;
  say(`deleting rule ${named(own)} by ${wayOf(planned, place)}`);
  const before = (await sandbox.look()).own.get(own);
  const { result, after } = await sandbox.attempt(`a delete by ${wayOf(planned, place)}`, [own], () =>
    wire.send(planned, { ruleId: own.ruleId, place }),
  );
  if (!result.isSuccess) {
    if (after.own.get(own)?.is === "there")
      return { proven: undefined, said: `${result.said}, and the rule is still there` };
    throw new Stopped(
      `${result.said}, but the rule ${named(own)} is not there any more`,
      "look at the service's own log",
    );
  }
  const settled = await sandbox.settle(after, shownGone(probing, own, undefined));
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

function shownGone({ sandbox }: Probing, own: Own, gone: Gone | undefined): Shown {
  const isSeen = (isGone: (sight: Sight) => boolean) => (view: View) => {
    const sight = view.own.get(own);
    if (sight === undefined || isGone(sight)) return true;
    const rule = sandbox.ruleIn(sight);
    return gone !== undefined && rule !== undefined && valueAt(rule, gone.at) === gone.is;
  };
  return { list: isSeen(({ isListed }) => !isListed), get: isSeen(({ isAbsent }) => isAbsent) };
}

/** Returns the field that marks a rule that is still shown as deleted: the one word or boolean that the delete changed. */
function goneBy({ sandbox }: Probing, before: Sight | undefined, after: Sight | undefined): Gone | undefined {
  const [was, is] = [sandbox.ruleIn(before), sandbox.ruleIn(after)];
  if (was === undefined || is === undefined) return undefined;
  const [only, ...more] = valuesIn(is, isWord).filter(({ at, value }) => valueAt(was, at) !== value);
  return only === undefined || more.length > 0 ? undefined : { at: only.at, is: only.value };
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
