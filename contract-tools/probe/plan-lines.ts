import { defaultMarkAt, deletePlaces, namesRule, type ProbePlan, type Told } from "./known.ts";
import { afterNames, cursorNames, limitNames, offsetNames, pageNames } from "./pages.ts";
import type { Planned } from "./wire.ts";

/** Describes every request that a probe would make, in order; `{ruleId}` stands for the id of a rule that it made. */
export function planLines(told: Told, plan: ProbePlan): string[] {
  const { list, get, create, updates, deletes } = plan;
  const lines: string[] = [];
  const idName = "<the name of the field that has the id>";
  const add = (planned: Planned, words: string): void => {
    const { method, path, query } = planned.operation;
    const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`);
    lines.push(`  ${method} ${path}${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`, `      ${words}`);
  };
  if (list !== undefined)
    add(
      list,
      `reads all rules, before and after each try; and, to find out how pages are asked for, one a page, by ${limitNames.join(", ")}, and the next one by ${[...new Set([...pageNames, ...offsetNames, ...afterNames, ...cursorNames])].join(", ")}`,
    );
  add(
    create,
    `makes rules of the definition, each with a name of its own: two, and once a way to delete is proven some more: one by a name that is taken, two with one ${told.connection.contract.idempotency?.header ?? "Idempotency-Key"}, one with a text at ${told.connection.contract.rule.owner?.at ?? told.markAt ?? defaultMarkAt}, two with one id in the body, and one for each field that the service adds`,
  );
  if (get !== undefined)
    add(
      get,
      "reads each rule that the probe made, before and after each try; and ids that no rule has, to see what is answered then",
    );
  for (const [index, update] of updates.entries())
    add(update, `changes rules that the probe made${index === 0 ? "" : "; tried where none before it works"}`);
  for (const way of deletes) {
    const names = deletePlaces(way, told, idName).map((place) => `${place.in} ${place.name}`);
    const when =
      told.mayEmpty === true
        ? "every rule at this address may go"
        : "only while nothing is there but two rules that the probe made";
    const words = namesRule(way)
      ? "deletes rules that the probe made, by path"
      : `tried after all other ways, ${when}: deletes one rule that the probe made, with its id in ${[...new Set(names)].join("; or in ")}. It stops where more goes than that rule`;
    add(way, words);
  }
  return lines;
}
