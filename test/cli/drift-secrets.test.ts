import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { differences } from "../../local/engine/deploy/property-diff.ts";
import { secret } from "../../provider/host/wire.ts";
import { withSecretsMarked } from "../../provider/state/secrets.ts";
import type { StateResource } from "../../report/state/state-resource.ts";
import {
  asWritten,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  type Path,
  pathOf,
  pointerOf,
  project,
  valueAt,
  withValueAt,
} from "../../sdk/json/index.ts";
import { annotateSecrets, type PropertyMap, revealMap } from "../../stack/values/value.ts";
import { fromWire, toPolicies, toWire } from "../../stack/values/wire.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";
import { applied, exportOf } from "../support/stack/states.ts";
import { driftFolder } from "./drift-command.ts";

/** A text that every secret has in it, and nothing else. */
const core = "ZqHushOfIt";
/** A field of this name is the contract's secret at any depth; what else is a secret, is one to the program. */
const patterns = ["", "/*", "/*/*", "/*/*/*", "/*/*/*/*", "/*/*/*/*/*"].map((above) => `${above}/vault`);

const plainText = fc.nat(1e6).map((k) => `plain-${k}`);
const secretText = fc.nat(1e6).map((k) => `${core}-${k}`);
const { value: anyValue } = fc.letrec<{ value: Json; fields: JsonObject; elements: Json[] }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: plainText },
    { weight: 1, arbitrary: secretText },
    { weight: 3, arbitrary: tie("fields") },
    { weight: 3, arbitrary: tie("elements") },
  ),
  fields: fc.record(
    { type: plainText, a: tie("value"), b: tie("value"), vault: secretText },
    { requiredKeys: ["type"], noNullPrototype: true },
  ),
  elements: fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
}));
const definitions = fc.array(
  fc.record({ a: anyValue, actions: anyValue, hook: anyValue, vault: secretText }, { requiredKeys: ["a", "actions"] }),
  { minLength: 2, maxLength: 4 },
);
/** Where and how each rule is changed at the service. */
const edits = fc.array(
  fc.record({
    at: fc.nat(1000),
    is: fc.constantFrom("new value", "turned round", "one more", "one less"),
    to: fc.nat(1e6),
  }),
  { minLength: 1, maxLength: 3 },
);

test("no format has a byte of a secret, and each has the exact path of every difference, with its values where no secret is", async () => {
  const contract = contractOf({ rule: { secret: patterns, owner: { at: "/metadata/by" } } });
  const { service, environment, close } = await serve(contract, { allowDuplicates: true });
  onTestFinished(close);
  const { drift, folder, write } = driftFolder(environment);
  const stateFile = `${folder}/state.json`;
  let shown = 0;
  await fc.assert(
    fc.asyncProperty(
      definitions,
      fc.array(edits, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      async (all, changes, isRefreshed) => {
        for (const { ruleId } of service.rules()) service.remove(ruleId);
        const rules = new Map(
          all.map((rest, k): [string, JsonObject] => [`rule-${k}`, { name: `rule-${k}`, ...rest }]),
        );
        const [[, definition = {}] = [], ...others] = rules;
        const state = await applied(sessionOf(environment), {
          one: { definition },
          all: { rules: Object.fromEntries(others) },
        });
        write("state.json", exportOf(state.map((each) => inState(each, isRefreshed))));
        const expected = new Map<string, Expected[]>();
        for (const { ruleId, rule } of service.rules()) {
          const name = String(rule.name);
          const declared = rules.get(name) ?? {};
          const edited = (changes[Number(name.slice(5))] ?? []).reduce(changed, declared);
          service.put(ruleId, { ...rule, ...edited });
          const found = expectedOf(declared, edited, isRefreshed);
          if (found.length > 0) expected.set(name, found);
        }
        const { code, report, text, errors } = await drift("--state", stateFile);
        expect(code, errors).toBe(expected.size > 0 ? 7 : 0);
        expect(text).not.toContain(core);
        const told = new Map((report?.findings ?? []).map(({ name, paths }) => [name, paths]));
        expect([...told.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [name, found] of expected) {
          expect(told.get(name)?.toSorted(byPath)).toEqual(found.toSorted(byPath));
          shown += found.filter(({ secret: isSecret, path }) => isSecret === undefined && path.includes("[")).length;
        }
        for (const format of ["text", "markdown", "html", "junit"]) {
          const { text: page } = await drift("--state", stateFile, "--format", format);
          expect(page).not.toContain(core);
          for (const { path } of [...expected.values()].flat()) expect(withoutEntities(page), format).toContain(path);
        }
      },
    ),
    { numRuns: process.env.FUZZ_RUNS === undefined ? 24 : 200 },
  );
  expect(shown).toBeGreaterThan(0);
});

function withoutEntities(page: string): string {
  return page.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

/** A difference as the report in JSON has it. */
interface Expected {
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
  readonly secret?: true;
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}

function expectedOf(before: JsonObject, live: JsonObject, isRefreshed: boolean): Expected[] {
  // A field that is not declared is not managed, also where an element with one changed places.
  const seen = project(live, before, asWritten);
  const after = isJsonObject(seen) ? seen : {};
  return differences(before, after).map(({ path }): Expected => {
    const sides = [before, after].map((side) => valueAt(side, pointerOf(path)));
    const [was, is] = sides;
    const isSecret =
      JSON.stringify(sides).includes(core) || path.includes("vault") || isInSecretArray(before, path, isRefreshed);
    const other = was === undefined ? "[secret]" : "[another secret]";
    return {
      path: pathOf(path),
      ...(was === undefined ? {} : { before: isSecret ? "[secret]" : was }),
      ...(is === undefined ? {} : { after: isSecret ? other : is }),
      ...(isSecret ? { secret: true } : {}),
    };
  });
}

/** True inside an array that the engine keeps as one secret: for one of the program's, after a refresh for one of the contract's. */
function isInSecretArray(declared: JsonObject, path: Path, isRefreshed: boolean): boolean {
  const at = path.findIndex((key) => typeof key === "number");
  if (at === -1) return false;
  const around = valueAt(declared, pointerOf(path.slice(0, at)));
  return secretsIn(around ?? null).some((inside) => isRefreshed || inside.at(-1) !== "vault");
}

function secretsIn(value: Json): Path[] {
  return leavesOf(value).filter((path) => String(valueAt(value, pointerOf(path))).startsWith(core));
}

function leavesOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const children: [string | number, Json][] = isJsonArray(value) ? [...value.entries()] : Object.entries(value);
  return children.flatMap(([key, child]) => leavesOf(child, [...path, key]));
}

/** A change by hand. What is a secret changes to another one; elements of arrays may change places, come and go. */
function changed(rule: JsonObject, { at, is, to }: { at: number; is: string; to: number }): JsonObject {
  const leaves = leavesOf(rule).filter(([field]) => field !== "name");
  const leaf = leaves[at % leaves.length] ?? [];
  const index = leaf.findLastIndex((key) => typeof key === "number");
  const elements = index === -1 ? undefined : valueAt(rule, pointerOf(leaf.slice(0, index)));
  const put = (path: Path, value: Json): JsonObject => {
    const result = withValueAt(rule, pointerOf(path), value);
    return isJsonObject(result) ? result : rule;
  };
  if (is === "new value" || !isJsonArray(elements)) {
    const isSecret = String(valueAt(rule, pointerOf(leaf))).startsWith(core);
    return put(leaf, `${isSecret ? core : "other"}-${to}`);
  }
  const others = { "turned round": elements.toReversed(), "one less": elements.slice(1) }[is];
  return put(leaf.slice(0, index), others ?? [...elements, { type: `other-${to}` }]);
}

/** A resource as the engine writes it: its provider takes plain values and gives them back, marks where the contract has secrets. */
function inState({ inputs, outputs, ...about }: StateResource, isRefreshed: boolean): StateResource {
  const declared = fromWire(withDefinitions(inputs, asProgram));
  const checked = annotateSecrets(fromWire(withDefinitions(inputs, asProvider)), declared);
  const kept = isRefreshed ? annotateSecrets(revealMap(checked), checked) : checked;
  const known = annotateSecrets(fromWire(withDefinitions(outputs, asProvider)), kept);
  return { ...about, inputs: wired(kept), outputs: wired(known) };
}

function wired(map: PropertyMap): JsonObject {
  return toWire(map, toPolicies);
}

function withDefinitions(properties: JsonObject, mark: (definition: Json) => Json): JsonObject {
  const { definition, rules } = properties;
  if (definition !== undefined) return { ...properties, definition: mark(definition) };
  const marked = Object.entries(rules ?? {}).map(([key, each]): [string, Json] => [key, mark(each)]);
  return { ...properties, rules: Object.fromEntries(marked) };
}

function asProvider(definition: Json): Json {
  return withSecretsMarked(definition, patterns);
}

function asProgram(definition: Json): Json {
  return mapJson(definition, (value, path) =>
    typeof value === "string" && value.startsWith(core) && path.at(-1) !== "vault" ? secret(value) : undefined,
  );
}
