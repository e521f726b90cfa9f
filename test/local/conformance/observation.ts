import { z } from "zod";

import { providerUrn } from "../../../stack/state/resource-state.ts";
import type { Project } from "../engine/support.ts";

const metadata = z.object({
  metadata: z.object({
    op: z.string(),
    urn: z.string(),
    keys: z.array(z.string()).nullish(),
    detailedDiff: z.record(z.string(), z.object({ diffKind: z.string() })).nullish(),
  }),
});
const eventSchema = z.object({
  resourcePreEvent: metadata.optional(),
  resOutputsEvent: metadata.optional(),
  resOpFailedEvent: metadata.optional(),
  summaryEvent: z.object({ resourceChanges: z.record(z.string(), z.number()).nullish() }).optional(),
});
type Metadata = z.infer<typeof metadata>["metadata"];

/** One run's end, without whatever differs from run to run: times, ids, ciphertexts. */
export interface Observation {
  readonly run: string;
  /** Null for a run that was killed. */
  readonly exitCode: number | null;
  /** Each step with the paths that it changes, sorted. */
  readonly steps: readonly string[];
  /** Pairs of steps, of which one needs the other: the first began first. */
  readonly order: readonly string[];
  readonly changes: { readonly [op: string]: number };
  /** The provider's writes and reads, sorted. */
  readonly calls: readonly string[];
  readonly state: unknown;
}

export interface Told {
  readonly run: string;
  readonly exitCode: number | null;
  /** Engine events, one JSON object a line. */
  readonly events: readonly string[];
}

type Resource = { readonly [key: string]: unknown };

/** Looks at one stack after each of its runs. */
export class Observer {
  readonly #project: Project;
  /** Names for the ids that providers make up. */
  readonly #ids = new Map<string, string>();
  #before: readonly Resource[] = [];

  constructor(project: Project) {
    this.#project = project;
  }

  observe(told: Told): Observation {
    const after = resourcesOf(this.#project);
    this.#name(after);
    const observation = observe(this.#project, told, this.#ids, this.#before, after);
    this.#before = after;
    return observation;
  }

  #name(resources: readonly Resource[]): void {
    for (const { id, urn, custom } of resources) {
      if (typeof id !== "string" || custom !== true || this.#ids.has(id)) continue;
      const name = nameOf(String(urn));
      const others = [...this.#ids.values()].filter((known) => known.startsWith(`<${name} `)).length;
      this.#ids.set(id, `<${name} ${others + 1}>`);
    }
  }
}

function observe(
  project: Project,
  { run, exitCode, events }: Told,
  ids: ReadonlyMap<string, string>,
  before: readonly Resource[],
  after: readonly Resource[],
): Observation {
  const parsed = exitCode === null ? [] : events.map((line) => eventSchema.parse(JSON.parse(line)));
  const begun: Metadata[] = [];
  const failed: string[] = [];
  for (const { resourcePreEvent, resOutputsEvent, resOpFailedEvent } of parsed) {
    if (resourcePreEvent !== undefined) begun.push(resourcePreEvent.metadata);
    // What a refresh found is known when it has read.
    const found = resOutputsEvent?.metadata;
    const reading = begun.findIndex(({ op, urn }) => op === "refresh" && urn === found?.urn);
    if (found !== undefined && reading >= 0) begun[reading] = { ...found, op: `refresh: ${found.op}` };
    if (resOpFailedEvent !== undefined) failed.push(`failed: ${stepText(resOpFailedEvent.metadata)}`);
  }
  const summary = parsed.flatMap(({ summaryEvent }) => summaryEvent ?? []).at(-1);
  return {
    run,
    exitCode,
    steps: [...begun.map(stepText), ...failed].sort(),
    order: orderOf(begun, needsOf([...before, ...after])),
    changes: sortedKeys(summary?.resourceChanges ?? {}),
    calls: project
      .takeCalls()
      .map((call) => plain(call, ids))
      .sort(),
    state: plain(
      {
        resources: after.map(comparable).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
        pending: pendingOf(project),
      },
      ids,
    ),
  };
}

function resourcesOf(project: Project): Resource[] {
  return project.exists(project.stateFile) ? project.state().resources : [];
}

/** The operations that the state says are under way: `creating a`. */
export function pendingOf(project: Project): string[] {
  if (!project.exists(project.stateFile)) return [];
  const named = z.object({ type: z.string(), resource: z.object({ urn: z.string() }) });
  return project
    .state()
    .pending_operations.map((operation) => named.parse(operation))
    .map(({ type, resource }) => `${type} ${nameOf(resource.urn)}`);
}

function nameOf(urn: string): string {
  return urn.split("::").at(-1) ?? "";
}

function stepText({ op, urn, keys, detailedDiff }: Metadata): string {
  const paths = Object.entries(detailedDiff ?? {})
    .map(([path, { diffKind }]) => `${diffKind} ${path}`)
    .sort();
  const replacing = (keys ?? []).length === 0 ? "" : ` because of ${[...(keys ?? [])].sort().join(", ")}`;
  return `${op} ${nameOf(urn)}${replacing}${paths.length === 0 ? "" : `: ${paths.join("; ")}`}`;
}

/** True where the resource of one name needs that of another. */
type Needs = (one: string, other: string) => boolean;

function needsOf(resources: readonly Resource[]): Needs {
  const text = z.string().catch("");
  const texts = z.array(z.string()).catch([]);
  const direct = new Map<string, Set<string>>();
  for (const { urn, parent, provider, deletedWith, dependencies, propertyDependencies } of resources) {
    const values = z.record(z.string(), texts).catch({}).parse(propertyDependencies);
    const urns = [
      text.parse(parent),
      providerUrn(text.parse(provider)),
      text.parse(deletedWith),
      ...texts.parse(dependencies),
      ...Object.values(values).flat(),
    ];
    const name = nameOf(text.parse(urn));
    direct.set(name, new Set([...(direct.get(name) ?? []), ...urns.map(nameOf)]));
  }
  return (one, other) => one === other || direct.get(one)?.has(other) === true;
}

function orderOf(begun: readonly Metadata[], needs: Needs): string[] {
  const isWork = ({ op }: Metadata): boolean => op !== "same" && !op.startsWith("refresh");
  const work = begun.filter(isWork).map(({ op, urn }) => ({ text: `${op} ${nameOf(urn)}`, name: nameOf(urn) }));
  const root = begun.find(({ urn }) => urn.includes("::pulumi:pulumi:Stack::"));
  return work
    .flatMap((first, k) =>
      work
        .slice(k + 1)
        .filter(({ name }) => needs(first.name, name) || needs(name, first.name))
        .map((second) => ({ first, second })),
    )
    .filter(({ first, second }) => ![first.name, second.name].includes(nameOf(root?.urn ?? "")))
    .map(({ first, second }) => `${first.text} < ${second.text}`)
    .sort();
}

/**
 * Without times, and without where the program declares a resource: of an unchanged one either place may be kept. What
 * it depends on is a set: the SDK names it in the order in which the program's promises end.
 */
function comparable({ created, modified, stackTrace: _, sourcePosition: _position, ...rest }: Resource): Resource {
  const sorted = (value: unknown): unknown => (Array.isArray(value) ? value.toSorted() : value);
  const resource: Record<string, unknown> = {
    ...rest,
    created: created !== undefined,
    modified: modified !== undefined,
  };
  if ("dependencies" in resource) resource.dependencies = sorted(resource.dependencies);
  if ("propertyDependencies" in resource)
    resource.propertyDependencies = Object.fromEntries(
      Object.entries(Object(resource.propertyDependencies)).map(([property, urns]) => [property, sorted(urns)]),
    );
  return resource;
}

/** A value with names in place of ids, and without ciphertexts. */
function plain<T>(value: T, ids: ReadonlyMap<string, string>): T {
  const text = JSON.stringify(value, (key, inner) => (key === "ciphertext" ? "<encrypted>" : inner));
  let shown = text;
  // No id is the beginning of another: those of rules end in a number, after which none may follow.
  for (const [id, name] of ids) shown = shown.replaceAll(new RegExp(`${id}(?![0-9])`, "g"), name);
  return sortedKeys(JSON.parse(shown));
}

function sortedKeys<T>(value: T): T;
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => sortedKeys(element));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortedKeys(inner)]),
  );
}
