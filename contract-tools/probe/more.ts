import { randomUUID } from "node:crypto";
import { markText, namesOf } from "../../provider/merchant/mark.ts";
import {
  isJsonArray,
  type Json,
  type JsonObject,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
  withFieldAt,
} from "../../sdk/json/index.ts";
import { create, idIn, meaningOf, register, type SentCreate } from "./create.ts";
import { deleteOwn } from "./delete.ts";
import { defaultMarkAt, type Probing } from "./known.ts";
import { fingerprint } from "./response-parts.ts";
import type { Own } from "./sandbox.ts";
import { erasesWords } from "./update.ts";
import type { SeenResponse } from "./wire.ts";

/** A create of which nobody knows yet whether it makes a rule. */
interface Tried {
  readonly seen: SeenResponse;
  /** The rule that it made; undefined where it was refused, or showed one that was there. */
  readonly made: Own | undefined;
  /** The rule as it is shown. */
  readonly shown: JsonObject | undefined;
}

/**
 * Finds out by further rules, each of which is deleted at once, whether names are unique, whether a create may be sent
 * twice, who sets the fields that the service adds, where a mark stays, and whether the client may choose ids.
 * @param added fields that the service added to the first rule, with their values
 * @throws Stopped
 */
export async function probeMore(probing: Probing, added: JsonObject): Promise<void> {
  await probeUnique(probing);
  await probeIdempotency(probing);
  await probeAdded(probing, added);
  await probeMark(probing);
  await probeChosenIds(probing);
}

/** Sends one more create, and deletes the rule that it made. */
async function tryCreate(probing: Probing, sent: SentCreate): Promise<Tried> {
  const tried = await sendCreate(probing, sent);
  if (tried.made !== undefined) await deleteOwn(probing, tried.made);
  return tried;
}

async function sendCreate(probing: Probing, sent: SentCreate): Promise<Tried> {
  const { sandbox } = probing;
  const { result, after } = await sandbox.attempt("make one more rule", [], async () => {
    const seen = await create(probing, sent);
    const id = seen.isSuccess ? idIn(probing, seen) : undefined;
    const isThere = id !== undefined && sandbox.present.some(({ ruleId }) => ruleId === id);
    if (isThere || !seen.isSuccess) {
      sandbox.asked = undefined;
      return { seen, made: undefined };
    }
    return { seen, made: register(probing, seen, { definition: sent.definition ?? {}, name: sent.name }) };
  });
  if (result.made === undefined) return { ...result, shown: undefined };
  const { view } = await sandbox.settle(after, sandbox.made(result.made));
  return { ...result, shown: sandbox.ruleIn(view.own.get(result.made)) };
}

async function probeUnique(probing: Probing): Promise<void> {
  const { names, sandbox, findings } = probing;
  const [there] = sandbox.present;
  const gap = (why: string): void => findings.gap("/rule/naturalKey", why);
  if (names.at === undefined || there === undefined)
    return gap("the definition has no name that could be given twice; say where with --name-at");
  const { seen, made } = await tryCreate(probing, { definition: there.definition, name: there.name });
  if (made !== undefined) return gap(`${seen.said}: a second rule by the same name at ${names.at} was made`);
  findings.fact("/rule/naturalKey", names.at, `${seen.said}: a second rule by the same name was not made`);
  const success = findings.valueAt("/operations/create/success");
  const isSuccess = Array.isArray(success) && success.includes(seen.status);
  if (isSuccess) findings.gap("/errors/exists", `${seen.said}: the rule that is there, by the status of a new one`);
  else findings.fact("/errors/exists", [meaningOf(seen)], `${seen.said}, to a name that is taken`);
}

async function probeIdempotency(probing: Probing): Promise<void> {
  const { names, findings, told } = probing;
  const header = told.connection.contract.idempotency?.header ?? "Idempotency-Key";
  const sent = { ...names.next(), headers: [header, randomUUID()] };
  const first = await sendCreate(probing, sent);
  if (first.made === undefined) return findings.gap("/idempotency", `${first.seen.said}, to a create with ${header}`);
  const second = await sendCreate(probing, sent);
  for (const own of [second.made, first.made]) if (own !== undefined) await deleteOwn(probing, own);
  const isReplayed =
    second.seen.isSuccess && second.made === undefined && idIn(probing, second.seen) === first.made.ruleId;
  if (isReplayed)
    findings.fact("/idempotency", { header }, `${second.seen.said}, twice with one key: one rule was made`);
  else
    findings.gap(
      "/idempotency",
      `${second.seen.said} to the second of two creates with one key in ${header}: it is not looked at`,
    );
}

/** Tells the defaults among the fields that the service adds, of which another value is kept, from the service's own. */
async function probeAdded(probing: Probing, added: JsonObject): Promise<void> {
  const { names, findings, told } = probing;
  const version = findings.pointersAt("/rule/readOnly");
  const notTried: Pointer[] = [];
  const notKept: Pointer[] = [];
  const defaults: { at: Pointer; default: Json }[] = [];
  for (const [index, [name, value]] of Object.entries(added).entries()) {
    const at = pointerOf([name]);
    if (version.includes(at)) continue;
    const other = index < mostAdded ? anotherOf(value) : undefined;
    if (other === undefined) {
      notTried.push(at);
      continue;
    }
    const next = names.next();
    const { shown } = await tryCreate(probing, { ...next, definition: { ...next.definition, [name]: other } });
    if (shown?.[name] === other) defaults.push({ at, default: value });
    else notKept.push(at);
  }
  const words = [
    "shown, and not sent",
    ...(notKept.length === 0 ? [] : [`another value of ${notKept.join(", ")} is refused or not kept`]),
    ...(notTried.length === 0 ? [] : [`another value of ${notTried.join(", ")} was not tried`]),
  ];
  const all = [...new Set([...notKept, ...notTried, ...version])];
  findings.fact("/rule/readOnly", all, all.length === 0 ? "the service adds no field of its own" : words.join("; "));
  if (defaults.length === 0) return;
  const forms = findings.valueAt("/rule/forms");
  const known: Json = JSON.parse(JSON.stringify(told.connection.contract.rule.forms));
  const before = isJsonArray(forms) ? forms : isJsonArray(known) ? known : [];
  findings.fact(
    "/rule/forms",
    [...before, ...defaults],
    "shown with this value where it is not sent; another value is kept",
  );
}

const mostAdded = 8;

/** Returns another value of the same kind; undefined for an object, and for a string that may be an id. */
function anotherOf(value: Json): Json | undefined {
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return /^\d{4}-\d\d-\d\dT/.test(value) ? "2001-02-03T04:05:06.000Z" : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) && Math.abs(value) < 1000 ? value + 1 : undefined;
}

async function probeMark(probing: Probing): Promise<void> {
  const { names, findings, told } = probing;
  const at = told.connection.contract.rule.owner?.at ?? told.markAt ?? defaultMarkAt;
  const next = names.next();
  const gap = (why: string): void => findings.gap("/rule/owner", why);
  if (valueAt(next.definition, at) !== undefined)
    return gap(`the definition has ${at} already; say another place with --mark-at`);
  const mark = markText({ ...sampleMark, names: namesOf("project/stack/A resource", "k".repeat(35)) }).padEnd(200, "x");
  const definition = withFieldAt(next.definition, at, mark);
  const { seen, made, shown } = await tryCreate(probing, { ...next, definition });
  if (made === undefined) return gap(`${seen.said}: the service does not take a text at ${at}`);
  const kept = valueAt(shown, at);
  const form = typeof kept === "string" ? `kept in another form (${kept.length} characters of 200)` : "not kept";
  if (kept !== mark) return gap(`${seen.said}: a text at ${at} is ${form}`);
  const isErased = findings.facts.some(
    (fact) => fact.at === "/operations/update/body" && fact.source.includes(erasesWords),
  );
  const stays = `${seen.said}: a text of 200 characters stays there as it is`;
  findings.fact("/rule/owner", { at }, isErased ? `${stays}; ${byHandWords}` : stays);
}

/** What decides in a mark, of nobody's stack. */
const sampleMark = { ownerId: "0123456789abcdef".repeat(2), resource: "0123456789abcdef", bits: "0123456789abcdef" };

/** What a mark is worth where an update erases what is not sent. */
const byHandWords =
  "but an update erases what is not sent: whoever changes a rule by hand without this field erases the mark, and where no rule of a stack has its mark any more, only credentials that have not changed, or ids that no other merchant has, show a run that this is the right merchant; auth.identity is the better witness";

async function probeChosenIds(probing: Probing): Promise<void> {
  const { names, findings, told, sandbox } = probing;
  const { identifyBy, bodyAt } = told.connection.contract.operations.create;
  if (identifyBy !== null) return;
  const gap = (why: string): void => findings.gap("/operations/create/identifyBy", why);
  const [at = ""] = findings.pointersAt("/rule/id");
  const [name, ...further] = segmentsOf(at);
  if (name === undefined || further.length > 0 || bodyAt !== "")
    return gap("an id that is not a field of the rule itself was not tried");
  const ruleId = randomUUID();
  const place = { in: "body" as const, name };
  const first = await sendCreate(probing, { ...names.next(), ruleId, place });
  if (first.made === undefined) return gap(`${first.seen.said}, to a create with an id in the body as ${name}`);
  if (first.made.ruleId !== ruleId) {
    await deleteOwn(probing, first.made);
    return gap(`${first.seen.said}: the id in the body as ${name} was not taken`);
  }
  const second = await sendCreate(probing, { ...names.next(), ruleId, place });
  await deleteOwn(probing, first.made);
  if (second.seen.isSuccess || sandbox.present.some((own) => own.ruleId === ruleId))
    return gap(`${second.seen.said}: an id that is taken is not refused`);
  findings.fact(
    "/operations/create/identifyBy",
    place,
    `${first.seen.said}: the id was taken; and ${second.seen.said} to the same id again`,
  );
  const meaning = meaningOf(second.seen);
  const exists = findings.valueAt("/errors/exists");
  const before: readonly Json[] = Array.isArray(exists) ? exists : [];
  if (!before.some((each) => fingerprint(each) === fingerprint(meaning)))
    findings.fact("/errors/exists", [...before, meaning], `${second.seen.said}, to an id that is taken`);
}
