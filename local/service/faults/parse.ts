import { z } from "zod";
import { type Fault, faultSchema } from "./schema.ts";

const faultsSchema = z.array(faultSchema);

/** A mistake at one place of a fault. */
export interface FaultIssue {
  /** Such as `operations.0`; with several faults the fault's number, from 0, comes first; "" is the whole. */
  readonly path: string;
  readonly found: string;
  readonly allowed: string;
}

/** Parses one fault or several; returns all that is wrong where one is none. */
export function parseFaults(value: unknown): { faults: Fault[] } | { issues: FaultIssue[] } {
  const isMany = Array.isArray(value);
  const result = faultsSchema.safeParse(isMany ? value : [value]);
  if (result.success) return { faults: result.data };
  return { issues: result.error.issues.flatMap((issue) => explain(issue, value, isMany ? 0 : 1)) };
}

export function sentence({ path, found, allowed }: FaultIssue): string {
  return `${path === "" ? "the fault" : path}: found ${found}; allowed: ${allowed}`;
}

/** Explains an issue. `passed`: how many steps of its path lead to the value itself. */
function explain(issue: z.core.$ZodIssue, value: unknown, passed: number): FaultIssue[] {
  const steps = issue.path.slice(passed);
  const path = steps.join(".");
  const target = steps.reduce<unknown>(fieldOf, value);
  if (issue.code === "unrecognized_keys") {
    const kind = fieldOf(target, "kind");
    return issue.keys.map((key) => ({
      path: [...steps, key].join("."),
      found: "an unknown field",
      allowed: fieldsOf(kind).join(", "),
    }));
  }
  return [{ path, found: shown(target), allowed: allowedBy(issue) }];
}

function allowedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_union" && issue.discriminator === "kind") return kinds().join(" | ");
  if (issue.code === "invalid_value") return issue.values.map((value) => JSON.stringify(value)).join(" | ");
  if (issue.code === "invalid_type") return issue.expected;
  if (issue.code === "too_small") return `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
  if (issue.code === "too_big") return `at most ${issue.maximum}`;
  return issue.message.replace(/^allowed: /, "");
}

function kinds(): string[] {
  return faultSchema.options.flatMap((option) => [...option.shape.kind.values]);
}

function fieldsOf(kind: unknown): string[] {
  const option = faultSchema.options.find(({ shape }) => [...shape.kind.values].some((value) => value === kind));
  return Object.keys(option?.shape ?? {});
}

function fieldOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  // Not as JSON, which knows neither NaN nor Infinity.
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
