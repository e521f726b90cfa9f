import { type Contract, contractSchema } from "../../sdk/contract/index.ts";
import {
  asWritten,
  isEqual,
  isJsonObject,
  type Json,
  type Path,
  type Pointer,
  pointerOf,
} from "../../sdk/json/index.ts";
import type { Fact } from "../draft.ts";
import { commentAt } from "../written.ts";
import type { Given, Told } from "./known.ts";

/**
 * Joins the facts of a contract: what was known before, and over it what was found. An operation that was given by an
 * option is in it only where the probe found out what a contract must say of it.
 */
export function contractFacts(told: Told, { facts }: { readonly facts: readonly Fact[] }): Fact[] {
  const found = (at: Pointer): boolean => facts.some((fact) => fact.at === at);
  const { connection, file } = told;
  const hasList = connection.contract.operations.list !== null || found("/operations/list/items");
  return [
    ...knownFacts(connection.contract, file),
    ...givenFacts("create", told.create),
    ...givenFacts("get", told.get),
    ...(hasList ? givenFacts("list", told.list) : []),
    ...facts.filter(({ at }) => hasList || !at.startsWith("/operations/list")),
  ];
}

function givenFacts(name: string, given: Given | undefined): Fact[] {
  if (given === undefined) return [];
  const source = `given as --${name}`;
  const at = `/operations/${name}`;
  const query = Object.keys(given.query).length === 0 ? [] : [{ at: `${at}/query`, value: { ...given.query }, source }];
  return [
    { at: `${at}/method`, value: given.method, source },
    { at: `${at}/path`, value: given.path, source },
    ...query,
  ];
}

/**
 * Returns the fields in which a contract differs from what is documented for all services, or which have a comment that
 * says where they come from. Of a contract with a file only what the file says, without the defaults.
 */
function knownFacts(contract: Contract, file: Told["file"]): Fact[] {
  const facts: Fact[] = [];
  const sourceOf = (path: Path): string | undefined =>
    path.length === 0 || file === undefined ? undefined : commentAt(file, path) || undefined;
  const step = (value: Json, documented: Json | undefined, path: Path): void => {
    const isCommented = value !== null && sourceOf(path) !== sourceOf(path.slice(0, -1));
    const isDefault = documented !== undefined && isEqual(value, documented, asWritten);
    if (isDefault && (isJsonObject(value) ? file === undefined : !isCommented)) return;
    const isSection = path.length < 2 || (path.length === 2 && ["operations", "auth"].includes(String(path[0])));
    if (isJsonObject(value) && isSection && path[0] !== "parameters" && path[0] !== "idempotency") {
      const below = isJsonObject(documented) ? documented : {};
      for (const [name, inner] of Object.entries(value)) step(inner, below[name], [...path, name]);
    } else facts.push({ at: pointerOf(path), value, source: sourceOf(path) ?? "from the contract that was given" });
  };
  const plain = (each: Contract): Json => JSON.parse(JSON.stringify(each));
  const { list, update } = contract.operations;
  const operations = {
    list: list === null ? null : { path: nowhere, items: nowhere },
    update: update === null ? null : { path: nowhere },
  };
  step(file?.written ?? plain(contract), plain(contractSchema.parse({ version: 1, operations })), []);
  return facts.filter(({ at }) => !["/version", "/$schema", "/description"].includes(at));
}

/** What is compared with a path or a pointer that has no default. */
const nowhere = "/-";
