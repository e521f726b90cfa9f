import type { Contract } from "../../sdk/contract/index.ts";
import { field, isJsonObject, type Json, joinPath } from "../../sdk/json/index.ts";
import { isOneSlip } from "../../sdk/nearest.ts";
import type { Properties } from "../host/wire.ts";
import { definitionsIn } from "../state/definitions.ts";
import type { ResourceShape } from "../state/shape.ts";

/** A top-level field that may be misspelt, and the sentence that says so. */
export interface OddField {
  readonly name: string;
  readonly sentence: string;
}

/** Rules that have this many odd fields have names for fields, and no slips. */
const mostOdd = 100;

/**
 * Finds the top-level fields that are one slip away from a known one: from a field that `rule.schema` describes, or that
 * more rules of the set have. A field that most rules have is no slip, nor is one beside the known field in a rule.
 */
export function oddFields(shape: ResourceShape, { rule }: Contract, news: Properties): OddField[] {
  const rules = [...definitionsIn(shape, news[shape.field])];
  const described = fieldsOf(rule.schema === null ? undefined : field(rule.schema, "properties"));
  const users = new Map<string, number>();
  for (const [, definition] of rules) for (const name of fieldsOf(definition)) users.set(name, usersOf(name) + 1);
  const isCommon = (name: string): boolean => usersOf(name) > 1 && usersOf(name) > rules.length / 2;
  const odd = [...users.keys()].filter((name) => !described.includes(name) && !isCommon(name));
  if (odd.length > mostOdd) return [];
  const known = [...new Set([...described, ...users.keys()])];
  const slips = odd.flatMap((name) => {
    const meant = known.find(
      (each) => (described.includes(each) || usersOf(each) > usersOf(name)) && isOneSlip(name, each),
    );
    return meant === undefined ? [] : [{ name, meant }];
  });
  return slips.flatMap(({ name, meant }) => {
    const [first, ...more] = rules.filter(([, definition]) => {
      const fields = fieldsOf(definition);
      return fields.includes(name) && !fields.includes(meant);
    });
    if (first === undefined) return [];
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    const where = described.includes(meant) ? "rule.schema in the contract describes" : "other rules of the set have";
    const sentence = `${joinPath(shape.path(first[0]), name)}${others}: did you mean ${meant}, which ${where}? It is sent as it is declared`;
    return [{ name, sentence }];
  });

  function usersOf(name: string): number {
    return users.get(name) ?? 0;
  }
}

function fieldsOf(value: Json | undefined): string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}
