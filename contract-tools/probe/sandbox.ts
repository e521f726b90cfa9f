import { setTimeout as sleep } from "node:timers/promises";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { isJsonObject, type Json, type JsonObject, type Pointer, valueAt } from "../../sdk/json/index.ts";
import type { ListReader, Row } from "./list-reader.ts";
import { fingerprint, shows } from "./response-parts.ts";
import { type Planned, type SeenResponse, Stopped, type Wire } from "./wire.ts";

/** A definition, and its name where it has one. */
export interface Named {
  definition: JsonObject;
  name: string | undefined;
}

/** A rule that the probe made, with the definition that was sent last. */
export interface Own extends Named {
  ruleId: string;
  isGone: boolean;
}

/** What the service shows of one own rule. */
export interface Sight {
  readonly is: "there" | "gone" | "unknown";
  readonly isListed: boolean;
  /** A GET says that there is no such rule; where there is no GET, the list does. */
  readonly isAbsent: boolean;
  /** The whole response to its GET, or its item of the list. */
  readonly shown: Json | undefined;
  readonly said: string;
}

/** What the service shows at one moment. */
export interface View {
  /** The fingerprints of all rules that are not the probe's; undefined where there is no list. */
  readonly others: readonly string[] | undefined;
  readonly own: ReadonlyMap<Own, Sight>;
  readonly rows: readonly Row[];
}

/** What is to be seen of a write: in the list, and by a GET of its rule. What is left out is not waited for. */
export interface Shown {
  readonly list?: (view: View) => boolean;
  readonly get?: (view: View) => boolean;
}

/** The response for a rule that the service does not have. */
export interface Absence {
  readonly status: number;
  /** The body, where the status is one of success. */
  readonly json: Json | undefined;
}

interface SandboxOptions {
  readonly list: ListReader | undefined;
  readonly get: Planned | undefined;
  readonly signal: AbortSignal | undefined;
  /** How long the service may take to show what was written. */
  readonly waitMs: number;
  /** True of a rule that an earlier probe left there: it counts as neither the probe's nor another's. */
  readonly isLeftover: (row: Row) => boolean;
}

/** The place that is probed: what is there that is not the probe's, and what the probe made. */
export class Sandbox {
  /** Undefined where there is none, or none that can be read. */
  list: ListReader | undefined;
  readonly own: Own[] = [];
  /** Ends the probe before its next try. Undefined while it cleans up: what was made is to be deleted. */
  signal: AbortSignal | undefined;
  /** The name of a rule that was asked for, as long as it is not known whether it was made, and by which id. */
  asked: { readonly name: string | undefined } | undefined;
  /** Returns the id that a response about one rule has, once it is known where. */
  idIn: ((answer: Json) => string | undefined) | undefined;
  /** Where a response about one rule has it. */
  envelope: Pointer = "";
  absence: Absence | undefined;
  /** The time after which the list, and a GET, showed each write, in milliseconds; 0: at once. */
  readonly lagsMs: Readonly<Record<keyof Shown, number[]>> = { list: [], get: [] };
  readonly #wire: Wire;
  readonly #options: Omit<SandboxOptions, "list" | "signal">;
  /** It looks again after these waits, before a difference counts: a list may show for a while what was before. */
  readonly waitsMs: readonly number[];

  constructor(wire: Wire, { list, signal, ...options }: SandboxOptions) {
    this.#wire = wire;
    this.list = list;
    this.signal = signal;
    this.#options = options;
    this.waitsMs = [0, 1, 4, 10].map((part) => (options.waitMs * part) / 15);
  }

  /** What to do where a request may have taken effect later than it was looked for. */
  get longerWait(): string {
    const seconds = Math.min(600, Math.max(30, Math.ceil((4 * this.#options.waitMs) / 1000)));
    return `run it again with --wait ${seconds}, so that what a request does late is seen before the next one`;
  }

  get present(): Own[] {
    return this.own.filter(({ isGone }) => !isGone);
  }

  /** Notes a rule that was made. */
  add(ruleId: string, { definition, name }: Named): Own {
    const own: Own = { ruleId, definition, name, isGone: false };
    this.own.push(own);
    this.asked = undefined;
    return own;
  }

  /** Reads one rule by a GET; undefined where there is no GET. */
  async get(ruleId: string): Promise<SeenResponse | undefined> {
    const { get } = this.#options;
    return get && (await this.#wire.send(get, { ruleId, place: { in: "path", name: "ruleId" } }));
  }

  /** Reads one rule: the response that shows it, or its item of the list; undefined where it is not there. */
  async shown(ruleId: string): Promise<Json | undefined> {
    const seen = await this.get(ruleId);
    if (seen?.isSuccess === true && !this.isAbsence(seen)) return seen.json;
    return (await this.list?.rows())?.find((row) => row.ruleId === ruleId)?.rule;
  }

  /** Returns the rule in what the service shows, without its envelope. */
  ruleIn(sight: Sight | undefined): JsonObject | undefined {
    const rule = this.#options.get === undefined ? sight?.shown : valueAt(sight?.shown, this.envelope);
    return isJsonObject(rule) ? rule : undefined;
  }

  /** Reads everything that is there now. @throws Stopped: the list cannot be read */
  async look(): Promise<View> {
    const rows = (await this.list?.rows()) ?? [];
    const own = new Map<Own, Sight>();
    for (const each of this.present) own.set(each, await this.#sight(each, rows));
    const ids = new Set(this.own.map(({ ruleId }) => ruleId));
    const isOwn = ({ ruleId, rule }: Row): boolean =>
      ruleId === undefined ? this.own.some((each) => isOf(rule, each)) : ids.has(ruleId);
    const strange = rows.filter((row) => !isOwn(row) && !this.#options.isLeftover(row));
    const others = strange.map(({ rule }) => fingerprint(rule));
    return { others: this.list === undefined ? undefined : others.sort(), own, rows };
  }

  /** Reads how many rules are there now that the probe did not make; undefined where there is no list. */
  async countOthers(): Promise<number | undefined> {
    return (await this.look()).others?.length;
  }

  /**
   * Runs one try. Before and after it, everything that it may not change is compared.
   * @param may the own rules that it may change or delete
   * @throws Stopped: something else changed, or was changed since the last try
   */
  async attempt<T>(title: string, may: readonly Own[], act: () => Promise<T>): Promise<{ result: T; after: View }> {
    if (this.signal?.aborted === true) throw new Stopped("it was interrupted", "run it again");
    const before = await this.look();
    for (const own of may) {
      const sight = before.own.get(own);
      if (sight !== undefined && sight.is !== "there")
        throw new Stopped(
          `before the next try (${title}) the rule ${named(own)} is ${sight.is === "gone" ? "not there any more" : "not shown"}: ${sight.said}`,
          this.longerWait,
        );
    }
    const result = await act();
    let harm: string | undefined;
    for (const waitMs of this.waitsMs) {
      await sleep(waitMs);
      const after = await this.look();
      harm = harmIn(before, after, may);
      if (harm === undefined) return { result, after };
    }
    throw new Stopped(`${title}: ${harm}`, "do not use this way to ask the service; nothing more was tried");
  }

  /** Reads until the service shows what is expected, or for some seconds. @returns whether it does, and the last view */
  async settle(view: View, shown: Shown): Promise<{ isShown: boolean; view: View }> {
    const since = performance.now();
    const seenMs = new Map<keyof Shown, number>();
    let last = view;
    for (const waitMs of this.waitsMs) {
      if (waitMs > 0) {
        await sleep(waitMs);
        last = await this.look();
      }
      const nowMs = waitMs === 0 ? 0 : Math.ceil(performance.now() - since);
      for (const by of ["list", "get"] as const) if (shown[by]?.(last)) getOrMake(seenMs, by, () => nowMs);
      if (shown.list?.(last) === false || shown.get?.(last) === false) continue;
      for (const [by, ms] of seenMs) this.lagsMs[by].push(ms);
      return { isShown: true, view: last };
    }
    return { isShown: false, view: last };
  }

  /** Returns what is to be seen of a rule that was made. */
  made(own: Own): Shown {
    return {
      list: ({ own: seen }) => this.list === undefined || seen.get(own)?.isListed === true,
      get: ({ own: seen }) => seen.get(own)?.is === "there",
    };
  }

  /** Returns what is to be seen by a GET; where there is none, in the list. */
  byGet(isShown: (view: View) => boolean): Shown {
    return this.#options.get === undefined ? { list: isShown } : { get: isShown };
  }

  async #sight(own: Own, rows: readonly Row[]): Promise<Sight> {
    const row = rows.find(({ ruleId, rule }) => (ruleId === undefined ? isOf(rule, own) : ruleId === own.ruleId));
    const isListed = row !== undefined;
    const seen = await this.get(own.ruleId);
    if (seen === undefined) {
      const said = isListed ? "the list has it" : "the list does not have it";
      return { is: isListed ? "there" : "gone", isListed, isAbsent: !isListed, shown: row?.rule, said };
    }
    const said = this.list === undefined ? seen.said : `${seen.said}, the list ${isListed ? "has" : "lacks"} it`;
    const isItself = seen.json !== undefined && this.idIn?.(seen.json) === own.ruleId && !this.isAbsence(seen);
    if (seen.isSuccess && (isItself || shows(seen.json, own.definition, own.name)))
      return { is: "there", isListed, isAbsent: false, shown: seen.json, said };
    const isAbsent = this.isAbsence(seen);
    return { is: isAbsent && !isListed ? "gone" : "unknown", isListed, isAbsent, shown: undefined, said };
  }

  /** Decides whether a response to a GET says that there is no such rule. */
  isAbsence({ status, json, isSuccess }: SeenResponse): boolean {
    if (status === 404 || status === 410) return true;
    const { absence } = this;
    if (absence === undefined || status !== absence.status) return false;
    return !isSuccess || fingerprint(json ?? null) === fingerprint(absence.json ?? null);
  }
}

export function named({ ruleId, name }: Own): string {
  return name === undefined || name === ruleId ? JSON.stringify(ruleId) : `${JSON.stringify(name)} (id ${ruleId})`;
}

function isOf(rule: Json, { definition, name }: Own): boolean {
  return shows(rule, definition, name);
}

/** Describes a change to what must not change; undefined where there is none. */
function harmIn(before: View, after: View, may: readonly Own[]): string | undefined {
  if (before.others !== undefined && after.others !== undefined) {
    const lost = without(before.others, after.others).length;
    const added = without(after.others, before.others).length;
    if (lost > 0 || added > 0) {
      const what = lost > added ? `${lost - added} of them are gone` : "they changed";
      return `the service has ${before.others.length} rules that the probe did not make, and ${what}`;
    }
  }
  for (const [own, sight] of before.own) {
    if (may.includes(own)) continue;
    const now = after.own.get(own);
    if (now?.is !== sight.is) return `another rule, ${named(own)}, is ${now?.is ?? "gone"}: ${now?.said ?? ""}`;
    if (fingerprint(sight.shown ?? null) !== fingerprint(now.shown ?? null))
      return `another rule, ${named(own)}, has changed`;
  }
  return undefined;
}

/** Returns the strings that the second array lacks, each as often as it lacks it. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const text of others) left.set(text, (left.get(text) ?? 0) + 1);
  return texts.filter((text) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count === 0;
  });
}
