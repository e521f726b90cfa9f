import { type ContractField, contractFields, semanticsFields, tableOf } from "./contract-fields.ts";
import { filled, placesIn } from "./markdown.ts";

/** Returns docs/reference/contract.md with its tables as the contract's schema has them. */
export function contractPage(page: string): string {
  return withTables(page, contractFields());
}

/** Returns docs/reference/semantics.md with its tables as the schema of semantics has them. */
export function semanticsPage(page: string): string {
  return withTables(page, semanticsFields());
}

function withTables(page: string, fields: readonly ContractField[]): string {
  const places = placesIn(page, "fields");
  const placeOf = ({ path }: ContractField): string =>
    places
      .filter(
        (place) => place === "whole" || path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`),
      )
      .sort((a, b) => Number(b !== "whole") - Number(a !== "whole") || b.length - a.length)[0] ?? "";
  const byPlace = Map.groupBy(fields, placeOf);
  return filled(page, "fields", (place) => tableOf(byPlace.get(place) ?? []));
}
