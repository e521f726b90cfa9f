import type { Connection } from "../../sdk/client/index.ts";
import type { IdentifyBy, Operations } from "../../sdk/contract/index.ts";
import type { JsonObject, Pointer } from "../../sdk/json/index.ts";
import { shellWord } from "../../stack/shell-word.ts";
import type { Written } from "../written.ts";
import type { Findings } from "./findings.ts";
import type { Names } from "./names.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Planned, Wire } from "./wire.ts";

/** A method and a path that the user gives, in place of the contract's. */
export interface Given {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** What the user says. */
export interface Told {
  /** Its contract has what is known so far. */
  readonly connection: Connection;
  /** The contract as its file has it, whose comments say where its fields come from. Default: the connection's, without comments. */
  readonly file?: Pick<Written, "written" | "document"> | undefined;
  readonly definition: JsonObject;
  readonly create?: Given | undefined;
  readonly get?: Given | undefined;
  readonly list?: Given | undefined;
  /** Ways to change a rule, in place of the contract's, in the order in which they are tried. */
  readonly update?: readonly Given[] | undefined;
  /** Ways to delete, which are tried beside the contract's. */
  readonly delete?: readonly Given[] | undefined;
  /** How a delete may name the rule, where its path does not. Default: by the name of the id, in the query and in the body. */
  readonly deleteBy?: readonly IdentifyBy[] | undefined;
  /** Where a definition has its name, which differs from rule to rule. */
  readonly nameAt?: Pointer | undefined;
  /** Where a mark is tried. Default: the contract's `rule.owner`, else /metadata/managedBy. */
  readonly markAt?: Pointer | undefined;
  /** Rules that are not the probe's may be there. They are counted and compared. */
  readonly allowExisting?: boolean | undefined;
  /** Everything at the address may go. */
  readonly mayEmpty?: boolean | undefined;
  /** Ids of rules that an earlier probe of this definition left there. They count as its own, and are deleted at the end. */
  readonly leftover?: readonly string[] | undefined;
}

/** Where a mark is tried, where nobody says. */
export const defaultMarkAt = "/metadata/managedBy";

/** Every request that the probe may send. */
export interface ProbePlan {
  readonly create: Planned;
  readonly get: Planned | undefined;
  readonly list: Planned | undefined;
  /** Of several the first that works is taken. */
  readonly updates: readonly Planned[];
  /** By path first. */
  readonly deletes: readonly Planned[];
  /** The contract's delete, where it is none of them, because the rules that are probed stand elsewhere. */
  readonly leftOutDelete: Planned["operation"] | undefined;
  readonly all: readonly Planned[];
}

/** What the steps of one probe share. */
export interface Probing {
  readonly told: Told;
  readonly plan: ProbePlan;
  readonly wire: Wire;
  readonly sandbox: Sandbox;
  readonly findings: Findings;
  readonly names: Names;
  /** Says what comes next. */
  readonly say: (line: string) => void;
  /** Undefined until a way to delete is proven. */
  proven: Proven | undefined;
}

/** A way to delete that took one rule away, and nothing else. */
export interface Proven {
  readonly planned: Planned;
  readonly place: IdentifyBy;
  /** How a deleted rule is still shown, where it is. */
  readonly gone: Gone | undefined;
}

/** A field by which a deleted rule that is still shown says so. */
export interface Gone {
  readonly at: Pointer;
  readonly is: string | number | boolean;
}

/** Decides whether a request's path names the rule. */
export function namesRule({ operation }: Planned): boolean {
  return operation.path.includes("{ruleId}");
}

/** Plans the requests: what the contract has, and what is given in its place. No path and no method is made up. */
export function planOf(told: Told): ProbePlan {
  const { operations } = told.connection.contract;
  const create: Planned = {
    title: "make a rule",
    effect: "makes a rule",
    operation: operationOf(operations.create, told.create),
    bodyAt: operations.create.bodyAt,
  };
  const get = planned("read a rule", "reads", operations.get, told.get);
  const list = planned("read the list", "reads", operations.list, told.list);
  const updates = (told.update ?? [undefined]).flatMap((given) => {
    const changing = planned("change a rule", "changes a rule", operations.update, given);
    return changing === undefined ? [] : [{ ...changing, bodyAt: operations.update?.bodyAt ?? "" }];
  });
  // The list that is compared does not show what a delete at another place takes away.
  const isElsewhere = told.create !== undefined && told.create.path !== operations.create.path;
  const ways = new Map(
    [...(told.delete ?? []), ...(isElsewhere ? [] : [undefined])].map((given) => {
      const operation = operationOf(operations.delete, given);
      const way: Planned = { title: "delete a rule", effect: "deletes a rule", operation };
      const { method, path, query } = operation;
      return [JSON.stringify([method, path, query]), way];
    }),
  );
  const deletes = [...ways.values()].toSorted((one, other) => Number(namesRule(other)) - Number(namesRule(one)));
  const leftOutDelete = isElsewhere ? operationOf(operations.delete, undefined) : undefined;
  const all = [list, create, get, ...updates, ...deletes].filter((each) => each !== undefined);
  return { create, get, list, updates, deletes, leftOutDelete, all };
}

/** Returns a request in words: `DELETE /rules/{ruleId}`. */
export function wordsOf({ operation: { method, path } }: Pick<Planned, "operation">): string {
  return `${method} ${path}`;
}

/** Returns the options that name rules of an earlier probe: `--leftover 17 --leftover 18`. */
export function leftoverWords(ids: readonly string[]): string {
  return ids.map((id) => `--leftover ${shellWord(id)}`).join(" ");
}

/** Returns the places in which a delete may name the rule, the safest first. @param idName the name of the field that has the id */
export function deletePlaces(way: Planned, { connection, deleteBy = [] }: Told, idName: string): IdentifyBy[] {
  const { identifyBy } = connection.contract.operations.delete;
  const told = [...(identifyBy === null || identifyBy.in === "path" ? [] : [identifyBy]), ...deleteBy];
  return namesRule(way) || told.length === 0 ? placesIn(way, ["query", "body"], idName) : told;
}

/** Returns the places in which a request may name the rule: its path; else fields in these parts, by the id's name. */
export function placesIn(request: Planned, parts: readonly ("query" | "body")[], idName: string): IdentifyBy[] {
  if (namesRule(request)) return [{ in: "path", name: "ruleId" }];
  const names = [...new Set([idName, "ruleId", "id"])];
  return parts.flatMap((part) => names.map((name) => ({ in: part, name })));
}

type Described = NonNullable<Operations[keyof Operations]>;

function planned(
  title: string,
  effect: Planned["effect"],
  described: Described | null,
  given: Given | undefined,
): Planned | undefined {
  if (described === null && given === undefined) return undefined;
  return { title, effect, operation: operationOf(described, given) };
}

function operationOf(described: Described | null, given: Given | undefined): Planned["operation"] {
  const { path, method, headers, query } = described ?? { path: "", method: "", headers: {}, query: {} };
  const body =
    described !== null && "fields" in described ? { encoding: described.encoding, fields: described.fields } : {};
  const names = described !== null && "sentAs" in described ? { sentAs: described.sentAs } : {};
  return { path, method, headers, ...given, query: { ...query, ...given?.query }, ...body, ...names };
}
