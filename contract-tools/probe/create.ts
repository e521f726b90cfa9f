import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ruleIdInHeaders } from "../../sdk/client/response.ts";
import { type Contract, idPointers } from "../../sdk/contract/index.ts";
import {
  defined,
  isJsonObject,
  type Json,
  type JsonObject,
  pointerOf,
  segmentsOf,
  valueAt,
} from "../../sdk/json/index.ts";
import { UnusableResponse } from "../../sdk/unusable-response.ts";
import type { Probing } from "./known.ts";
import type { Row } from "./list-reader.ts";
import {
  failureShape,
  fingerprint,
  idsIn,
  isWord,
  type Leaf,
  leavesOf,
  placeOf,
  shows,
  valuesIn,
} from "./response-parts.ts";
import { type Named, named, type Own, type View } from "./sandbox.ts";
import { type SeenResponse, type Sent, Stopped } from "./wire.ts";

/** The values of a create, and the name in its definition. */
export type SentCreate = Sent & { readonly name?: string | undefined };

/** A rule that was made, and what the service showed of it. */
export interface Made {
  readonly own: Own;
  /** Its item in the list. */
  readonly row: Row | undefined;
}

/**
 * Makes the first rule, and finds its id: the value of the response by which a GET shows the rule, or where there is no
 * GET, the one that its item of the list has.
 * @throws Stopped: the service refuses the definition; the response is no rule; the rule is not there afterwards
 */
export async function makeFirst(probing: Probing): Promise<Made> {
  const { sandbox, findings, names, plan } = probing;
  const next = names.next();
  const { definition } = next;
  const { result } = await sandbox.attempt("make a rule", [], async () => {
    const before = await sandbox.look();
    const response = await create(probing, next);
    demandMade(probing, response);
    const row = await newRow(probing, before, next);
    const { leaf, shown } = await idOf(probing, response, row, next);
    const own = sandbox.add(String(leaf.value), next);
    if (shown !== undefined) sandbox.envelope = placeOf(shown.json, definition) ?? "";
    return { own, response, row, leaf, shown };
  });
  const { response, leaf, shown, own, row } = result;
  const { envelope } = sandbox;
  const within = leaf.at.startsWith(`${envelope}/`) ? leaf.at.slice(envelope.length) : leaf.at;
  findings.fact("/operations/create/success", [response.status], response.said);
  if (shown !== undefined) {
    findings.fact("/operations/get/success", [shown.status], shown.said);
    findings.fact(
      "/rule/envelope",
      envelope,
      `${shown.said}: the answer has the definition at ${envelope || "its root"}`,
    );
  } else if (plan.get === undefined) {
    findings.fact("/rule/envelope", placeOf(response.json, definition) ?? "", response.said);
  }
  findings.fact(
    "/rule/id",
    leaf.at === location ? [inLocation] : [within],
    `${response.said}: what stands at ${leaf.at} ${shown === undefined ? "is in the list, too" : "names the rule in a GET"}`,
  );
  await probeAbsence(probing, own, shown?.json);
  sandbox.idIn = (json) => idIn(probing, { json });
  return { own, row };
}

/** Makes one more rule, in a guarded try. @throws Stopped: it is refused, or not there afterwards */
export async function makeAnother(probing: Probing): Promise<void> {
  const { sandbox, names } = probing;
  const next = names.next();
  const { result, after } = await sandbox.attempt("make another rule", [], async () => {
    const response = await create(probing, next);
    demandMade(probing, response);
    return { response, own: register(probing, response, next) };
  });
  const { own, response } = result;
  const sight = await sandbox.settle(after, sandbox.made(own));
  if (!sight.isShown)
    throw new Stopped(
      `the service answered success (${response.said}), but rule ${named(own)} is not there: ${sight.view.own.get(own)?.said ?? "it is not shown"}`,
      "look at the service's own log; a rule that is made later than in some seconds cannot be probed",
    );
}

/** Notes a rule by the id in the response to its create. @throws Stopped: the response has none */
export function register(probing: Probing, response: SeenResponse, made: Named): Own {
  const id = idIn(probing, response);
  if (id === undefined)
    throw new Stopped(
      `${response.said}: this answer has no id where the one before had it`,
      "look for the rule at the service and remove it",
    );
  return probing.sandbox.add(id, made);
}

/** Sends a create. Whether a rule was made is not known until it is noted, or the create is refused. */
export async function create(
  { wire, plan, sandbox, told }: Probing,
  { name, ...sent }: SentCreate,
): Promise<SeenResponse> {
  const { identifyBy, idFormat } = told.connection.contract.operations.create;
  const chosen = identifyBy === null || sent.ruleId !== undefined ? {} : { ruleId: newId(idFormat), place: identifyBy };
  sandbox.asked = { name };
  const response = await wire.send(plan.create, { ...chosen, ...sent });
  if (!response.isSuccess) sandbox.asked = undefined;
  return response;
}

/** Makes an id of the contract's form, `rule-{uuid}`: `{uuid}` and `{hex}` are random. */
export function newId(format: string): string {
  return format.replace("{uuid}", () => randomUUID()).replace("{hex}", () => randomUUID().replaceAll("-", ""));
}

/** Returns the id in a response, at the place where the first response had it. */
export function idIn(
  { findings, sandbox }: Probing,
  { json, headers }: Pick<SeenResponse, "json"> & Partial<Pick<SeenResponse, "headers">>,
): string | undefined {
  for (const at of findings.pointersAt("/rule/id")) {
    const id = valueAt(json, sandbox.envelope + at) ?? valueAt(json, at);
    if (typeof id === "string" || typeof id === "number") return String(id);
  }
  return headers === undefined ? undefined : idInLocation({ headers });
}

const location = "Location";
const inLocation = { header: location, segment: "last" } as const;

/** Returns the id to which the header Location of a response leads; undefined where there is none. */
function idInLocation(response: Pick<SeenResponse, "headers">): string | undefined {
  try {
    return ruleIdInHeaders(response, { id: [inLocation] });
  } catch (error) {
    if (error instanceof UnusableResponse) return undefined;
    throw error;
  }
}

function demandMade({ wire }: Probing, response: SeenResponse): void {
  if (!response.isSuccess) {
    const { code, message } = failureShape(response);
    const told = [code, message].flatMap((at) =>
      at === undefined ? [] : [wire.clean(String(valueAt(response.json, at)))],
    );
    throw new Stopped(
      `the service refuses the definition: ${response.said}${told.length === 0 ? "" : ` (${told.join(": ")})`}`,
      "give a definition in --definition that the service takes; it is sent as it stands, with another name",
    );
  }
  if (response.json !== undefined && isJsonObject(response.json)) return;
  if (idInLocation(response) !== undefined) return;
  throw new Stopped(
    `${response.said}, but the body is ${response.json === undefined ? "not JSON" : "no JSON object"}: this is no answer of a rules service`,
    "check baseUrl and the path of create; and look at the service whether a rule was made all the same",
  );
}

/** Returns the item that the list has since the create. @throws Stopped: it has several */
async function newRow({ sandbox }: Probing, before: View, { definition, name }: Named): Promise<Row | undefined> {
  if (sandbox.list === undefined) return undefined;
  const there = new Set(before.rows.map(({ rule }) => fingerprint(rule)));
  const list = ({ rows }: View): boolean => rows.length > before.rows.length;
  const { view } = await sandbox.settle(await sandbox.look(), { list });
  const added = view.rows.filter(({ rule }) => !there.has(fingerprint(rule)));
  const own = added.filter(({ rule }) => shows(rule, definition, name));
  if (own.length === 1 || added.length <= 1) return own[0] ?? added[0];
  throw new Stopped(
    `after one create the list has ${added.length} rules more`,
    "probe a sandbox in which nobody else works",
  );
}

async function idOf(
  { told, sandbox, plan }: Probing,
  response: SeenResponse,
  row: Row | undefined,
  { definition, name }: Named,
): Promise<{ leaf: Leaf; shown: SeenResponse | undefined }> {
  const inBody = idsIn(response.json ?? null, definition, idPointers(told.connection.contract.rule));
  const inHeader = idInLocation(response);
  const candidates = inHeader === undefined ? inBody : [...inBody, { at: location, value: inHeader }];
  let last: SeenResponse | undefined;
  for (const waitMs of plan.get === undefined ? [0] : sandbox.waitsMs) {
    await sleep(waitMs);
    for (const leaf of candidates) {
      if (isUnsendable(leaf.value)) continue;
      const shown = await sandbox.get(String(leaf.value));
      last = shown ?? last;
      if (shown === undefined) {
        if (row !== undefined && leavesOf(row.rule).some(({ value }) => String(value) === String(leaf.value)))
          return { leaf, shown };
      } else if (shown.isSuccess && shows(shown.json, definition, name)) return { leaf, shown };
    }
  }
  const why =
    candidates.length === 0
      ? "the answer has nothing that could be an id"
      : `none of ${candidates.map(({ at }) => at).join(", ")} is an id by which the rule is shown${last === undefined ? "" : ` (the last: ${last.said})`}`;
  throw new Stopped(
    `${response.said}, but ${why}`,
    "check the paths of create and get; and look at the service whether a rule was made all the same",
  );
}

/** Decides whether a value cannot be one segment of a path, because it would mean another path. */
function isUnsendable(value: string | number): boolean {
  return /^\.{0,2}$|[/\\%\s]/.test(String(value)) || String(value).length > 200;
}

/** Sends GETs of rules that do not exist. @throws Stopped: the service shows the rule whatever the id */
async function probeAbsence({ sandbox, findings, told, wire }: Probing, own: Own, shown: Json = null): Promise<void> {
  for (const ruleId of [similar(own.ruleId), randomUUID()]) {
    const seen = await sandbox.get(ruleId);
    if (seen === undefined) return;
    if (seen.isSuccess && shows(seen.json, own.definition, own.name))
      throw new Stopped(
        `the service shows the rule for an id that does not exist, too (${seen.said}), so it cannot be told whether a rule is there`,
        "check baseUrl and the path of get; what answers here is no rules service, or does not look at the id",
      );
    if (seen.isSuccess && sandbox.absence === undefined && placeOf(seen.json, own.definition) !== undefined) continue;
    const mark = seen.isSuccess ? markOfFailure(seen, shown) : undefined;
    if (mark !== undefined) {
      findings.fact(
        "/errors/failure",
        [defined({ ...mark, is: mark.is ?? undefined })],
        `${seen.said} for an id that does not exist`,
      );
      wire.failure = [mark];
    }
    sandbox.absence = { status: seen.status, json: seen.isSuccess ? seen.json : undefined };
    if (seen.status === 404 || seen.status === 410) {
      if (told.connection.contract.errors.notFound.length === 0)
        findings.fact("/errors/notFound", [], `${seen.said} for an id that does not exist: no other answer says it`);
      return reportFailure(findings, seen);
    }
    reportFailure(findings, seen);
    const meaning = meaningOf(seen);
    const said = `${seen.said} for an id that does not exist`;
    if ((seen.isSuccess && mark === undefined) || meaning.code === undefined)
      return findings.gap("/errors/notFound", `${said}, without a code that would tell it from other refusals`);
    return findings.fact("/errors/notFound", [meaning], said);
  }
}

/** Returns what tells a failure with a success status from the answer that shows a rule: a field with its code that the other lacks, or one word that differs. */
function markOfFailure(seen: SeenResponse, shown: Json): Contract["errors"]["failure"][number] | undefined {
  const { code } = failureShape(seen);
  if (code === undefined || seen.json === undefined) return undefined;
  const outermost = pointerOf(segmentsOf(code).slice(0, 1));
  if (valueAt(shown, outermost) === undefined) return { at: outermost, is: null };
  const words = valuesIn(seen.json, isWord, 1).flatMap(({ at, value }) => {
    const other = valueAt(shown, at) ?? null;
    const isMark = at !== code && !/\s/.test(String(value)) && isWord(other) && other !== value;
    return isMark ? [{ at, is: [value] }] : [];
  });
  return words[0];
}

/** Returns a refusal as `errors.notFound` and `errors.exists` have it: `{ status: 400, code: "TAKEN" }`, or the status alone. */
export function meaningOf(seen: SeenResponse): JsonObject {
  const { status, json } = seen;
  const { code } = failureShape(seen);
  const told = code === undefined ? undefined : valueAt(json, code);
  return typeof told === "string" || typeof told === "number" ? { status, code: told } : { status };
}

function reportFailure(findings: Probing["findings"], seen: SeenResponse): void {
  const { code, message } = failureShape(seen);
  if (code === undefined) findings.gap("/errors/code", `${seen.said}: the answer has no field like a code`);
  else findings.fact("/errors/code", code, `${seen.said}: has a code there`);
  if (message === undefined) findings.gap("/errors/message", `${seen.said}: the answer has no field like a message`);
  else findings.fact("/errors/message", message, `${seen.said}: has a sentence there`);
}

/** Returns another id of the same form: `17` → `99999999`, `r-1a` → `r-10`. */
function similar(ruleId: string): string {
  if (/^\d+$/.test(ruleId)) return "9".repeat(Math.min(15, ruleId.length + 6));
  return ruleId.replace(/[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)/, (last) => (last === "0" ? "1" : "0"));
}
