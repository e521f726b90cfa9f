import type { RunEvent, Step } from "../deploy/step.ts";
import type { RunResult, Verb } from "../run.ts";
import { encodeResource } from "../state/codec.ts";
import { type ResourceState, stackType } from "../state/resource-state.ts";
import {
  isMap,
  mapValues,
  type PropertyMap,
  type PropertyValue,
  ResourceReference,
  Secret,
  Unknown,
} from "../values/value.ts";
import { printableMap, providerKey, withoutProvider } from "./printable.ts";

/** One message of a run, as the CLI's JSON has it. */
export interface JsonDiagnostic {
  readonly urn?: string;
  readonly message: string;
  readonly severity: "info" | "warning" | "error";
}

export function diagnosticOf({ urn, message, severity }: Extract<RunEvent, { kind: "diagnostic" }>): JsonDiagnostic {
  return urn === undefined ? { message, severity } : { urn, message, severity };
}

/** A whole run as one document, of the shape of the CLI's `preview --json`; `outputs` is an addition. */
export function jsonDocument(result: RunResult, diagnostics: readonly JsonDiagnostic[]): { [key: string]: unknown } {
  return {
    config: Object.fromEntries([...result.config].map(([key, { shown }]) => [key, shown])),
    steps: result.steps.filter(({ op, urn }) => isShown(op, urn, result.verb)).map((step) => jsonStep(step, result)),
    ...(Object.keys(result.outputs).length === 0 ? {} : { outputs: printableMap(result.outputs) }),
    ...(diagnostics.length === 0 ? {} : { diagnostics }),
    duration: Math.round(result.durationMs * 1e6),
    changeSummary: result.summary,
  };
}

function isShown(op: Step["op"], urn: string, verb: Verb): boolean {
  if (op === "create-replacement" || op === "delete-replaced" || op === "remove-pending-replace") return false;
  return op !== "same" || verb === "refresh" || urn.includes(`::${stackType}::`);
}

function jsonStep(step: Step, { verb, preview }: RunResult): { [key: string]: unknown } {
  const { op, urn, old, new: now, detailedDiff, diffReasons, replaceReasons } = step;
  const provider = (now ?? old)?.provider ?? "";
  return {
    op: verb === "refresh" && op === "same" ? "refresh" : op,
    urn,
    ...(provider === "" ? {} : { provider }),
    ...(old === undefined ? {} : { oldState: jsonState(old, true) }),
    ...(now === undefined ? {} : { newState: jsonState(now, !preview || op === "same" || verb === "refresh") }),
    ...(diffReasons.length === 0 ? {} : { diffReasons }),
    ...(replaceReasons.length === 0 ? {} : { replaceReasons }),
    detailedDiff,
  };
}

function jsonState(state: ResourceState, withOutputs: boolean): { [key: string]: unknown } {
  const { [providerKey]: _code, ...propertyDependencies } = state.propertyDependencies;
  const outputs = withOutputs ? blindMap(state.outputs) : {};
  const shown = { ...state, inputs: blindMap(state.inputs), outputs, propertyDependencies };
  return encodeResource(shown, undefined);
}

/** Without secrets and provider code; unknown values and references stay, in the form that state has for them. */
function blindMap(map: PropertyMap): PropertyMap {
  return mapValues(withoutProvider(map), blindValue);
}

function blindValue(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return "[secret]";
  if (value instanceof Unknown || value instanceof ResourceReference) return value;
  if (Array.isArray(value)) return value.map(blindValue);
  return isMap(value) ? mapValues(value, blindValue) : value;
}
