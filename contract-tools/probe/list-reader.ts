import { pagesOf } from "../../sdk/client/pages.ts";
import { demandNoMore } from "../../sdk/client/signs-of-more.ts";
import { type Contract, type Operations, type Pagination, pagingOf } from "../../sdk/contract/index.ts";
import { contains, isJsonObject, type Json, type Pointer, valueAt } from "../../sdk/json/index.ts";
import { UnusableResponse } from "../../sdk/unusable-response.ts";
import { arraysIn, idsIn, type Rows } from "./response-parts.ts";
import { type Planned, type SeenResponse, type Sent, Stopped, type Wire } from "./wire.ts";

/** The shape of a list's responses, as far as it is known. */
export interface ListShape {
  readonly items: Pointer;
  readonly envelope: Pointer;
  readonly id: readonly Pointer[];
  readonly pagination: Pagination;
}

type EmptyList = NonNullable<Operations["list"]>["empty"][number];

/** A rule of the list. */
export interface Row {
  /** Undefined as long as it is not known where the list has the id. */
  readonly ruleId: string | undefined;
  /** The item, or what its envelope holds. */
  readonly rule: Json;
  /** Where its array stands. */
  readonly items: Pointer;
}

/** Reads the list, whole: with the shape once that is known, before that any array of objects. */
export class ListReader {
  shape: ListShape | undefined;
  /** The last reading, for people. */
  said = "";
  /** The status of the last reading. */
  status = 200;
  readonly #wire: Wire;
  readonly #planned: Planned;
  readonly #contract: Contract;
  readonly #origin: string;
  #path: string | undefined;
  /** A reading without an array, which a service without rules may give. */
  #bare: SeenResponse | undefined;

  constructor(wire: Wire, planned: Planned, contract: Contract, origin: string) {
    this.#wire = wire;
    this.#planned = planned;
    this.#contract = contract;
    this.#origin = origin;
  }

  /** Reads every rule of the list. @throws Stopped: it cannot be read, or not to its end */
  async rows(): Promise<Row[]> {
    const { shape } = this;
    if (shape === undefined) {
      const seen = await this.page();
      return this.arrays(seen).flatMap(({ at, items }) =>
        items.map((rule) => ({ ruleId: undefined, rule, items: at })),
      );
    }
    const rows: Row[] = [];
    for await (const page of this.#pages(shape)) rows.push(...page.map((live) => ({ ...live, items: shape.items })));
    return rows;
  }

  /** Returns the arrays of objects in one page; none where it may be that of a service without rules. @throws Stopped: it is no list */
  arraysOfPage(seen: SeenResponse): Rows[] {
    const { status, json, said } = seen;
    const arrays = json === undefined ? [] : arraysIn(json);
    if (arrays.length > 0) return arrays;
    // Whether it is the list shows once it has a rule. An answer that says nothing at all is none, unless the contract says so.
    const isTold = this.#contract.operations.list?.empty.includes("absent") === true;
    const saysNone = isJsonObject(json) && (isTold || contains(json, (value) => value === null || value === 0));
    if (status === 204 || json === null || saysNone) {
      this.#bare = seen;
      return [];
    }
    throw unreadable(`${said}, and the ${json === undefined ? "body is not JSON" : "answer has no array of objects"}`);
  }

  /** Says how the service answers without rules, where it has no array at `items` then; with that reading, for people. */
  emptyAt(items: Pointer): { readonly is: EmptyList; readonly said: string } | undefined {
    if (this.#bare === undefined) return undefined;
    const { status, json, said } = this.#bare;
    const isNull = json !== undefined && valueAt(json, items) === null;
    return { is: status === 204 ? "noContent" : isNull ? null : "absent", said };
  }

  /** Returns the arrays of objects in a whole list. @throws Stopped: there is none, or the response says that there is more */
  arrays(seen: SeenResponse): Rows[] {
    const arrays = this.arraysOfPage(seen);
    const count = arrays.reduce((sum, { items }) => sum + items.length, 0);
    try {
      demandNoMore({ json: seen.json ?? null, headers: seen.headers }, { type: "none", complete: false }, count);
    } catch (error) {
      if (error instanceof UnusableResponse) throw new MoreThanOnePage(`${seen.said}: ${error.message}`);
      throw error;
    }
    return arrays;
  }

  /** Reads one page. @throws Stopped: it is refused */
  async page(values: Sent = {}): Promise<SeenResponse> {
    const seen = await this.try(values);
    if (!seen.isSuccess) throw unreadable(seen.said);
    this.said = seen.said;
    this.status = seen.status;
    return seen;
  }

  /** Reads one page, or its refusal. @throws Stopped: the service names a next page at another path than the list's */
  async try(values: Sent = {}): Promise<SeenResponse> {
    const { target } = values;
    if (target !== undefined && this.#path !== undefined && pathOf(target) !== this.#path)
      throw unreadable(`its next page is at ${pathOf(target)}, which is not the path of the list`);
    const seen = await this.#wire.send(this.#planned, values);
    this.#path ??= pathOf(seen.target);
    return seen;
  }

  /** Returns the path and query of the next page that a response names; undefined where it names none at this origin. */
  nextTarget({ json = null, headers, target }: SeenResponse, pagination: Pagination): string | undefined {
    try {
      const here = { origin: this.#origin, target };
      const next = pagingOf(pagination).next({ json, headers, here, lastRuleId: undefined });
      return next === undefined || pathOf(next) !== this.#path ? undefined : next;
    } catch (error) {
      if (error instanceof UnusableResponse) return undefined;
      throw error;
    }
  }

  async *#pages(shape: ListShape) {
    const list: NonNullable<Operations["list"]> = {
      method: this.#planned.operation.method === "POST" ? "POST" : "GET",
      path: this.#planned.operation.path,
      headers: {},
      query: {},
      encoding: "json",
      fields: {},
      success: [200],
      summaries: false,
      lagMs: null,
      items: shape.items,
      empty: this.#bare === undefined ? [] : [null, "absent", "noContent"],
      envelope: shape.envelope,
      pagination: shape.pagination,
    };
    const contract = { ...this.#contract, rule: { ...this.#contract.rule, id: [...shape.id], envelope: "" } };
    try {
      yield* pagesOf(list, contract, async (parts, parse) => {
        const seen = await this.page(parts);
        if (seen.status === 204 && this.#bare !== undefined)
          return parse(undefined, { origin: this.#origin, target: seen.target });
        if (seen.json === undefined) throw unreadable(`${seen.said}, and the body is not JSON`);
        return parse({ json: seen.json, headers: seen.headers }, { origin: this.#origin, target: seen.target });
      });
    } catch (error) {
      if (error instanceof UnusableResponse) throw unreadable(error.message);
      throw error;
    }
  }
}

/** The list goes on, in a way that is not known yet. */
export class MoreThanOnePage extends Stopped {
  constructor(reason: string) {
    super(reason, "describe operations.list.pagination in the contract, as the service documents it");
  }
}

/** Returns the pointer at which the items of a list have an id: a value that each has, and no two share. */
export function idInItems(items: readonly Json[], known: readonly Pointer[]): Pointer | undefined {
  const [first] = items;
  if (first === undefined) return undefined;
  return idsIn(first, {}, known).find(({ at }) => {
    const values = items.map((item) => idsIn(item, {}, known).find((leaf) => leaf.at === at)?.value);
    return values.every((value) => value !== undefined) && new Set(values).size === items.length;
  })?.at;
}

function pathOf(target: string): string {
  return target.replace(/\?.*$/s, "");
}

export function unreadable(reason: string): Stopped {
  return new Stopped(
    `the list cannot be read: ${reason}`,
    "correct the path of the list, or leave the list out and say --may-empty with the address, if every rule there may go",
  );
}
