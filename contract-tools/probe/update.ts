import type { IdentifyBy } from "../../sdk/contract/index.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  laidOver,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
  withoutValueAt,
} from "../../sdk/json/index.ts";
import { idIn } from "./create.ts";
import { namesRule, type Probing, placesIn, wordsOf } from "./known.ts";
import { fingerprint, isAlike } from "./response-parts.ts";
import { type Named, named, type Own, type View } from "./sandbox.ts";
import type { Planned, SeenResponse, Sent } from "./wire.ts";

/** What the evidence says of an update that erases what is not sent. */
export const erasesWords = "what is not sent is erased";

/** How an update says which version of the rule it changes. */
type Version = { readonly etag: true } | { readonly at: Pointer };

/** A way to ask for an update. */
interface Way {
  readonly planned: Planned;
  readonly place: IdentifyBy;
  readonly version: Version | undefined;
}

/** The effect of one update. */
interface Changed {
  readonly seen: SeenResponse;
  readonly way: Way;
  /** The rule as it is shown afterwards; undefined where the change is not there. */
  readonly live: JsonObject | undefined;
  /** The id before, where it is another one by now. */
  readonly formerId: string | undefined;
}

/**
 * Finds out whether an update replaces a rule or merges what is sent into it: by one that leaves a field out. An update
 * that is answered with success and does nothing is seen.
 * @throws Stopped: something else changed
 */
export async function probeUpdate(probing: Probing): Promise<void> {
  const { plan, sandbox, findings, told } = probing;
  const [own] = sandbox.present;
  if (plan.updates.length === 0) return findings.gap("/operations/update", "not tried: give --update");
  if (own === undefined) return;
  const full = changedDefinition(probing, own);
  if (full === undefined)
    return findings.gap("/operations/update", "the definition has no number and no name that could be changed");
  const refusals: string[] = [];
  for (const planned of plan.updates) {
    if (!namesRule(planned) && told.mayEmpty !== true && (await sandbox.countOthers()) !== 0) {
      refusals.push(
        `${wordsOf(planned)} was not tried, because its path does not name the rule, and rules are there that the probe did not make`,
      );
      continue;
    }
    for (const place of placesOf(probing, planned))
      for (const version of [undefined, ...(await readVersions(probing, own))]) {
        const done = await leaveOneOut(probing, own, { planned, place, version }, full);
        if (done.changed !== undefined) return await report(probing, own, done.changed, done, full);
        refusals.push(...done.refusals);
      }
  }
  findings.gap("/operations/update", refusals.join("; "));
}

interface Full extends Named {
  /** What differs from the rule as it was. */
  readonly at: Pointer;
}

type Effect = "replaces" | "merges" | "unknown";

/** What became of a field that was left out; undefined: none was. */
interface LeftOut {
  readonly effect: Effect;
  readonly field: string | undefined;
}

/** Sends updates without one field each, until the service takes one; in the end with all fields. */
async function leaveOneOut(
  probing: Probing,
  own: Own,
  way: Way,
  full: Full,
): Promise<LeftOut & { changed: Changed | undefined; refusals: string[] }> {
  const refusals: string[] = [];
  const [changedField] = segmentsOf(full.at);
  const [nameField] = segmentsOf(probing.names.at ?? "");
  const fields = Object.keys(full.definition).filter((name) => name !== changedField && name !== nameField);
  for (const field of [...fields.reverse().slice(0, mostLeftOut), undefined]) {
    const sent = Object.fromEntries(Object.entries(full.definition).filter(([name]) => name !== field));
    const changed = await update(probing, own, way, { ...full, definition: sent });
    if (changed.live !== undefined) {
      const isLeft = field !== undefined && changed.live[field] !== undefined;
      own.definition = isLeft ? full.definition : sent;
      const effect = field === undefined ? "unknown" : isLeft ? "merges" : "replaces";
      return { changed, effect, field, refusals };
    }
    refusals.push(changed.seen.isSuccess ? `${changed.seen.said}, but the rule is as before` : changed.seen.said);
    // Whoever answers success without a change does not look at the fields.
    if (changed.seen.isSuccess) break;
  }
  return { changed: undefined, effect: "unknown", field: undefined, refusals };
}

const mostLeftOut = 3;

async function update(probing: Probing, own: Own, way: Way, { definition, name, at }: Full): Promise<Changed> {
  const { sandbox, wire, say } = probing;
  const { planned } = way;
  say(`changing rule ${named(own)} by ${wordsOf(planned)}`);
  const before = own.name;
  const { result, after } = await sandbox.attempt("an update", [own], async () => {
    const former = await sandbox.get(own.ruleId);
    const sent: Sent = { ruleId: own.ruleId, place: way.place, ...(await versioned(probing, own, way, definition)) };
    const seen = await wire.send(planned, sent);
    if (seen.isSuccess) own.name = name;
    const id = seen.isSuccess ? idIn(probing, seen) : undefined;
    const isOther = id !== undefined && id !== own.ruleId;
    return { seen, formerId: isOther ? await followId(probing, own, id, former) : undefined };
  });
  const wanted = valueAt(definition, at);
  const isChanged = (view: View): boolean => {
    const found = valueAt(sandbox.ruleIn(view.own.get(own)), at);
    return found !== undefined && wanted !== undefined && isAlike(found, wanted);
  };
  const settled = result.seen.isSuccess
    ? await sandbox.settle(after, sandbox.byGet(isChanged))
    : { isShown: false, view: after };
  if (!settled.isShown) own.name = before;
  return { ...result, way, live: settled.isShown ? sandbox.ruleIn(settled.view.own.get(own)) : undefined };
}

/**
 * Follows a rule to the id that the response has. Where the rule with the id before is as it was, another rule was made,
 * which is deleted with the others.
 * @returns the id before, where it is another one now
 */
async function followId(
  { sandbox }: Probing,
  own: Own,
  id: string,
  before: SeenResponse | undefined,
): Promise<string | undefined> {
  const now = await sandbox.get(own.ruleId);
  const isAsBefore =
    before?.json !== undefined && now !== undefined && fingerprint(before.json) === fingerprint(now.json ?? null);
  const { ruleId, definition, name } = own;
  sandbox.own.push({ ruleId: isAsBefore ? id : ruleId, definition, name, isGone: !isAsBefore });
  if (isAsBefore) return undefined;
  own.ruleId = id;
  return ruleId;
}

async function versioned(
  { sandbox, findings }: Probing,
  own: Own,
  { version }: Way,
  definition: JsonObject,
): Promise<Pick<Sent, "definition" | "headers">> {
  if (version === undefined) return { definition };
  const seen = await sandbox.get(own.ruleId);
  const etag = seen?.headers.etag;
  if ("etag" in version) return { definition, headers: typeof etag === "string" ? ["If-Match", etag] : [] };
  const value = valueAt(valueAt(seen?.json, String(findings.valueAt("/rule/envelope") ?? "")), version.at);
  return { definition: value === undefined ? definition : { ...definition, [segmentsOf(version.at)[0] ?? ""]: value } };
}

/** Reads the versions that a rule shows: its ETag, and its fields with such a name. */
async function readVersions({ sandbox }: Probing, own: Own): Promise<Version[]> {
  const seen = await sandbox.get(own.ruleId);
  const live = valueAt(seen?.json, sandbox.envelope);
  const fields = Object.entries(isJsonObject(live) ? live : {}).flatMap(([name, value]) =>
    /^(_?rev(ision)?|_?version|etag)$/i.test(name) && (typeof value === "string" || typeof value === "number")
      ? [{ at: pointerOf([name]) }]
      : [],
  );
  return [...(typeof seen?.headers.etag === "string" ? [{ etag: true as const }] : []), ...fields];
}

function placesOf({ told, findings }: Probing, planned: Planned): IdentifyBy[] {
  const known = told.connection.contract.operations.update?.identifyBy;
  const isTold = known !== undefined && known.in !== "path" && !namesRule(planned);
  return [...(isTold ? [known] : []), ...placesIn(planned, ["body", "query"], findings.idName)];
}

function changedDefinition({ names }: Probing, own: Own): Full | undefined {
  const changed = names.changed(own.definition);
  if (changed !== undefined) return { ...changed, name: own.name };
  const renamed = names.next(own.definition);
  return names.at === undefined ? undefined : { ...renamed, at: names.at };
}

async function report(
  probing: Probing,
  own: Own,
  { seen, way, live, formerId }: Changed,
  { effect, field }: LeftOut,
  full: Full,
): Promise<void> {
  const { findings, told } = probing;
  const { operation } = way.planned;
  const fact = (name: string, value: Json, words: string): void =>
    findings.fact(`/operations/update/${name}`, value, `${seen.said}: ${words}`);
  fact("method", operation.method, "the change is there");
  fact("path", operation.path, "the change is there");
  if (Object.keys(operation.query).length > 0) fact("query", { ...operation.query }, "the change is there");
  fact("identifyBy", { ...way.place }, "changed that rule and no other");
  fact("success", [seen.status], "the change is there");
  const known = told.connection.contract.operations.update;
  if (formerId !== undefined) fact("id", "new", "the answer has another id, by which the rule is shown from then on");
  else if (known?.id !== "new") fact("id", "kept", `the rule is shown by its id ${own.ruleId} as before`);
  if (way.version === undefined) {
    const words = "is taken without a version";
    const isShown = (await readVersions(probing, own)).length > 0;
    if (isShown)
      findings.gap(
        "/operations/update/version",
        `${seen.said}: ${words}; whether one that a GET shows is looked at was not tried`,
      );
    else if ((known?.version ?? null) === null) fact("version", null, `${words}, and a GET shows none`);
  } else {
    fact("version", { ...way.version }, "is refused without the version");
    if ("at" in way.version)
      findings.fact("/rule/readOnly", [way.version.at], `${seen.said}: the service's own version`);
  }
  const words = {
    replaces: `a field that was left out is gone: ${erasesWords}`,
    merges: "a field that was left out is still there",
    unknown: "it was not taken with a field left out, so it is not known whether it replaces the rule",
  };
  if (effect !== "merges") fact("body", ...(await wholeOrDeclared(probing, own, way, words[effect])));
  else if (way.version !== undefined) fact("body", "declared", words[effect]);
  else fact("body", ...(await partOrWhole(probing, own, way, { full, before: live ?? {}, words })));
  if (effect === "replaces") fact("removal", "omit", words.replaces);
  if (effect !== "merges" || field === undefined) return;
  const { isGone, said } = await removeByNull(probing, own, way, field);
  const sent = `the field ${field} was sent as null, and`;
  if (isGone === undefined) findings.gap("/operations/update/removal", `${said}: ${sent} the change is not there`);
  else
    findings.fact(
      "/operations/update/removal",
      isGone ? null : "none",
      `${said}: ${sent} is ${isGone ? "gone" : "still there"}`,
    );
}

/** Sends a field as null, beside a change that shows whether the update was done, and gives the rule the field back. */
async function removeByNull(
  probing: Probing,
  own: Own,
  way: Way,
  field: string,
): Promise<{ isGone?: boolean; said: string }> {
  const { definition } = own;
  const next = changedDefinition(probing, own) ?? { definition, name: own.name, at: "" };
  const { seen, live } = await update(probing, own, way, {
    ...next,
    definition: { ...next.definition, [field]: null },
  });
  if (live === undefined) return { said: seen.said };
  own.definition = next.definition;
  const isGone = (live[field] ?? null) === null;
  const again = isGone ? changedDefinition(probing, own) : undefined;
  if (again !== undefined && (await update(probing, own, way, again)).live !== undefined)
    own.definition = again.definition;
  return { isGone, said: seen.said };
}

/** Sends the live rule back with a change in it, but for what the service alone sets. */
async function wholeOrDeclared(
  probing: Probing,
  own: Own,
  way: Way,
  words: string,
): Promise<[body: string, words: string]> {
  const { sandbox, findings } = probing;
  const next = changedDefinition(probing, own);
  const shown = valueAt((await sandbox.get(own.ruleId))?.json, sandbox.envelope);
  if (next === undefined || !isJsonObject(shown)) return ["declared", words];
  const services = [...findings.pointersAt("/rule/id"), ...findings.pointersAt("/rule/readOnly")];
  const definition = laidOver(services.reduce(withoutValueAt, shown), next.definition);
  const { seen, live } = await update(probing, own, way, { ...next, definition });
  if (live === undefined) return ["declared", `${words}; the whole rule is not taken back (${seen.said})`];
  own.definition = next.definition;
  return ["merged", `${words}; the whole rule is taken back, but for what the service sets`];
}

/** Sends what changed alone, where an update merges what is sent into the rule. One that erased the rest is repaired. */
async function partOrWhole(
  probing: Probing,
  own: Own,
  way: Way,
  { full, before, words }: { full: Full; before: JsonObject; words: Readonly<Record<Effect, string>> },
): Promise<[body: string, words: string]> {
  const [field = ""] = segmentsOf(full.at);
  const next = changedDefinition(probing, { ...own, definition: full.definition });
  const part = next?.definition[field];
  if (next === undefined || part === undefined) return ["declared", words.merges];
  const { seen, live } = await update(probing, own, way, { ...next, definition: { [field]: part } });
  if (live === undefined) return ["declared", `${words.merges}; but a part alone is not taken (${seen.said})`];
  own.definition = next.definition;
  const isErased = Object.keys(before).some((name) => live[name] === undefined);
  if (!isErased) return ["changes", `${words.merges}, and what changed is enough`];
  await update(probing, own, way, changedDefinition(probing, own) ?? next);
  return ["declared", words.replaces];
}
