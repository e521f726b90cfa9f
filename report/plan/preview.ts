import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { isUnknown, withinSecret } from "../../provider/host/wire.ts";
import { definitionsIn } from "../../provider/state/definitions.ts";
import { type ResourceShape, ruleShape, shapeOf } from "../../provider/state/shape.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import {
  findNotJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  maxDepth,
} from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import { describeIssues } from "../../stack/errors.ts";
import { parseUrn } from "../../stack/state/urn.ts";
import { resourceName } from "../state/state-resource.ts";

/** The text in the place of a secret in an engine's output. */
export const mask = "[secret]";

/** A preview's step on one resource. */
export interface PreviewStep {
  readonly op: string;
  readonly urn: string;
  readonly type: string;
  /** The resource's name in the program. */
  readonly name: string;
  readonly before: PreviewState | undefined;
  readonly after: PreviewState | undefined;
  /** The paths of inputs that the engine calls changed. It compares secrets too, which are masked in what it prints. */
  readonly changedPaths: readonly ChangedPath[];
  readonly changedInputs: readonly string[];
}

/** A path in the engine's spelling. */
export interface ChangedPath {
  readonly path: string;
  readonly kind: "add" | "delete" | "update";
}

export interface PreviewState {
  readonly id: string;
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
  readonly isRetained: boolean;
  /** When it last changed in the state (ISO 8601), where that is said. */
  readonly time: string | undefined;
}

/** What a policy says of a resource, or of the stack. */
export interface PolicyViolation {
  /** Empty where it is the stack's. */
  readonly urn: string;
  readonly level: "mandatory" | "advisory";
  readonly policy: string;
  readonly pack: string | undefined;
  /** Plain text; the policy's description first. */
  readonly message: string;
}

/** What failed, in the engine's words. */
export interface PreviewError {
  /** The resource; empty where it is not told. */
  readonly urn: string;
  readonly message: string;
}

/** The output of `pulumi preview --json`. */
export interface Preview {
  readonly steps: readonly PreviewStep[];
  readonly config: ReadonlyMap<string, string>;
  readonly errors: readonly PreviewError[];
  /** What policies say of it. */
  readonly violations: readonly PolicyViolation[];
  /** The warnings of the engine, the program and the rules, each once. */
  readonly warnings: readonly string[];
  /** The last time at which the state of a resource changed (ISO 8601); undefined where the preview does not say it. */
  readonly stateTime: string | undefined;
  /** True where the preview read the service first: what it has as old states is what is there. */
  readonly isRefreshed: boolean;
  /** Number of resources that do not change, also of those that the steps leave out. */
  readonly sames: number;
}

export function isOfRules({ type }: PreviewStep): boolean {
  return shapeOf(type) !== undefined;
}

/** Returns the shape of a step's resource, which holds rules. */
export function shapeIn({ type }: PreviewStep): ResourceShape {
  return shapeOf(type) ?? ruleShape;
}

/** Returns the resource's name for people: `MerchantRuleSet all`. */
export function resourceOf({ type, name }: PreviewStep): string {
  return resourceName(type, name);
}

/** Returns the stack of a preview in words: `stack dev`. */
export function subjectOf({ steps: [first] }: Preview): string {
  return first === undefined ? "the stack" : `stack ${parseUrn(first.urn).stack}`;
}

/** Returns the project of a preview; undefined where it has no steps. */
export function projectOf({ steps: [first] }: Preview): string | undefined {
  return first === undefined ? undefined : parseUrn(first.urn).project;
}

/**
 * Reads what `pulumi preview --json` printed: one document, or with PULUMI_ENABLE_STREAMING_JSON_PREVIEW an event a line.
 * @param failure why the command that printed it failed. Then it may end before its end, and where it has no error this is
 * the error. Default: it did not fail
 * @throws MerchantRulesError SETTINGS_INVALID: it is neither, it ends before its end, or it has no rules where they belong
 */
export function readPreview(text: string, source: string, failure?: string): Preview {
  if (text.trim() === "") throw unreadable(source, "it is empty");
  const documents = documentsIn(text, source);
  const [first] = documents;
  // Of an unchanged stack it has no steps, but the counts.
  const isDocument =
    documents.length === 1 && ["steps", "diagnostics", "changeSummary"].some((name) => has(first, name));
  const read = isDocument
    ? ofDocument(parsed(documentSchema, first, source))
    : ofEvents(documents, source, failure !== undefined);
  const isFailed = read.errors.length > 0 || read.violations.some(({ level }) => level === "mandatory");
  const preview = failure === undefined || isFailed ? read : { ...read, errors: [{ urn: "", message: failure }] };
  for (const step of preview.steps.filter(isOfRules)) {
    const fault = faultOf(step);
    if (fault !== undefined)
      throw unreadable(
        source,
        printable(`in the step ${step.op} of ${resourceOf(step)}, ${fault}, where an object belongs`),
      );
  }
  return preview;
}

function has(document: Json | undefined, field: string): boolean {
  return isJsonObject(document) && Object.hasOwn(document, field);
}

/** Tells the first value that stands where a rule's definition or the rules of a set belong, and cannot be one. */
function faultOf(step: PreviewStep): string | undefined {
  const shape = shapeIn(step);
  for (const [state, known] of [
    ["old", step.before],
    ["new", step.after],
  ] as const) {
    for (const side of ["inputs", "outputs"] as const) {
      const value = known?.[side][shape.field] ?? {};
      const definitions = [...definitionsIn(shape, value)].map(([key, each]) => [shape.path(key), each] as const);
      const whole = shape.isRule ? [] : [[shape.field, value] as const];
      const odd = [...whole, ...definitions].find(([, each]) => !isDefinition(each));
      if (odd !== undefined) return `the ${state} ${side} have ${kindOf(odd[1])} at ${odd[0]}`;
    }
  }
  return undefined;
}

/** Decides whether a value can be a definition: also a mask, the text of an unknown value, and null, which is absent to the engine. */
function isDefinition(value: Json): boolean {
  return value === null || isJsonObject(value) || value === mask || isUnknown(value);
}

function kindOf(value: Json): string {
  return isJsonArray(value) ? "an array" : `a ${typeof value}`;
}

const properties = z
  .custom<JsonObject>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      findNotJson(value, maxDepth + levelsAround) === undefined,
    "expected properties",
  )
  .transform(masked);

const levelsAround = 10;

const stateSchema = z.object({
  type: z.string(),
  id: z.string().default(""),
  inputs: properties.default({}),
  outputs: properties.default({}),
  retainOnDelete: z.boolean().default(false),
  created: z.string().optional(),
  modified: z.string().optional(),
});
const texts = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);
const paths = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((found) => Object.entries(found ?? {}).map(([path, how]) => ({ path, kind: kindIn(how) })));
const config = z.record(z.string(), z.string()).default({});
const counts = z
  .record(z.string(), z.number())
  .nullish()
  .transform((found) => found ?? {});
const diagnostic = z.object({
  urn: z.string().default(""),
  message: z.string(),
  severity: z.string(),
  /** True for a message that a terminal shows for a moment. */
  ephemeral: z.boolean().default(false),
});

const violation = z
  .object({
    resourceUrn: z.string().default(""),
    message: z.string(),
    policyName: z.string(),
    policyPackName: z.string().optional(),
    enforcementLevel: z.string(),
  })
  .transform(
    ({ resourceUrn, message, policyName, policyPackName, enforcementLevel }): PolicyViolation => ({
      urn: resourceUrn,
      level: enforcementLevel === "advisory" ? "advisory" : "mandatory",
      policy: policyName,
      pack: policyPackName,
      message: plainText(message),
    }),
  );

const documentSchema = z.object({
  config,
  steps: z
    .array(
      z.object({
        op: z.string(),
        urn: z.string(),
        oldState: stateSchema.nullish(),
        newState: stateSchema.nullish(),
        diffReasons: texts,
        detailedDiff: paths,
      }),
    )
    .nullish()
    .transform((steps) => steps ?? []),
  diagnostics: z
    .array(diagnostic)
    .nullish()
    .transform((all) => all ?? []),
  changeSummary: counts,
  /** Only the local engine's document has them. */
  policyViolations: z.array(violation).default([]),
});

const metadata = z.object({
  op: z.string(),
  urn: z.string(),
  old: stateSchema.nullish(),
  new: stateSchema.nullish(),
  diffs: texts,
  detailedDiff: paths,
});
const eventSchema = z.object({
  preludeEvent: z.object({ config }).optional(),
  resourcePreEvent: z.object({ metadata }).optional(),
  diagnosticEvent: diagnostic.optional(),
  policyEvent: violation.optional(),
  summaryEvent: z.object({ resourceChanges: counts, result: z.string().optional() }).optional(),
});

function ofDocument(document: z.output<typeof documentSchema>): Preview {
  const { config, steps, diagnostics, changeSummary, policyViolations } = document;
  const all = steps.map(({ oldState, newState, diffReasons, detailedDiff, ...about }) =>
    stepOf({ ...about, old: oldState, new: newState, diffs: diffReasons, detailedDiff }),
  );
  return {
    ...withoutRefreshes(all),
    config: new Map(Object.entries(config)),
    errors: errorsIn(diagnostics),
    violations: policyViolations,
    warnings: warningsIn(diagnostics),
    sames: changeSummary.same ?? 0,
  };
}

function ofEvents(lines: readonly Json[], source: string, mayBeCut: boolean): Preview {
  const events = lines.map((line) => parsed(eventSchema, line, source));
  const summary = events.find(({ summaryEvent }) => summaryEvent !== undefined)?.summaryEvent;
  const diagnostics = events.flatMap(({ diagnosticEvent }) => diagnosticEvent ?? []);
  const violations = events.flatMap(({ policyEvent }) => policyEvent ?? []);
  const errors = errorsIn(diagnostics);
  if (summary === undefined && errors.length === 0 && !mayBeCut)
    throw unreadable(source, "it is no preview, or it ends before its end");
  const isFailed = summary?.result === "failed" && !violations.some(({ level }) => level === "mandatory");
  const steps = events.flatMap(({ resourcePreEvent }) => (resourcePreEvent ? [stepOf(resourcePreEvent.metadata)] : []));
  const replaced = new Set(steps.filter(({ op }) => op === "replace").map(({ urn }) => urn));
  return {
    ...withoutRefreshes(steps.filter(({ op, urn }) => !(partsOfReplacement.has(op) && replaced.has(urn)))),
    config: new Map(events.flatMap(({ preludeEvent }) => Object.entries(preludeEvent?.config ?? {}))),
    errors: errors.length === 0 && isFailed && !mayBeCut ? [{ urn: "", message: "the preview failed" }] : errors,
    violations,
    warnings: warningsIn(diagnostics),
    sames: summary?.resourceChanges.same ?? 0,
  };
}

/** Leaves out steps of a refresh: with `--refresh` a preview has each resource twice, as it was found and what the run does to it. */
function withoutRefreshes(steps: readonly PreviewStep[]): Pick<Preview, "steps" | "isRefreshed" | "stateTime"> {
  const acted = new Set(steps.filter(({ op }) => op !== "refresh").map(({ urn }) => urn));
  const times = steps.flatMap(({ before }) => before?.time ?? []).sort();
  return {
    steps: steps.filter(({ op, urn }) => op !== "refresh" || !acted.has(urn)),
    isRefreshed: steps.some(({ op }) => op === "refresh"),
    stateTime: times.at(-1),
  };
}

const partsOfReplacement = new Set(["create-replacement", "delete-replaced", "discard-replaced", "read-replacement"]);

function stepOf({ op, urn, old, new: now, diffs, detailedDiff }: z.output<typeof metadata>): PreviewStep {
  const state = (of: typeof old): PreviewState | undefined =>
    of
      ? {
          id: of.id,
          inputs: of.inputs,
          outputs: of.outputs,
          isRetained: of.retainOnDelete,
          time: of.modified ?? of.created,
        }
      : undefined;
  return {
    op,
    urn,
    type: (now ?? old)?.type ?? "",
    name: parseUrn(urn).name,
    before: state(old),
    after: state(now),
    changedPaths: detailedDiff,
    changedInputs: diffs,
  };
}

/** As `add`, `delete-replace`. In events the field has another name. */
const howChanged = z.object({ kind: z.string().optional(), diffKind: z.string().optional() });

function kindIn(how: unknown): ChangedPath["kind"] {
  const { kind, diffKind = kind } = howChanged.safeParse(how).data ?? {};
  const [word] = diffKind?.split("-") ?? [];
  return word === "add" || word === "delete" ? word : "update";
}

function plainText(message: string): string {
  return stripVTControlCharacters(message.replace(/<\{%[^%]*%\}>/g, "")).trim();
}

function errorsIn(diagnostics: readonly z.output<typeof diagnostic>[]): PreviewError[] {
  const errors = new Map(
    saidIn(diagnostics, "error").map((error) => [JSON.stringify([error.urn, error.message]), error]),
  );
  return [...errors.values()];
}

function warningsIn(diagnostics: readonly z.output<typeof diagnostic>[]): string[] {
  return [...new Set(saidIn(diagnostics, "warning").map(({ message }) => message))];
}

/** Returns messages as plain text: an event has the engine's own marks for colours in it, as `<{%reset%}>`. */
function saidIn(diagnostics: readonly z.output<typeof diagnostic>[], wanted: "error" | "warning"): PreviewError[] {
  return diagnostics
    .filter(({ severity, ephemeral }) => severity === wanted && !ephemeral)
    .map(({ urn, message }) => {
      const text = plainText(message);
      return { urn, message: text.startsWith(`${wanted}: `) ? text.slice(wanted.length + 2) : text };
    });
}

/** Masks secrets as the document has them: in events each is an object with a signature. */
function masked(value: JsonObject): JsonObject {
  const plain = mapJson(value, (each) => (withinSecret(each) === undefined ? undefined : mask));
  return isJsonObject(plain) ? plain : {};
}

function documentsIn(text: string, source: string): Json[] {
  try {
    return [JSON.parse(text)];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    try {
      return lines.map((line): Json => JSON.parse(line));
    } catch {
      throw unreadable(source, "it is not JSON");
    }
  }
}

function parsed<Type extends z.ZodType>(schema: Type, value: Json | undefined, source: string): z.output<Type> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw unreadable(source, describeIssues(result.error));
}

function unreadable(source: string, why: string): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", `it does not hold what \`pulumi preview --json\` prints: ${why}`, {
    attempted: `read ${source}`,
    advice:
      "run `pulumi preview --json --show-sames > preview.json` to its end, and name that file (- is standard input)",
  });
}
