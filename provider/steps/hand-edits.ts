import { MerchantRulesError } from "../../sdk/errors.ts";
import { differences, type JsonObject, type Path, pathOf } from "../../sdk/json/index.ts";
import { addedTo, listed, seenAs } from "../decide/live-rule.ts";
import type { KnownRule, OnDrift, Step } from "../decide/plan.ts";
import { warn } from "../host/print.ts";
import type { Place } from "../run/place.ts";
import type { Resource } from "../run/resource.ts";
import { isKept } from "./erased.ts";
import { factsOf } from "./known.ts";
import { hasVersions } from "./meanwhile.ts";

/** Rules that are named. */
const mostNamed = 20;

/**
 * Looks, before the first write of a resource, for what was changed at the service since the state saw it and would be lost.
 * `overwrite` says what the run has read anyhow, and asks nothing; `fail`, and `rule.undeclared: fail` of the contract, look at
 * every rule that is to be written: in the list, or by a GET each. Paths and no values: any of them may be secret.
 * @throws MerchantRulesError RULE_CONFLICT: for `fail`, with the rules and the paths
 */
export async function lookForHandEdits(
  steps: readonly Step[],
  of: Resource,
  place: Place,
  onDrift: OnDrift,
): Promise<void> {
  const refusesAdded = place.contract.rule.undeclared === "fail";
  const mustLook = onDrift === "fail" || refusesAdded;
  let isAdded = false;
  const looks = steps.map(async (step) => {
    if (step.kind === "create" || step.kind === "keep" || ("isLeft" in step && step.isLeft)) return [];
    const { known, key } = step;
    // An update with a version overwrites nothing that somebody changed: it says so itself.
    if (onDrift === "overwrite" && step.kind === "update" && hasVersions(place)) return [];
    // What the last write to it did is not known: that is looked at before this one.
    if (known.doubt !== undefined || place.claims.others(known.ruleId, of, key).length > 0) return [];
    const rule = mustLook ? await seen(known, of.label(key), place) : place.live.glance(known);
    if (rule === undefined || !factsOf(known, rule, { key, of, place, site: undefined }).isOurs) return [];
    const edited = pathsLost(rule, known, step.kind === "delete" ? undefined : step.declared.definition, place);
    const added = addedTo(rule, known, place).filter((path) => refusesAdded || !isLeft(path, step, rule, place));
    isAdded ||= added.length > 0;
    const paths = [...edited, ...added.map((path) => pathOf(path))];
    const label = of.label(key);
    return paths.length === 0
      ? []
      : [`${label === undefined ? known.ruleId : `${label} (${known.ruleId})`}: ${listed(paths)}`];
  });
  const found = (await Promise.all(looks)).flat();
  if (found.length === 0) return;
  const lines = found.slice(0, mostNamed);
  if (found.length > lines.length) lines.push(`and ${found.length - lines.length} more`);
  const [only, ...others] = lines;
  if (onDrift === "overwrite" && !(refusesAdded && isAdded)) {
    if (others.length === 0) return warn(`this run writes over what was changed at the service since: rule ${only}`);
    return warn(
      `this run writes over what was changed at the service since, in ${found.length} rules:`,
      ...lines.map((line) => `  ${line}`),
    );
  }
  const word = onDrift === "fail" ? 'onDrift is "fail"' : "rule.undeclared is fail (contract)";
  const reason =
    others.length === 0
      ? `it was changed at the service since the state saw it, and ${word}; nothing was written. Rule ${only}`
      : `${found.length} rules were changed at the service since the state saw them, and ${word}; nothing was written:`;
  throw new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted: `write ${of.isRule ? "the rule" : "the rules"}`,
    ...(others.length === 0 ? {} : { lines: lines.map((line) => `  ${line}`) }),
    advice:
      "run `pulumi refresh`, which takes what is at the service into the state; then `pulumi preview --diff` shows what this program changes of it. Take over into the program what is to stay, and run `pulumi up`. A field that was added there stays refused until it is declared, removed at the service, or named in rule.readOnly of the contract",
  });
}

/** True of a path that no step takes away. */
function isLeft(path: Path, step: Step, rule: JsonObject, place: Place): boolean {
  if (step.kind !== "update") return false;
  const { definition } = step.declared;
  return isKept(path, seenAs(rule, definition, place), definition, place.contract);
}

async function seen(known: KnownRule, label: string | undefined, place: Place): Promise<JsonObject | undefined> {
  if (place.paper.isGone(known.ruleId)) return undefined;
  const sight = await place.live.look(known, label, "list");
  return sight.is === "present" ? sight.rule : undefined;
}

/** The paths at which a rule is not as the state knows it, but for those at which it is as it is to be. */
function pathsLost(rule: JsonObject, known: KnownRule, wanted: JsonObject | undefined, place: Place): string[] {
  const options = place.contract.rule;
  const edited = differences(known.definition, seenAs(rule, known.definition, place), options).map(({ path }) => path);
  if (wanted === undefined || edited.length === 0) return edited.map((path) => pathOf(path));
  const written = differences(seenAs(rule, wanted, place), wanted, options).map(({ path }) => path);
  const isWritten = (path: (typeof edited)[number]): boolean =>
    written.some((each) => each.slice(0, path.length).join("/") === path.slice(0, each.length).join("/"));
  return edited.filter(isWritten).map((path) => pathOf(path));
}
