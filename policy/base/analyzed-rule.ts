import type { PolicyResource, ResourceValidationArgs } from "@pulumi/policy";
import { ruleType, setType } from "../../provider/host/types.ts";
import {
  definitionOf,
  isAtOrBelow,
  isJsonObject,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
  walk,
  withValueAt,
} from "../../sdk/json/index.ts";
import { type PlacedValue, placesAt } from "./places.ts";
import { knownJson, read, UnknownRead, type UnknownValue } from "./shown-values.ts";

/** A resource as the policy host shows it, to a resource policy or to a stack policy. */
export type AnalyzedResource = Pick<
  PolicyResource | ResourceValidationArgs,
  "type" | "props" | "urn" | "name" | "opts"
>;

/** Returns whether a resource declares rules. */
export function declaresRules({ type }: Pick<AnalyzedResource, "type">): boolean {
  return type === ruleType || type === setType;
}

/** Returns the rules that a resource declares: one for a MerchantRule, one for each key of a MerchantRuleSet; else none. */
export function rulesOf(resource: AnalyzedResource): AnalyzedRule[] {
  if (resource.type === ruleType) return [declared(resource, resource.name, resource.props, "definition")];
  if (resource.type !== setType) return [];
  const rules = read(resource.props, "rules");
  if (rules instanceof UnknownRead)
    return [new AnalyzedRule(resource, undefined, {}, [{ path: [], error: rules.error }])];
  if (typeof rules !== "object" || rules === null) return [];
  return Object.keys(rules).map((key) => declared(resource, key, rules, key));
}

/**
 * Returns whether the preview shows a resource as it is deployed: then the id of its rule, or the ids of its rules, are known.
 * For a resource that will be made or changed the engine shows what the program says, which has no ids.
 */
export function isAsDeployed({ type, props }: AnalyzedResource): boolean {
  const ids = read(props, type === setType ? "ruleIds" : "ruleId");
  return ids !== undefined && !(ids instanceof UnknownRead);
}

/** Returns whether one of the names in a configuration is the key of a rule, `<resource>/<key>`, or the name of its resource. */
export function isRuleAmong(names: readonly string[], resource: string, key: string): boolean {
  return names.includes(key) || names.includes(resource) || names.includes(`${resource}/${key}`);
}

function declared(resource: AnalyzedResource, key: string, holder: object, field: string): AnalyzedRule {
  const unknown: UnknownValue[] = [];
  const definition = definitionOf(knownJson(read(holder, field), unknown) ?? {});
  return new AnalyzedRule(resource, key, isJsonObject(definition) ? definition : {}, unknown);
}

/** A rule as the program declares it, as far as it is known before the run. */
export class AnalyzedRule {
  /** The rule's key in its set, or the name of its MerchantRule; undefined for all rules of a set that is not known. */
  readonly key: string | undefined;
  /** The definition without the values that are not known yet. */
  readonly definition: JsonObject;
  readonly resource: AnalyzedResource;
  readonly #unknown: readonly UnknownValue[];
  readonly #met = new Set<UnknownValue>();
  #unknownConnection: Error | undefined;

  constructor(
    resource: AnalyzedResource,
    key: string | undefined,
    definition: JsonObject,
    unknown: readonly UnknownValue[],
  ) {
    this.resource = resource;
    this.key = key;
    this.definition = definition;
    this.#unknown = unknown;
  }

  /** The name of the rule in messages: its key, or its resource where the keys are not known. */
  get label(): string {
    return this.key ?? `the rules of ${this.resource.name}`;
  }

  /**
   * The connection that the rule belongs to; two connections are two merchants, or two services. One that is not known
   * yet is noted, and is no other resource's.
   */
  get connection(): string {
    return this.knownConnection ?? `of ${this.resource.urn}`;
  }

  /** The same; undefined of one that is not known yet, which is noted. */
  get knownConnection(): string | undefined {
    const connection = read(this.resource.props, "connection");
    if (connection instanceof UnknownRead) {
      this.#unknownConnection = connection.error;
      return undefined;
    }
    return typeof connection === "string" ? connection : "default";
  }

  /**
   * Returns the values at a pointer, in which `*` stands for every element or field. Values that are not known yet are left out,
   * and noted.
   * @param depth `shallow` for a check that does not look into the values: unknown values inside them are not noted
   */
  at(pattern: Pointer, depth: "deep" | "shallow" = "deep"): PlacedValue[] {
    this.isUnknown(pattern, depth);
    return placesAt(this.definition, pattern).filter((place) => this.#isKnown(place));
  }

  /**
   * Returns every value of the definition, at any depth, without those that the exceptions name and the values inside them.
   * Values that are not known yet are left out, and noted.
   */
  everywhere(except: readonly Pointer[] = []): PlacedValue[] {
    const isExcepted = (path: Path): boolean => except.some((pattern) => isAtOrBelow(path, pattern));
    this.#note(this.#unknown.filter(({ path }) => !isExcepted(path)));
    const places: PlacedValue[] = [];
    walk<never>(this.definition, (value, { path }) => {
      if (!isExcepted(path)) places.push(placeOf([...path], value));
      return undefined;
    });
    return this.#unknown.length === 0 ? places : places.filter((place) => this.#isKnown(place));
  }

  /**
   * Returns whether a value at a pointer, around it or inside it is not known yet. Such a value is noted.
   * @param depth `shallow`: not inside it
   */
  isUnknown(pattern: Pointer, depth: "deep" | "shallow" = "deep"): boolean {
    const met = this.#unknownAt(pattern, depth);
    this.#note(met);
    return met.length > 0;
  }

  /** Returns the definition with a mark in the place of each value that is not known yet; these are noted. */
  marked(mark: Json): Json {
    this.isUnknown("");
    return this.#unknown.reduce<Json>(
      (definition, { path }) => withValueAt(definition, pointerOf(path), mark),
      this.definition,
    );
  }

  /** The paths of values that are not known yet. They are not noted. */
  get unknownPaths(): readonly Path[] {
    return this.#unknown.map(({ path }) => path);
  }

  /** Returns whether one of the names in a configuration is the rule's key, `<set>/<key>`, or its resource's name. */
  isAmong(names: readonly string[]): boolean {
    const { name } = this.resource;
    return this.key === undefined ? names.includes(name) : isRuleAmong(names, name, this.key);
  }

  /** The places that were asked for and are not known yet. */
  get notes(): readonly { readonly pointer: Pointer; readonly error: Error }[] {
    const notes = [...this.#met].map(({ path, error }) => ({ pointer: pointerOf(path), error }));
    const error = this.#unknownConnection;
    return error === undefined ? notes : [...notes, { pointer: "connection", error }];
  }

  #note(unknown: readonly UnknownValue[]): void {
    for (const each of unknown) this.#met.add(each);
  }

  #unknownAt(pattern: Pointer, depth: "deep" | "shallow"): readonly UnknownValue[] {
    if (this.#unknown.length === 0) return [];
    const segments = segmentsOf(pattern);
    return this.#unknown.filter(
      ({ path }) =>
        (depth === "deep" || path.length <= segments.length) &&
        path.every((step, index) => {
          const segment = segments[index];
          return segment === undefined || segment === "*" || segment === String(step);
        }),
    );
  }

  /** Returns whether a place is known: an element of an array that is not known yet has a null in its place. */
  #isKnown({ pointer }: PlacedValue): boolean {
    return this.#unknown.every(({ path }) => pointerOf(path) !== pointer);
  }
}

/** Returns a place whose pointer is made on first use, because few of all places are ever named. */
function placeOf(path: Path, value: Json): PlacedValue {
  return {
    get pointer() {
      return pointerOf(path);
    },
    value,
  };
}
