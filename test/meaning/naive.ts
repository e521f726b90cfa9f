import type { JsonObject } from "../../sdk/json/index.ts";

/**
 * A second reading of what rules mean, for tests: it follows the words of the description alone and shares no code with the product.
 * It knows one way of writing rules, and is slow: what is not known is tried out in every way that it could be.
 */

export type Leaf = {
  field: string;
  op: string;
  value?: unknown;
  other?: string;
  list?: string;
  not?: boolean;
};
export type Tree = Leaf | { all: Tree[] } | { any: Tree[] } | { not: Tree };
export interface NaiveRule {
  when: Tree[];
  enabled: boolean;
  from?: string;
  until?: string;
  action: string;
  priority: number;
}
export interface NaiveField {
  type: "decimal" | "text" | "boolean" | "instant" | "ip";
  list?: boolean;
  /** null: not known. */
  ignoresCase?: boolean | null;
}
export interface World {
  fields: Record<string, NaiveField>;
  missing: "unknown" | "comparisonFalse" | { value: string };
  undecidedRule: "noMatch" | "unknown";
  listEq: "anyElement" | "wholeList";
  listContains: "element" | "textOfElement";
  join: "all" | "any";
  wins: "order" | "precedence" | "listed" | "all";
  equal: "unknown" | "firstListed" | "lastListed" | "precedence";
  precedence: string[];
  none: string | null;
  valueLists: Record<string, unknown[]>;
  /** Undefined where rules have no patterns; null where the semantics do not say what they are. */
  patterns?: { dialect: "re2" | "java"; anchoring: "whole" | "part" } | null;
}

/** true, false, "undecided" (the service's own third value), or "?" (nobody knows). */
type Truth = true | false | "undecided" | "?";
type Exact = { compare: (other: Exact) => number; raw: unknown };

/** Null where it is not of the type. */
function exact(value: unknown, type: NaiveField["type"], ignoresCase = false): Exact | null {
  if (type === "decimal") {
    const text = typeof value === "number" ? `${value}` : value;
    if (typeof text !== "string") return null;
    const parts = text.match(/^(-?)(0|[1-9][0-9]*)(\.([0-9]+))?([eE]([+-]?[0-9]+))?$/);
    if (parts === null) return null;
    // As a whole number of the 60th part after the point: enough for what these tests make.
    const shift = 60 - (parts[4] ?? "").length + Number(parts[6] ?? 0);
    const whole = BigInt((parts[1] ?? "") + (parts[2] ?? "") + (parts[4] ?? "")) * 10n ** BigInt(shift);
    return made(whole, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
  }
  if (type === "boolean") return value === true || value === false ? made(value, (a, b) => (a === b ? 0 : 1)) : null;
  if (typeof value !== "string") return null;
  if (type === "text") {
    const points = [...value].map((each) => {
      const point = each.codePointAt(0) ?? 0;
      return ignoresCase && point >= 65 && point <= 90 ? point + 32 : point;
    });
    return made(points, (a, b) => {
      for (let i = 0; i < a.length || i < b.length; i += 1) {
        const [x, y] = [a[i] ?? -1, b[i] ?? -1];
        if (x !== y) return x - y;
      }
      return 0;
    });
  }
  if (type === "instant") {
    const parts = value.match(/^(\d\d\d\d)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|([+-])(\d\d):(\d\d))$/);
    if (parts === null) return null;
    const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const days = [
      31,
      (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28,
      31,
      30,
      31,
      30,
      31,
      31,
      30,
      31,
      30,
      31,
    ];
    if (month < 1 || month > 12 || day < 1 || day > (days[month - 1] ?? 0) || hour > 23 || minute > 59 || second > 59)
      return null;
    const offset = parts[8] === "Z" ? 0 : (parts[9] === "-" ? -1 : 1) * (Number(parts[10]) * 60 + Number(parts[11]));
    if (Number(parts[10] ?? 0) > 23 || Number(parts[11] ?? 0) > 59) return null;
    const seconds = BigInt(Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - offset * 60);
    const nanos = BigInt(`${(parts[7] ?? ".").slice(1)}000000000000`.slice(0, 12));
    return made(seconds * 10n ** 12n + nanos, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
  }
  const address = addressOf(value);
  return address === null ? null : made(address, (a, b) => (a === b ? 0 : 1));
}

function made<Raw>(raw: Raw, compare: (a: Raw, b: Raw) => number): Exact {
  return { raw, compare: (other) => compare(raw, other.raw as Raw) };
}

/** `4:` or `6:` and the address as a number. */
function addressOf(text: string): string | null {
  const four = text.split(".");
  if (four.length === 4 && !text.includes(":")) {
    if (!four.every((part) => /^(0|[1-9]\d?\d?)$/.test(part) && Number(part) < 256)) return null;
    return `4:${four.reduce((sum, part) => sum * 256n + BigInt(part), 0n)}`;
  }
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [before = [], after = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (![...before, ...after].every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return null;
  const gap = 8 - before.length - after.length;
  if (halves.length === 1 ? gap !== 0 : gap < 1) return null;
  const groups = [...before, ...Array(gap).fill("0"), ...after];
  const number = groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
  return number >> 32n === 0xffffn ? null : `6:${number}`;
}

/** Null where the network cannot be read. */
function inNetwork(address: string, cidr: unknown): boolean | null {
  const [network, size, more] = typeof cidr === "string" ? cidr.split("/") : [];
  if (network === undefined || size === undefined || more !== undefined || !/^\d+$/.test(size)) return null;
  const base = addressOf(network);
  if (base === null) return null;
  const width = base.startsWith("4") ? 32 : 128;
  if (Number(size) > width) return null;
  const shift = BigInt(width - Number(size));
  const [a, b] = [BigInt(base.slice(2)), BigInt(address.slice(2))];
  if ((a >> shift) << shift !== a) return null;
  return base[0] === address[0] && a >> shift === b >> shift;
}

/** Patterns by hand: whether RE2 can read each, and all dialects alike. JavaScript reads those of RE2 as RE2 does. */
export const patterns: Record<string, "alike" | "re2" | "none"> = {
  a: "alike",
  "^a": "alike",
  b$: "alike",
  "^[A-Z]b?$": "alike",
  "(a+)+$": "alike",
  "k|s": "alike",
  "[^a]": "alike",
  "^.{1,2}$": "alike",
  "\\w\\d?": "alike",
  é: "re2",
  "\\p{L}c": "re2",
  "a(?=b)": "none",
  "(a": "none",
  "a{3,2}": "none",
};

/** Null where the pattern cannot be read, "?" where it is not known how the service reads the text. */
function matches(text: string, source: unknown, ignoresCase: boolean, world: World): boolean | "?" | null {
  if (!world.patterns || typeof source !== "string") return null;
  const { dialect, anchoring } = world.patterns;
  const kind = patterns[source] ?? "none";
  // No dialect has a case of ASCII alone.
  const isAlike = dialect !== "re2" || ignoresCase;
  if (kind === "none" || (isAlike && kind !== "alike")) return null;
  if (isAlike && [...text].some((each) => each < " " || each > "~")) return "?";
  const whole = anchoring === "whole" ? `^(?:${source})$` : source;
  return new RegExp(whole, ignoresCase ? "iu" : "u").test(text);
}

/** One comparison; null where the rule cannot be read. */
function leaf(condition: Leaf, payment: JsonObject, world: World): Truth | null {
  const described = world.fields[condition.field];
  if (described === undefined) return null;
  const { type, list = false } = described;
  if (type === "text" && described.ignoresCase === null) {
    const [one, other] = [true, false].map((ignoresCase) =>
      leaf(condition, payment, {
        ...world,
        fields: { ...world.fields, [condition.field]: { ...described, ignoresCase } },
      }),
    );
    if (one === null || other === null || one === undefined || other === undefined) return null;
    return one === other ? one : "?";
  }
  const ignoresCase = described.ignoresCase ?? false;
  const { op, not: turned = false } = condition;
  const read = (value: unknown): Exact | null => exact(value, type, ignoresCase);
  const legal: Record<string, string> = {
    decimal: "eq ne in notIn gt gte lt lte between exists absent",
    text: "eq ne in notIn gt gte lt lte between startsWith endsWith contains matches exists absent",
    boolean: "eq ne in notIn exists absent",
    instant: "eq ne in notIn gt gte lt lte between exists absent",
    ip: "eq ne in notIn inCidr exists absent",
  };
  const ofLists = ["eq", "ne", "exists", "absent", ...(world.listEq === "anyElement" ? ["in", "notIn"] : [])];
  if (list && (world.listContains === "element" || type === "text")) ofLists.push("contains");
  if (!(list ? ofLists : (legal[type] ?? "").split(" ")).includes(op)) return null;

  const given = payment[condition.field] ?? null;
  if (op === "exists" || op === "absent") {
    if (condition.value !== undefined || condition.other !== undefined || condition.list !== undefined) return null;
    return ((given !== null) === (op === "exists")) !== turned;
  }

  // The operand, as the rule has it.
  let operand: unknown = condition.value ?? null;
  if (condition.list !== undefined) {
    if (condition.value !== undefined || condition.other !== undefined) return null;
    if (!["in", "notIn", "inCidr"].includes(op)) return null;
    operand = world.valueLists[condition.list] ?? null;
  }
  const isWhole = list && (op === "eq" || op === "ne") && world.listEq === "wholeList";
  if (condition.other !== undefined) {
    if (condition.value !== undefined || isWhole) return null;
    const other = world.fields[condition.other];
    if (other === undefined || other.type !== type || other.list) return null;
    if (!["eq", "ne", "gt", "gte", "lt", "lte", "startsWith", "endsWith", "contains"].includes(op)) return null;
  } else {
    if (operand === null) return null;
    if (op === "in" || op === "notIn" || isWhole) {
      if (!Array.isArray(operand) || operand.some((each) => read(each) === null)) return null;
    } else if (op === "inCidr") {
      const networks = Array.isArray(operand) ? operand : [operand];
      if (networks.some((each) => inNetwork("4:0", each) === null)) return null;
    } else if (op === "between") {
      if (!Array.isArray(operand)) return null;
      const [low, high] = [read(operand[0]), read(operand[1])];
      if (low === null || high === null || low.compare(high) > 0) return null;
    } else if (op === "matches") {
      if (matches("", operand, ignoresCase, world) === null) return null;
    } else if (read(operand) === null) return null;
  }

  // What is missing.
  const names = [condition.field, ...(condition.other === undefined ? [] : [condition.other])];
  const raw = names.map((name) => {
    const value = payment[name] ?? null;
    return value === null && typeof world.missing === "object" ? world.missing.value : value;
  });
  if (raw.some((value) => value === null)) return world.missing === "comparisonFalse" ? false : "undecided";
  const [own, second] = raw;
  const values = list ? (Array.isArray(own) ? own.map(read) : [null]) : [read(own)];
  if (values.some((value) => value === null)) return "?";
  const known = values as Exact[];
  if (condition.other !== undefined) {
    operand = second;
    if (read(operand) === null) return "?";
  }
  if (op === "matches") {
    const found = matches(String(own), operand, ignoresCase, world);
    return typeof found === "boolean" ? found !== turned : found;
  }
  const to = read(operand);
  const textOf = (value: Exact): string => (value.raw as number[]).map((point) => String.fromCodePoint(point)).join("");
  const equal = (): boolean =>
    isWhole
      ? known.length === (operand as unknown[]).length &&
        known.every((value, index) => read((operand as unknown[])[index])?.compare(value) === 0)
      : known.some((value) => to !== null && value.compare(to) === 0);
  const oneOf = (): boolean =>
    known.some((value) => (operand as unknown[]).some((each) => read(each)?.compare(value) === 0));
  const order = (): number => (to === null || known[0] === undefined ? 0 : known[0].compare(to));
  const texts = (test: (text: string, part: string) => boolean): boolean =>
    known.some((value) => to !== null && test(textOf(value), textOf(to)));
  const answers: Record<string, () => boolean> = {
    eq: equal,
    ne: () => !equal(),
    in: oneOf,
    notIn: () => !oneOf(),
    gt: () => order() > 0,
    gte: () => order() >= 0,
    lt: () => order() < 0,
    lte: () => order() <= 0,
    // Both ends count in these tests' rules.
    between: () => {
      const [low, high] = (operand as unknown[]).map(read);
      const value = known[0];
      return !!low && !!high && !!value && value.compare(low) >= 0 && value.compare(high) <= 0;
    },
    startsWith: () => texts((text, part) => text.slice(0, part.length) === part),
    endsWith: () => texts((text, part) => part === "" || text.slice(-part.length) === part),
    contains: () =>
      list && world.listContains === "element"
        ? equal()
        : texts((text, part) => text.split(part).length > 1 || part === ""),
    inCidr: () =>
      (Array.isArray(operand) ? operand : [operand]).some((each) => inNetwork(known[0]?.raw as string, each) === true),
  };
  return answers[op]?.() !== turned;
}

/** Every unknown of a tree is tried as true, false and undecided; null where it cannot be read. */
function truthsOf(tree: Tree, payment: JsonObject, world: World): Set<Exclude<Truth, "?">> | null {
  if ("all" in tree || "any" in tree) {
    const parts = "all" in tree ? tree.all : tree.any;
    if (parts.length === 0) return null;
    const below = parts.map((part) => truthsOf(part, payment, world));
    let combined: Set<Exclude<Truth, "?">> | undefined;
    for (const set of below) {
      if (set === null) return null;
      const joined = new Set<Exclude<Truth, "?">>();
      for (const one of combined ?? [undefined])
        for (const other of set) {
          const ends = "any" in tree;
          if (one === undefined) joined.add(other);
          else if (one === ends || other === ends) joined.add(ends);
          else joined.add(one === "undecided" || other === "undecided" ? "undecided" : !ends);
        }
      combined = joined;
    }
    return combined ?? null;
  }
  if ("not" in tree && typeof tree.not === "object") {
    const below = truthsOf(tree.not, payment, world);
    return below && new Set([...below].map((each) => (each === "undecided" ? each : !each)));
  }
  const found = leaf(tree as Leaf, payment, world);
  if (found === null) return null;
  return found === "?" ? new Set([true, false, "undecided" as const]) : new Set([found]);
}

export interface NaiveAnswer {
  rules: ("true" | "false" | "unknown")[];
  /** The outcomes, "/" between them, of every way in which the unknown rules may turn out; "?" where one cannot be told. */
  decisions: Set<string>;
}

/** @param unlisted the rules that the service's list may have anywhere, by index; of those with one number the order is known */
export function naive(
  payment: JsonObject,
  rules: readonly NaiveRule[],
  world: World,
  at: string,
  unlisted: ReadonlyMap<number, number> = new Map(),
): NaiveAnswer {
  const now = exact(at, "instant");
  const possible = rules.map((rule): boolean[] => {
    const isOver = (text: string | undefined, test: (order: number) => boolean): boolean => {
      const bound = text === undefined ? null : exact(text, "instant");
      return bound !== null && now !== null && test(now.compare(bound));
    };
    // From counts itself, until does not.
    const isOut = !rule.enabled || isOver(rule.from, (order) => order < 0) || isOver(rule.until, (order) => order >= 0);
    if (isOut) return [false];
    const truths = truthsOf(world.join === "all" ? { all: rule.when } : { any: rule.when }, payment, world);
    if (truths === null) return [true, false];
    const settled = [...truths].flatMap((each) =>
      each === "undecided" ? (world.undecidedRule === "noMatch" ? [false] : [true, false]) : [each],
    );
    return [...new Set(settled)];
  });
  const decisions = new Set<string>();
  const ways = possible.reduce<boolean[][]>(
    (all, each) => all.flatMap((way) => each.map((one) => [...way, one])),
    [[]],
  );
  for (const order of orders([...rules.keys()], unlisted))
    for (const way of ways)
      for (const decision of decided(
        order.flatMap((index) => rules[index] ?? []),
        order.map((index) => way[index] ?? false),
        world,
      ))
        decisions.add(decision);
  return {
    rules: possible.map((each) => (each.length === 2 ? "unknown" : each[0] ? "true" : "false")),
    decisions,
  };
}

/** Every order in which the service may list the rules. */
function orders(rules: readonly number[], unlisted: ReadonlyMap<number, number>): number[][] {
  if (rules.length < 2) return [[...rules]];
  return rules.flatMap((first) => {
    const isLater = rules.some((other) => other < first && unlisted.get(other) === unlisted.get(first));
    const rest = rules.filter((other) => other !== first);
    return isLater ? [] : orders(rest, unlisted).map((order) => [first, ...order]);
  });
}

/** The decisions that are possible when it is known which rules apply: several only where equal numbers leave it open. */
function decided(rules: readonly NaiveRule[], applies: readonly boolean[], world: World): string[] {
  const matched = rules.map((rule, index) => ({ ...rule, index })).filter((_, index) => applies[index]);
  if (matched.length === 0) return [world.none ?? "?"];
  const strongest = (some: typeof matched): string[] => {
    const first = world.precedence.find((outcome) => some.some(({ action }) => action === outcome));
    return first === undefined ? ["?"] : [first];
  };
  if (world.wins === "all") return [[...new Set(matched.map(({ action }) => action))].sort().join("/")];
  if (world.wins === "listed") return [matched[0]?.action ?? "?"];
  if (world.wins === "precedence") return strongest(matched);
  const top = Math.max(...matched.map(({ priority }) => priority));
  const equals = matched.filter(({ priority }) => priority === top);
  if (world.equal === "firstListed") return [equals[0]?.action ?? "?"];
  if (world.equal === "lastListed") return [equals.at(-1)?.action ?? "?"];
  if (world.equal === "precedence") return strongest(equals);
  return [...new Set(equals.map(({ action }) => action))];
}
