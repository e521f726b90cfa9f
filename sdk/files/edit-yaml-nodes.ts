import * as Yaml from "yaml";
import { asWritten, canonical, isEqual } from "../json/canonical.ts";
import { field, isJsonArray, isJsonObject, type Json, type JsonObject } from "../json/json.ts";

/** Arrays of more elements than this are compared by position: to align them would take too long. */
const mostAligned = 2_000;

/** Changes the nodes of a YAML document from one value to another. A node whose value stays is not touched. */
export class NodeEdit {
  readonly #document: Yaml.Document;

  constructor(document: Yaml.Document) {
    this.#document = document;
  }

  /** Returns the node of the new value: the same one, changed, wherever it can be. */
  changed(node: unknown, before: Json, after: Json): unknown {
    if (isEqual(before, after, asWritten)) return node;
    if (Yaml.isMap(node) && isJsonObject(before) && isJsonObject(after)) this.#changeMap(node, before, after);
    else if (Yaml.isSeq(node) && isJsonArray(before) && isJsonArray(after)) this.#changeSeq(node, before, after);
    else if (Yaml.isScalar(node) && (typeof after !== "object" || after === null)) this.#changeScalar(node, after);
    else return this.#inPlaceOf(node, after);
    return node;
  }

  #changeMap(map: Yaml.YAMLMap, before: JsonObject, after: JsonObject): void {
    for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) map.delete(name);
    for (const [name, value] of Object.entries(after)) {
      const pair = map.items.find(({ key }) => Yaml.isScalar(key) && key.value === name);
      if (pair === undefined) map.add(this.#document.createPair(name, value, created));
      else pair.value = this.changed(pair.value, field(before, name) ?? null, value);
    }
  }

  /** Lets elements that are on both sides keep their nodes, wherever they stand now; others are changed in their places. */
  #changeSeq(seq: Yaml.YAMLSeq, before: readonly Json[], after: readonly Json[]): void {
    const nodes: unknown[] = [];
    let from = 0;
    const add = (until: number, values: readonly Json[]): void => {
      for (const [offset, value] of values.entries()) {
        const at = from + offset;
        nodes.push(at < until ? this.changed(seq.items[at], before[at] ?? null, value) : this.#newElement(seq, value));
      }
    };
    let done = 0;
    for (const [at, index] of [...aligned(before, after), [before.length, after.length] as const]) {
      add(at, after.slice(done, index));
      if (at < before.length) nodes.push(seq.items[at]);
      [from, done] = [at + 1, index + 1];
    }
    seq.items = nodes;
  }

  #changeScalar(scalar: Yaml.Scalar, value: Json): void {
    if (typeof scalar.value !== "string" || typeof value !== "string") delete scalar.type;
    delete scalar.source;
    delete scalar.format;
    delete scalar.minFractionDigits;
    scalar.value = value;
  }

  /** Makes a node in the form of its neighbours. */
  #newElement(seq: Yaml.YAMLSeq, value: Json): unknown {
    const node = this.#document.createNode(value, created);
    const others = seq.items.filter((each) => Yaml.isCollection(each));
    if (Yaml.isCollection(node) && others.length > 0) node.flow = others.every((each) => each.flow === true);
    return node;
  }

  #inPlaceOf(node: unknown, value: Json): unknown {
    const next = this.#document.createNode(value, created);
    if (!Yaml.isNode(next) || !Yaml.isNode(node)) return next;
    if (Yaml.isCollection(next) && Yaml.isCollection(node)) next.flow = node.flow === true;
    const { comment, commentBefore, spaceBefore = false } = node;
    return Object.assign(next, { comment, commentBefore, spaceBefore });
  }
}

const created = { aliasDuplicateObjects: false };

/** Returns the pairs of places at which two arrays have the same element, in order, as many as there can be. */
function aligned(before: readonly Json[], after: readonly Json[]): (readonly [number, number])[] {
  const [one, other] = [before, after].map((side) => side.map((each) => canonical(each, asWritten)));
  if (one === undefined || other === undefined) return [];
  if (one.length > mostAligned || other.length > mostAligned)
    return one.flatMap((text, at) => (text === other[at] ? [[at, at] as const] : []));
  // Lengths of the longest common part of what begins at each pair of places.
  const width = other.length + 1;
  const lengths = new Uint16Array((one.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let [i, j] = [0, 0]; i < one.length && j < other.length; )
    if (one[i] === other[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  return pairs;
}
