import { printableJson } from "../../../sdk/json/printable.ts";
import { encodeMap, encodeResource } from "../../../stack/state/codec.ts";
import { type ResourceState, stackType } from "../../../stack/state/resource-state.ts";
import { mapValues, type PropertyMap, type PropertyValue, rebuild, Secret } from "../../../stack/values/value.ts";
import { secretSignature, signatureKey } from "../../../stack/values/wire.ts";
import { isPartOfReplacement, type RunEvent, type Step } from "../deploy/step.ts";
import type { Remediation } from "../policies/findings.ts";
import type { RunResult, Verb } from "../run/run.ts";
import { policyEvent, policyOf } from "./policy-lines.ts";
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

function shownConfig(config: RunResult["config"]): { [key: string]: string } {
  return Object.fromEntries([...config].map(([key, { shown }]) => [key, shown]));
}

/**
 * Writes a whole run as one document, of the shape of the CLI's `preview --json`; `outputs`, and what policies found, are
 * additions.
 * @param showSames whether resources that do not change are in it, as with the CLI's `--show-sames`
 */
export function jsonDocument(
  result: RunResult,
  diagnostics: readonly JsonDiagnostic[],
  showSames = false,
): { [key: string]: unknown } {
  const { violations, remediations } = result.policies;
  const shown = result.steps.filter(({ op, urn }) => (op === "same" && showSames) || isShown(op, urn, result.verb));
  return {
    config: shownConfig(result.config),
    steps: shown.map((step) => jsonStep(step, result)),
    ...(Object.keys(result.outputs).length === 0 ? {} : { outputs: printableMap(result.outputs) }),
    ...(violations.length === 0 ? {} : { policyViolations: violations.map(policyEvent) }),
    ...(remediations.length === 0 ? {} : { policyRemediations: remediations.map(remediationEvent) }),
    ...(diagnostics.length === 0 ? {} : { diagnostics }),
    duration: Math.round(result.durationMs * 1e6),
    changeSummary: result.summary,
  };
}

function isShown(op: Step["op"], urn: string, verb: Verb): boolean {
  if (isPartOfReplacement(op) || op === "remove-pending-replace") return false;
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

/** Writes a state of a step. Before it is done, a step has neither an id nor outputs of its new state. */
function jsonState(state: ResourceState, isDone: boolean): { [key: string]: unknown } {
  const { [providerKey]: _code, ...propertyDependencies } = state.propertyDependencies;
  const inputs = blindMap(state.inputs, "[secret]");
  const result = isDone ? { outputs: blindMap(state.outputs, "[secret]") } : { id: "", outputs: {} };
  const shown = { ...state, ...result, inputs, propertyDependencies };
  return encodeResource(shown, undefined);
}

/** Returns properties without secrets and provider code; unknown values and references stay, in the form that state has for them. */
function blindMap(map: PropertyMap, secret: PropertyValue): PropertyMap {
  return mapValues(withoutProvider(map), (value) => rebuild(value, (part) => (part instanceof Secret ? secret : part)));
}

type EventSummary = Pick<RunResult, "summary" | "durationMs" | "preview" | "ok" | "policies">;

/** Prints a run as the CLI's engine events, one JSON object a line. */
export class EventLines {
  readonly #verb: Verb;
  readonly #print: (line: string) => void;
  #sequence = 0;

  constructor(verb: Verb, print: (line: string) => void) {
    this.#verb = verb;
    this.#print = print;
  }

  onEvent(event: RunEvent): void {
    // The CLI keeps this step to itself.
    if ("step" in event && event.step.op === "remove-pending-replace") return;
    this.#line(engineEvent(event, this.#verb));
    if (event.kind === "step" && event.preview && event.step.isRead === true)
      this.#line(engineEvent({ kind: "done", step: event.step, failed: false, durationMs: 0 }, this.#verb));
  }

  finish(result: RunResult): void {
    this.summary(result);
    this.#line({ cancelEvent: {} });
  }

  summary({ summary, durationMs, preview, ok, policies }: EventSummary): void {
    const packs = policies.packs.map(({ name, version, folder }) => [`${name}|local|${folder}`, version]);
    this.#line({
      summaryEvent: {
        maybeCorrupt: false,
        durationSeconds: Math.ceil(durationMs / 1000),
        resourceChanges: summary,
        PolicyPacks: Object.fromEntries(packs),
        isPreview: preview,
        result: ok ? "succeeded" : "failed",
      },
    });
  }

  #line(event: { [key: string]: unknown }): void {
    this.#print(printableJson({ sequence: this.#sequence++, timestamp: Math.floor(Date.now() / 1000), ...event }));
  }
}

function engineEvent(event: RunEvent, verb: Verb): { [key: string]: unknown } {
  switch (event.kind) {
    case "policy-load":
      return { policyLoadEvent: {} };
    case "violation":
      return { policyEvent: policyEvent(event.violation) };
    case "remediation":
      return { policyRemediationEvent: remediationEvent(event.remediation) };
    case "start":
      return { preludeEvent: { config: shownConfig(event.config) } };
    case "step":
      return {
        resourcePreEvent: { metadata: stepMetadata(event.step, event.step.isRead === true ? "refresh" : undefined) },
      };
    case "done": {
      // Only a refresh by itself says what it found.
      const isRefresh = event.step.isRead === true && (verb !== "refresh" || event.failed);
      const metadata = stepMetadata(event.step, isRefresh ? "refresh" : undefined);
      return event.failed ? { resOpFailedEvent: { metadata, status: 0, steps: 0 } } : { resOutputsEvent: { metadata } };
    }
    case "diagnostic": {
      const { urn, message, severity } = event;
      const about = urn === undefined ? {} : { urn };
      const prefix = severity === "info" ? {} : { prefix: `${severity}: ` };
      return { diagnosticEvent: { ...about, ...prefix, message, color: "never", severity } };
    }
  }
}

function stepMetadata(step: Step, op: string = step.op): { [key: string]: unknown } {
  const { urn, old, new: now, detailedDiff, diffReasons, replaceReasons } = step;
  const { type = "", provider = "" } = now ?? old ?? {};
  return {
    op,
    urn,
    type,
    old: old === undefined ? null : eventState(old),
    new: now === undefined ? null : eventState(now),
    ...(replaceReasons.length === 0 ? {} : { keys: replaceReasons }),
    ...(diffReasons.length === 0 ? {} : { diffs: diffReasons }),
    detailedDiff: detailedDiff && mapValues(detailedDiff, ({ kind, inputDiff }) => ({ diffKind: kind, inputDiff })),
    ...(isPartOfReplacement(step.op) ? {} : { logical: true }),
    provider,
  };
}

function remediationEvent({ urn, before, after, ...finding }: Remediation): { [key: string]: unknown } {
  return {
    resourceUrn: urn,
    color: "never",
    ...policyOf(finding),
    before: encodeMap(blindMap(before, blindSecret), undefined),
    after: encodeMap(blindMap(after, blindSecret), undefined),
  };
}

const blindSecret: PropertyValue = { [signatureKey]: secretSignature, ciphertext: "[secret]" };

function eventState(state: ResourceState): { [key: string]: unknown } {
  const { type, urn, custom, id, parent, provider, protect, retainOnDelete, initErrors } = state;
  const blinded = (map: PropertyMap) => encodeMap(blindMap(map, blindSecret), undefined);
  return {
    type,
    urn,
    ...(custom ? { custom } : {}),
    ...(state.delete ? { delete: true } : {}),
    id,
    parent,
    ...(protect ? { protect } : {}),
    ...(retainOnDelete ? { retainOnDelete } : {}),
    inputs: blinded(state.inputs),
    outputs: blinded(state.outputs),
    provider,
    ...(initErrors.length === 0 ? {} : { initErrors }),
  };
}
