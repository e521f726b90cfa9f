import type { Comparison } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { isEquality } from "../language/schema-words.ts";
import type { Literal, Term } from "./building.ts";
import type { PlacedLiteral } from "./plane.ts";

/** What a plane of a field looks up. */
type PlaneKind = "presence" | "rank" | "startsWith" | "endsWith" | "contains";

interface Place {
  readonly kind: PlaneKind;
  readonly ignoresCase: boolean;
  readonly counts: PlacedLiteral["counts"];
}

export interface PlacedLiteralOfKind extends PlacedLiteral {
  readonly kind: PlaneKind;
  readonly ignoresCase: boolean;
}

/** A condition that is evaluated for each payment. Conditions with the same number are the same. */
export interface Rest extends Literal {
  readonly number: number;
}

/** Splits the literals of a term into those that planes look up, and those that are evaluated for each payment (`rest`). */
export function split(
  term: number,
  wanted: Term,
  semantics: Semantics,
  memo: Map<string, number>,
): { readonly placed: readonly PlacedLiteralOfKind[]; readonly rest: readonly Rest[] } {
  const placed: PlacedLiteralOfKind[] = [];
  const rest: Rest[] = [];
  const taken = new Set<string>();
  for (const literal of wanted) {
    const { condition, isFlipped } = literal;
    const places = placesOf(literal, semantics);
    // A plane of parts has room for one literal of a term.
    const isTaken = places.some((place) => isPart(place.kind) && taken.has(placeText(condition, place)));
    if (places.length === 0 || isTaken || condition.kind !== "comparison") {
      // The place of a condition does not matter; an instant, which has a field of the same name, does.
      const key = JSON.stringify(condition, (_, value) =>
        typeof value === "object" && value !== null && "kind" in value ? { ...value, at: undefined } : value,
      );
      const number = memo.get(key) ?? memo.size;
      memo.set(key, number);
      rest.push({ ...literal, number });
      continue;
    }
    for (const place of places) {
      taken.add(placeText(condition, place));
      placed.push({ term, comparison: condition, isFlipped, ...place });
    }
  }
  return { placed, rest };
}

const ranked: readonly string[] = ["eq", "ne", "in", "notIn", "gt", "gte", "lt", "lte", "between", "inCidr"];

/**
 * Returns the planes in which a literal is looked up, one or two; none for a literal that is evaluated for each payment: patterns,
 * comparisons with another field, and those of lists.
 */
function placesOf({ condition, isFlipped }: Literal, semantics: Semantics): readonly Place[] {
  if (condition.kind !== "comparison") return [];
  const { operator, operand, field } = condition;
  if (operator === "exists" || operator === "absent") return [{ kind: "presence", ignoresCase: false, counts: "both" }];
  if (semantics.payment.fields[field]?.list !== false || operand.kind === "field") return [];
  const kind = ranked.includes(operator) ? "rank" : partOf(condition);
  if (kind === undefined) return [];
  const { ignoresCase } = condition;
  if (ignoresCase !== null) return [{ kind, ignoresCase, counts: "both" }];
  if (kind === "rank" && !isEquality(operator)) return [];
  // Where it is unknown whether case counts: what is true with case is true without it. So one of the two planes says what surely
  // holds, and the other what possibly holds.
  const isOpposite = (operator === "ne" || operator === "notIn") !== (condition.isNegated !== isFlipped);
  return [
    { kind, ignoresCase: isOpposite, counts: "certain" },
    { kind, ignoresCase: !isOpposite, counts: "possible" },
  ];
}

function partOf({ operator, operand }: Comparison): PlaneKind | undefined {
  if (operand.kind !== "value" || operand.value.type !== "text") return undefined;
  return operator === "startsWith" || operator === "endsWith" || operator === "contains" ? operator : undefined;
}

function isPart(kind: PlaneKind): boolean {
  return kind !== "rank" && kind !== "presence";
}

function placeText(condition: Literal["condition"], { kind, ignoresCase }: Place): string {
  return JSON.stringify([condition.kind === "comparison" ? condition.field : "", kind, ignoresCase]);
}
