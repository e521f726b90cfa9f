import { hashOfIdentity } from "../../../../provider/merchant/identity.ts";
import { linkIn, type Site, siteIn } from "../../../../provider/merchant/site.ts";
import { caseId } from "../../../../provider/merchant/words.ts";
import { type Name, names, type Program } from "./scenarios.ts";
import type { Merchant } from "./service.ts";
import { type Ended, isAs, liveOf, merchantOf, rowsOf, type World } from "./world.ts";

/** A word that a refusal names, or another thing that it tells the user to do. */
export interface Word {
  readonly is:
    | "same"
    | "moved"
    | "adopt"
    /** Declare the rule as it is live, and adopt it, for one run. */
    | "adopt as it is"
    | "former"
    | "recover"
    | "empty state"
    | "state delete"
    | "undeclare"
    | "another name"
    | "another natural key"
    | "delete by hand"
    | "declare all fields"
    | "settings";
  /** The short id of a case, the old names, or the name of a resource or connection. */
  readonly of: string;
  readonly ruleId?: string;
}

/** The words that the refusals of a run name. */
export function wordsIn({ failures }: Ended): Word[] {
  const all = failures.flatMap(({ name, message }) => wordsOf(name, message));
  return [...new Map(all.map((word) => [JSON.stringify(word), word])).values()];
}

function wordsOf(name: string, message: string): Word[] {
  const other = /resource "[^"]*\/(\w)"/.exec(message)?.[1] ?? name;
  const all = (pattern: RegExp, make: (found: string) => Word | Word[]): Word[] =>
    [...message.matchAll(pattern)].flatMap(([, found = ""]) => make(found));
  const adopt = message.includes("declare it as it is at the service") ? "adopt as it is" : "adopt";
  const ids = [...message.matchAll(/\brules? ((?:[\w-]+(?:, )?)+)/g)].flatMap(([, found = ""]) => found.split(", "));
  const recovering = (of: string): Word[] => ids.map((ruleId) => ({ is: "recover", of, ruleId }));
  const another: Word = { is: "another natural key", of: name, ruleId: ids[0] ?? "" };
  return [
    ...all(/MERCHANT_RULES_SAME=(\w{4})\b/g, (of) => ({ is: "same", of })),
    ...all(/MERCHANT_RULES_MOVED=(\w{4})\b/g, (of) => ({ is: "moved", of })),
    ...all(/adopt: "([\w-]+)"/g, (ruleId) => ({ is: adopt, of: name, ruleId })),
    ...all(/MERCHANT_RULES_FORMER_NAMES=(\S+\/\w+)/g, (of) => ({ is: "former", of })),
    ...(message.includes("adopt:") ? [] : all(/MERCHANT_RULES_RECOVER=(\w{4})\b/g, recovering)),
    ...(message.includes("adopt:") ? [] : all(/(declare yours with another natural key)/g, () => another)),
    ...all(/(begin with an empty state)/gi, () => ({ is: "empty state", of: "" })),
    ...all(/(remove the other one's row|remove the resource's row)/g, (what) => ({
      is: "state delete",
      of: what.includes("other") ? other : name,
    })),
    ...all(/(declare the rule once)/g, () => [name, other].map((of) => ({ is: "undeclare", of }))),
    ...all(/(give this resource another name)/g, () => ({ is: "another name", of: name })),
    ...all(/(deleted first, at the service|have the rule deleted|delete at the service the rules)/g, () =>
      ids.map((ruleId) => ({ is: "delete by hand", of: name, ruleId })),
    ),
    ...all(/(declare these fields)/g, () => ({ is: "declare all fields", of: name })),
    ...all(/connection "(\w)" lacks/g, (of) => ({ is: "settings", of })),
  ];
}

/** What the next run is, when the user does what a refusal says: another world, and a word for that run. */
export interface Followed {
  readonly world: World;
  readonly words: readonly Word[];
}

/** Does what a word says, where it is true; undefined where a user who knows all would not. */
export function follow(before: World, word: Word): Followed | undefined {
  const world = structuredClone(before);
  const { is, of } = word;
  const name = names.find((each) => each === of);
  const said = { world, words: [word] };
  const done = { world, words: [] };
  switch (is) {
    case "same":
    case "moved": {
      const pairs = pairsOf(before, of);
      return pairs.length > 0 && pairs.every((isSame) => isSame === (is === "same")) ? said : undefined;
    }
    case "adopt":
    case "adopt as it is":
      return name !== undefined && mayAdopt(before, name, word.ruleId ?? "") ? said : undefined;
    case "former":
      return before.became === "renamed" ? said : undefined;
    case "recover":
      return isMine(before, word) ? said : undefined;
    case "empty state":
      if (before.became !== "copy") return undefined;
      world.state = [];
      world.became = undefined;
      return done;
    case "state delete":
      return name !== undefined && isToForget(before, name)
        ? {
            ...done,
            world: { ...world, state: world.state.filter((each) => each.kind !== "rule" || each.name !== name) },
          }
        : undefined;
    case "undeclare":
      if (name === undefined) return undefined;
      world.program = without(world.program, name);
      return done;
    case "another name":
      if (name === undefined || [name, "C"].some((each) => rowsOf(before).some((row) => row.name === each)))
        return undefined;
      world.program = { ...without(world.program, name), ...(world.program[name] && { C: world.program[name] }) };
      return done;
    case "another natural key": {
      const own = name && world.program[name];
      if (name === undefined || own === undefined || isMine(before, word)) return undefined;
      world.program = { ...world.program, [name]: { ...own, key: "n" } };
      return done;
    }
    case "delete by hand":
      return name !== undefined && isDeleted(world, name, word.ruleId ?? "") ? done : undefined;
    case "declare all fields":
      for (const rules of world.rules)
        rules.splice(0, rules.length, ...rules.map((each) => ({ ...each, rule: withoutNote(each.rule) })));
      return done;
    case "settings":
      world.settings = { ...world.settings, [of]: ["127.0.0.1", 0, 0] };
      return done;
  }
}

function isMine(world: World, { ruleId = "" }: Word): boolean {
  return ([0, 1] as const).some((merchant) => liveOf(world, merchant, ruleId)?.isMine);
}

function without(program: Program, name: Name): Program {
  return Object.fromEntries(Object.entries(program).filter(([each]) => each !== name));
}

function withoutNote({ note: _, ...rule }: World["rules"][0][0]["rule"]) {
  return rule;
}

/** Of each pair of a place in the state and a connection now that has this short id: whether both are one merchant's. */
function pairsOf(world: World, id: string): boolean[] {
  const { state, settings } = world;
  const ownerId = state.find(({ kind }) => kind === "owner")?.id ?? "";
  const links = state.flatMap(({ outputs }) => linkIn(outputs.link)?.site ?? []);
  const sites = [...state.flatMap(({ outputs }) => siteIn(outputs.at) ?? []), ...links];
  const addresses = new Set(sites.map(({ address }) => address));
  return Object.entries(settings).flatMap(([connection, setting]) => {
    if (setting === undefined) return [];
    const merchant: Merchant = setting[1];
    const isOfCase = (site: Site): boolean =>
      [null, hashOfIdentity(`merchant-${merchant}`)].some((identity) =>
        [...addresses, ...[...addresses].map((each) => each.replace("127.0.0.1", setting[0]))]
          .filter((address) => address.includes(setting[0]))
          .some((address) => caseId(ownerId, site, { connection, address, key: null, identity }) === id),
      );
    return sites.filter(isOfCase).map((site) => merchantOf(site, world) === merchant);
  });
}

/** A user adopts what he takes for his own: not a rule that somebody made with another natural key. */
function mayAdopt(world: World, name: Name, ruleId: string): boolean {
  const declared = world.program[name];
  const setting = declared && world.settings[declared.connection];
  if (declared === undefined || setting === undefined) return false;
  const live = liveOf(world, setting[1], ruleId);
  const hasRow = rowsOf(world).some((row) => row.name === name);
  return !(live !== undefined && hasRow && !live.isMine && live.rule.name !== declared.key);
}

/** A row is not removed that alone has a rule of ours. */
function isToForget(world: World, name: Name): boolean {
  const rows = rowsOf(world);
  return rows
    .filter((row) => row.name === name)
    .every(({ merchant, ruleId, definition }) => {
      const live = liveOf(world, merchant, ruleId);
      const isOurs = live?.isMine === true && live.rule.name === definition.name;
      return !isOurs || rows.some((other) => other.name !== name && other.ruleId === ruleId);
    });
}

function isDeleted(world: World, name: Name, ruleId: string): boolean {
  const merchant = world.settings[world.program[name]?.connection ?? ""]?.[1];
  const live = liveOf(world, merchant, ruleId);
  const isDeclared = rowsOf(world).some(
    (row) =>
      row.merchant === merchant &&
      row.ruleId === ruleId &&
      names.some((each) => each === row.name && world.program[each]),
  );
  if (merchant === undefined || live === undefined || isDeclared) return false;
  world.rules[merchant].splice(world.rules[merchant].indexOf(live), 1);
  return true;
}

/** The program of one run: what is adopted as it is, is declared so. */
export function programFor(world: World, words: readonly Word[]): Program {
  const entries = words.flatMap(({ is, of, ruleId = "" }) => {
    const name = names.find((each) => each === of);
    const declared = name && world.program[name];
    const live = declared && liveOf(world, world.settings[declared.connection]?.[1], ruleId);
    if (is !== "adopt as it is" || live === undefined) return [];
    return [[of, { ...declared, key: String(live.rule.name), value: Number(live.rule.priority) }] as const];
  });
  return { ...world.program, ...Object.fromEntries(entries) };
}

/** True once all is as declared, where it is declared. */
export function isAsDeclared(world: World): boolean {
  const rows = rowsOf(world);
  return names.every((name) => {
    const declared = world.program[name];
    const own = rows.filter((row) => row.name === name);
    if (declared === undefined) return own.length === 0;
    const [row, ...others] = own;
    const merchant = world.settings[declared.connection]?.[1];
    return (
      row !== undefined &&
      others.length === 0 &&
      row.merchant === merchant &&
      isAs(liveOf(world, merchant, row.ruleId)?.rule, declared)
    );
  });
}
