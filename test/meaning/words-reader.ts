import type { Semantics } from "../../meaning/index.ts";
import type { Bound, Comparison, Condition, Operand, Rule } from "../../meaning/language/normal-form.ts";
import { networkOf, readValue, type Value } from "../../meaning/language/values.ts";
import type { Json } from "../../sdk/json/index.ts";
import { decimalOf } from "../../sdk/json/normal-form.ts";

/**
 * Reads the words of a rule back to its normal form, for tests. It shares no code with what writes them. Lost are the places
 * in the definition, the operand as written, and which of two words with one meaning was used: `ne` or a negated `eq`,
 * `in` with one value or `eq`, a group in a group of its kind.
 */
export function readWords(words: string, semantics: Semantics, valueLists: ReadonlyMap<string, readonly Json[]>): Rule {
  return new Reader(words, semantics, valueLists).rule();
}

const at = "";
type Typed = { type: Value["type"]; list: boolean; ignoresCase: boolean | null };

class Reader {
  #rest: string;
  readonly #semantics: Semantics;
  readonly #lists: ReadonlyMap<string, readonly Json[]>;

  constructor(words: string, semantics: Semantics, lists: ReadonlyMap<string, readonly Json[]>) {
    this.#rest = words;
    this.#semantics = semantics;
    this.#lists = lists;
  }

  rule(): Rule {
    const isEnabled = !this.#takes("disabled");
    if (!isEnabled) this.#takes(", ");
    const from = this.#bound("from ", "after ");
    if (from !== undefined) this.#takes(" ");
    const until = this.#bound("until ", "before ");
    if (!isEnabled || from !== undefined || until !== undefined) this.#demand(": ");
    const whole = ["always", "never"].find((each) => this.#takes(`${each} `));
    const outcome = this.#outcome();
    const when: Condition = whole === undefined ? this.#when() : { kind: whole === "always" ? "always" : "never", at };
    const order = this.#take(/^ \([A-Za-z]+ ([^)]+)\)$/)?.[1];
    if (this.#rest !== "") throw new Error(`not read: ${this.#rest}`);
    return {
      when,
      force: { isEnabled, from, until },
      outcome,
      order: order === undefined ? undefined : this.#valueOf(order, "decimal"),
    };
  }

  #when(): Condition {
    this.#demand(" when ");
    return this.#expression();
  }

  #outcome(): string {
    for (const [verb, outcome] of [
      ["accepts", "accept"],
      ["declines", "decline"],
      ["reviews", "review"],
    ] as const)
      if (this.#takes(verb)) return outcome;
    this.#demand("gives ");
    return this.#text();
  }

  #bound(counting: string, other: string): Bound | undefined {
    const counts = this.#takes(counting);
    if (!counts && !this.#takes(other)) return undefined;
    return { instant: this.#value("instant"), counts };
  }

  #expression(): Condition {
    const parts = [this.#part()];
    const joiner = [" and ", " or "].find((each) => this.#rest.startsWith(each));
    while (joiner !== undefined && this.#takes(joiner)) parts.push(this.#part());
    if (this.#rest.startsWith(" and ") || this.#rest.startsWith(" or ")) throw new Error(`mixed: ${this.#rest}`);
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    return { kind: joiner === " and " ? "all" : "any", at, of: parts };
  }

  #part(): Condition {
    if (this.#takes("not (")) {
      const of = this.#expression();
      this.#demand(")");
      return { kind: "not", at, of };
    }
    if (this.#takes("(")) {
      const group = this.#expression();
      this.#demand(")");
      return group;
    }
    for (const kind of ["always", "never"] as const)
      if (this.#take(new RegExp(`^${kind}(?= |\\)|$)`))) return { kind, at };
    return this.#comparison();
  }

  #comparison(): Comparison {
    const field = this.#field();
    const described = this.#semantics.payment.fields[field];
    if (described === undefined) throw new Error(`no field ${field}`);
    this.#demand(" ");
    const [operator, isNegated, operand] = described.list ? this.#ofList(described) : this.#ofOne(described);
    const usual = described.type === "text" ? described.ignoresCase : false;
    const said = this.#takes(" ignoring case") ? true : this.#takes(" with exact case") ? false : usual;
    const ignoresCase = operand.kind === "none" ? false : said;
    const { patterns } = this.#semantics;
    const known: Operand =
      operand.kind === "pattern"
        ? { ...operand, isCommon: patterns?.dialect !== "re2" || ignoresCase !== false }
        : operand;
    return { kind: "comparison", at, field, operator, isNegated, ignoresCase, operand: known, written: undefined };
  }

  #ofOne({ type }: Typed): [Comparison["operator"], boolean, Operand] {
    if (this.#takes("exists")) return ["exists", false, { kind: "none" }];
    if (this.#takes("is missing")) return ["exists", true, { kind: "none" }];
    for (const [words, operator, isNegated] of [
      ["starts with ", "startsWith", false],
      ["ends with ", "endsWith", false],
      ["contains ", "contains", false],
      ["does not start with ", "startsWith", true],
      ["does not end with ", "endsWith", true],
      ["does not contain ", "contains", true],
    ] as const)
      if (this.#takes(words)) return [operator, isNegated, this.#operand(type)];
    for (const [words, isNegated] of [
      ["matches ", false],
      ["does not match ", true],
    ] as const)
      if (this.#takes(words)) {
        const source = this.#text();
        const isWhole = this.#takes(" as a whole");
        if (!isWhole) this.#demand(" in a part");
        return ["matches", isNegated, { kind: "pattern", source, isWhole, isCommon: false }];
      }
    for (const [words, operator] of (type === "instant"
      ? [
          ["is after ", "gt"],
          ["is not before ", "gte"],
          ["is before ", "lt"],
          ["is not after ", "lte"],
        ]
      : [
          ["> ", "gt"],
          [">= ", "gte"],
          ["< ", "lt"],
          ["<= ", "lte"],
        ]) as [string, "gt" | "gte" | "lt" | "lte"][])
      if (this.#takes(words)) return [operator, false, this.#operand(type)];
    this.#demand("is ");
    const isNegated = this.#takes("not ");
    if (this.#takes("in the list ")) return this.#named(type, isNegated);
    if (this.#takes("in ")) return ["inCidr", isNegated, { kind: "networks", networks: this.#networks() }];
    if (this.#takes("from ")) {
      const [isOver, from] = [this.#takes("over "), this.#value(type)];
      this.#demand(" to ");
      const [isUnder, to] = [this.#takes("under "), this.#value(type)];
      const ends = isOver ? (isUnder ? "none" : "upper") : isUnder ? "lower" : "both";
      return ["between", isNegated, { kind: "range", from, to, ends }];
    }
    if (this.#takes("one of nothing")) return ["in", isNegated, { kind: "values", values: [] }];
    const isList = this.#takes("one of ");
    if (!isList && this.#rest.startsWith("the payment's ")) return ["eq", isNegated, this.#operand(type)];
    const values = this.#values(type);
    const [only] = values;
    if (!isList && values.length === 1 && only !== undefined) return ["eq", isNegated, { kind: "value", value: only }];
    return ["in", isNegated, { kind: "values", values }];
  }

  #ofList({ type }: Typed): [Comparison["operator"], boolean, Operand] {
    if (this.#takes("exists")) return ["exists", false, { kind: "none" }];
    if (this.#takes("is missing")) return ["exists", true, { kind: "none" }];
    for (const [words, isNegated] of [
      ["is exactly ", false],
      ["is not exactly ", true],
    ] as const)
      if (this.#takes(words))
        return ["eq", isNegated, { kind: "values", values: this.#takes("nothing") ? [] : this.#values(type) }];
    for (const [words, isNegated] of [
      ["has one of ", false],
      ["has none of ", true],
    ] as const) {
      if (this.#takes(`${words}the list `)) return this.#named(type, isNegated);
      if (this.#takes(words))
        return ["in", isNegated, { kind: "values", values: this.#takes("nothing") ? [] : this.#values(type) }];
    }
    for (const [words, isNegated] of [
      ["has a text that contains ", false],
      ["has no text that contains ", true],
    ] as const)
      if (this.#takes(words)) return ["contains", isNegated, this.#operand(type)];
    const isNegated = this.#takes("does not have ");
    if (!isNegated) this.#demand("has ");
    // Of a list that contains elements both words have one meaning.
    return [this.#semantics.lists.contains === "element" ? "contains" : "eq", isNegated, this.#operand(type)];
  }

  /** A value list that the rule names. */
  #named(type: Value["type"], isNegated: boolean): [Comparison["operator"], boolean, Operand] {
    const values = this.#lists.get(this.#text()) ?? [];
    const networks = values.map(networkOf);
    if (type === "ip" && networks.every((each) => each !== undefined) && networks.length > 0)
      return ["inCidr", isNegated, { kind: "networks", networks }];
    return ["in", isNegated, { kind: "values", values: values.map((each) => this.#valueOf(each, type)) }];
  }

  #operand(type: Value["type"]): Operand {
    return this.#takes("the payment's ")
      ? { kind: "field", field: this.#field() }
      : { kind: "value", value: this.#value(type) };
  }

  #values(type: Value["type"]): Value[] {
    const values = [this.#value(type)];
    while (this.#takes(", ")) values.push(this.#value(type));
    return values;
  }

  #networks() {
    if (this.#takes("nothing")) return [];
    const networks = [];
    do {
      const network = networkOf(this.#take(/^[0-9a-f.:]+\/\d+/)?.[0] ?? null);
      if (network === undefined) throw new Error(`no network: ${this.#rest}`);
      networks.push(network);
    } while (this.#takes(", "));
    return networks;
  }

  #value(type: Value["type"]): Value {
    if (type === "text") return { type, text: this.#text() };
    if (type === "boolean") return this.#valueOf(this.#take(/^(?:true|false)/)?.[0] === "true", type);
    if (type === "ip") return this.#valueOf(this.#take(/^[0-9a-f.:]+/)?.[0] ?? null, type);
    if (type === "decimal")
      return this.#valueOf(this.#take(/^-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?/)?.[0].replaceAll(",", "") ?? null, type);
    const [, day, time = ""] = this.#take(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d(?:\.\d+)?)?) UTC/) ?? [];
    return this.#valueOf(`${day}T${time.length === 5 ? `${time}:00` : time}Z`, type);
  }

  #valueOf(written: Json, type: Value["type"]): Value {
    const value = type === "decimal" && decimalOf(written) === undefined ? undefined : readValue(written, type);
    if (value === undefined) throw new Error(`no ${type}: ${JSON.stringify(written)} before ${this.#rest}`);
    return value;
  }

  #text(): string {
    const [quoted] = this.#take(/^"(?:[^"\\]|\\.)*"/) ?? [];
    if (quoted !== undefined) return JSON.parse(quoted);
    const [plain] = this.#take(/^[A-Za-z0-9_-]+/) ?? [];
    if (plain === undefined) throw new Error(`no text: ${this.#rest}`);
    return plain;
  }

  /** A field by its words: the longest that fits. */
  #field(): string {
    if (this.#rest.startsWith('"')) return this.#text();
    const told = Object.keys(this.#semantics.payment.fields).map((name) => [
      name
        .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
        .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
        .replace(/[ ._-]+/g, " ")
        .toLowerCase(),
      name,
    ]);
    const fitting = told.filter(
      ([words = ""]) => this.#rest.startsWith(words) && !/^[a-z0-9]/.test(this.#rest.slice(words.length)),
    );
    const longest = Math.max(...fitting.map(([words = ""]) => words.length));
    const best = fitting.filter(([words = ""]) => words.length === longest);
    const [[words = "", name = ""] = []] = best;
    if (best.length !== 1) throw new Error(`${best.length} fields begin ${this.#rest}`);
    this.#demand(words);
    return name;
  }

  #takes(words: string): boolean {
    if (!this.#rest.startsWith(words)) return false;
    this.#rest = this.#rest.slice(words.length);
    return true;
  }

  #demand(words: string): void {
    if (!this.#takes(words)) throw new Error(`expected "${words}": ${this.#rest}`);
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#rest) ?? undefined;
    if (found !== undefined) this.#rest = this.#rest.slice(found[0].length);
    return found;
  }
}
