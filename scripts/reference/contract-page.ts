import { type ContractField, contractFields, tableOf } from "./contract-fields.ts";
import { filled, placesIn } from "./markdown.ts";

/** docs/reference/contract.md with its tables as the contract's schema has them. */
export function contractPage(page: string): string {
  const places = placesIn(page, "fields");
  const placeOf = ({ path }: ContractField): string =>
    places
      .filter(
        (place) => place === "whole" || path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`),
      )
      .sort((a, b) => Number(b !== "whole") - Number(a !== "whole") || b.length - a.length)[0] ?? "";
  const fields = Map.groupBy(contractFields(), placeOf);
  return filled(page, "fields", (place) => tableOf(fields.get(place) ?? []));
}
