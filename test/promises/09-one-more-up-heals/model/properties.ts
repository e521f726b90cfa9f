import { isDeepStrictEqual } from "node:util";
import { type Name, names } from "./scenarios.ts";
import type { Merchant, Write } from "./service.ts";
import { type Ended, isAs, liveOf, type Means, type Row, type RunChoice, rowsOf, type World } from "./world.ts";

/**
 * P1: another's rule is written or deleted. P1r: a declared rule in force is not in force after the run. P2a: declared, exit 0,
 * not in force. P2d: two resources, one rule. P2w: believed at the wrong merchant. P2x: the rule of a declared resource is
 * deleted. P3: a rule of ours in force, in no state, and not said. P4: no way out by what refusals advise.
 */
export type Property = "P1" | "P1r" | "P2a" | "P2d" | "P2w" | "P2x" | "P3" | "P4";

export interface Violation {
  readonly property: Property;
  readonly text: string;
}

const homeOf = ({ program, settings }: World, name: Name): Merchant | undefined =>
  settings[program[name]?.connection ?? ""]?.[1];

/** Judges a write of a run, before it is carried out. Whoever is adopted by a word for this run, is ours. */
export function judgeWrite(before: World, now: World, { verb, words = [] }: RunChoice, write: Write): Violation[] {
  const { kind, merchant, live } = write;
  if (live === undefined) return [];
  const isNamed = words.some(({ is, ruleId }) => is.startsWith("adopt") && ruleId === live.ruleId);
  const isKnown = rowsOf(before).some(
    ({ ruleId, definition }) => ruleId === live.ruleId && isDeepStrictEqual({ ...live.rule, ...definition }, live.rule),
  );
  const about = `${kind} of ${live.maker} rule ${merchant}/${live.ruleId}${isKnown ? " (equal to what the state knows)" : ""}`;
  const isDeclaredRule = ({ name, ruleId, merchant: at, isCondemned }: Row): boolean => {
    const resource = names.find((each) => each === name);
    const isThis = !isCondemned && ruleId === live.ruleId && at === merchant;
    return (
      resource !== undefined && isThis && homeOf(now, resource) === merchant && isAs(live.rule, now.program[resource])
    );
  };
  const rows = rowsOf(now).filter(({ ruleId }) => ruleId === live.ruleId);
  // The only row of a rule is what its own resource replaces.
  const isOfDeclared = kind === "delete" && verb.startsWith("up") && rows.length > 1 && rows.some(isDeclaredRule);
  return [
    ...(live.isMine || isNamed ? [] : [{ property: "P1", text: about } as const]),
    ...(isOfDeclared ? [{ property: "P2x", text: about } as const] : []),
  ];
}

/** Judges a run by its end, and notes what was said. */
export function judgeRun(before: World, world: World, choice: RunChoice, ended: Ended): Violation[] {
  const violations = [...(choice.verb.startsWith("up") ? judgeUp(before, world, choice, ended) : [])];
  const left = leftOf(world);
  const isSaid = (key: string): boolean => mentions(ended.text, key.slice(2)) || before.wasKilled || ended.isKilled;
  const unsaid = left.filter((key) => !isSaid(key) && !world.told.includes(key));
  if (ended.isGood && unsaid.length > 0) violations.push({ property: "P3", text: `unsaid: ${unsaid.join(", ")}` });
  const mayExist = ended.text.includes("may exist");
  const told = new Set([...world.told, ...left.filter((key) => mayExist || isSaid(key) || !ended.isGood)]);
  const isUnsure = ended.isKilled || (before.wasKilled && !ended.isGood);
  for (const name of names) {
    if (isUnsure && rowsOf(world).some((row) => row.name === name)) told.add(`row ${name}`);
    if (ended.isGood && (ended.applied.has(name) || choice.verb === "refresh")) told.delete(`row ${name}`);
  }
  world.told = [...told];
  world.wasKilled = ended.isKilled || (before.wasKilled && !ended.isGood);
  return violations;
}

function judgeUp(before: World, world: World, { wrong, words = [], verb }: RunChoice, ended: Ended): Violation[] {
  // Of a program that was changed for one run, the next run is judged.
  if (wrong !== undefined || ended.isKilled || words.some(({ is }) => is === "adopt as it is")) return [];
  const rows = rowsOf(world).filter(({ isCondemned }) => !isCondemned);
  const isAdopting = words.some(({ is }) => is.startsWith("adopt"));
  const isTold = (name: Name): boolean => world.told.includes(`row ${name}`);
  const declared = names.filter(
    (name) => world.program[name] !== undefined && !isTold(name) && homeOf(world, name) !== undefined,
  );
  const live = (at: World, row: Row | undefined) => row && liveOf(at, row.merchant, row.ruleId);
  const of = (name: Name, all: readonly Row[]): Row | undefined =>
    all.find((row) => row.name === name && !row.isCondemned);
  const lost = declared.filter((name) => {
    const was = of(name, rowsOf(before));
    const isInForce = was?.merchant === homeOf(world, name) && isAs(live(before, was)?.rule, world.program[name]);
    return isInForce && !isAs(live(world, of(name, rows))?.rule, world.program[name]);
  });
  const violations: Violation[] = [];
  if (ended.isGood || !isAdopting) violations.push(...lost.map((name) => ({ property: "P1r", text: name }) as const));
  if (!ended.isGood || verb !== "up") return violations;
  for (const name of declared) {
    const row = of(name, rows);
    const rule = live(world, row)?.rule;
    if (row !== undefined && row.merchant !== homeOf(world, name)) violations.push({ property: "P2w", text: name });
    else if (!world.isDirty && !ended.text.includes("knows it otherwise") && !isAs(rule, world.program[name]))
      violations.push({ property: "P2a", text: `${name}: ${rule === undefined ? "lost" : "otherwise"}` });
  }
  const keys = rows.map(({ merchant, ruleId }) => `${merchant}/${ruleId}`);
  if (new Set(keys).size < keys.length) violations.push({ property: "P2d", text: keys.join(", ") });
  return violations;
}

/** Rules of ours in force that no row has, as `0/7`. */
export function leftOf(world: World): string[] {
  const known = new Set(rowsOf(world).map(({ merchant, ruleId }) => `${merchant}/${ruleId}`));
  return ([0, 1] as const).flatMap((merchant) =>
    world.rules[merchant].flatMap(({ maker, ruleId }) => {
      const key = `${merchant}/${ruleId}`;
      return maker === "ours" && !known.has(key) ? [key] : [];
    }),
  );
}

function mentions(text: string, ruleId: string): boolean {
  return new RegExp(`(?<![\\w.:/-])${ruleId}(?![\\w/-])`).test(text);
}

/** The known limit of every protocol that a violation is; undefined: it must not happen. The numbers are the model's. */
export function limitOf(
  { property, text }: Violation,
  means: Means,
  scenario: string,
  trace: readonly string[],
): string | undefined {
  const { marks, identity, key, ids } = means;
  const past = trace.join("\n");
  const has = (what: string): boolean => past.includes(what);
  const isEqual = text.includes("equal to what");
  const isShort = ids === "short" || ids === "again";
  const asks = identity && !scenario.startsWith("learn");
  if (property === "P2w" && !asks && (has("settings of k") || has("other merchant's token")))
    return "L1 an unchanged run asks nobody";
  if (property === "P1" && has("hand copies") && isEqual) return "L5 a copy whose original is gone";
  if (scenario === "label-prog" && property !== "P2w") return "L14 an identity that stays while the token is another's";
  if (property === "P1" && text.includes("delete of another stack"))
    return "L3 destroy, or up of nothing, over a copied state";
  if (property === "P1" && has("given again, equal") && key) return "L12 an id given again with our natural key";
  if (ids === "again" && has("gave the new rule the id")) return "L15 an id given again within the stack";
  if (property === "P1" && has("given again") && !key && (!marks || scenario === "again-learn"))
    return "L13 no natural key, no marks: an id given again";
  if (
    has("other merchant's token") &&
    !marks &&
    !identity &&
    (isEqual || (property === "P3" && (isShort || has("KILLED"))))
  )
    return "L4 another merchant's equal rules";
  const isLosing = property === "P2a" || property === "P2x" || property === "P1r";
  if (isLosing && has("adopt") && !marks) return "L8 no marks: adopted from a resource that still has it in its state";
  return undefined;
}
