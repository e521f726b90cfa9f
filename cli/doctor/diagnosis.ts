import type { Check, Checkup } from "../../report/doctor.ts";
import { defined } from "../../sdk/json/index.ts";
import { reasonOf } from "../../sdk/json/json.ts";

/** Gathers what was found. */
export class Diagnosis {
  readonly all: Checkup[] = [];

  ok(check: Check, found: string): void {
    this.all.push({ check, status: "ok", found });
  }

  warning(check: Check, found: string, toDo: string): void {
    this.all.push({ check, status: "warning", found, toDo });
  }

  failed(check: Check, found: string, toDo: string): void {
    this.all.push({ check, status: "failed", found, toDo });
  }

  /** Notes what could not be looked at. @param toDo what would make it possible */
  skipped(checks: Check | readonly Check[], found: string, toDo?: string): void {
    for (const check of [checks].flat()) this.all.push(defined({ check, status: "skipped" as const, found, toDo }));
  }

  /** Notes an error of this package or of the engine, whose message says what to do. */
  error(check: Check, error: unknown): void {
    const message = reasonOf(error).replace(/\s+/g, " ");
    const [, code] = / \(([A-Z_]+)\)$/.exec(message) ?? [];
    const [what = "", toDo] = message
      .slice(0, code === undefined ? undefined : -code.length - 3)
      .split(/\.? What to do: /);
    const found = code === undefined ? what : `${what} (${code})`;
    // Not every error of a library says what to do.
    this.failed(check, found, toDo ?? "correct what the message names, and run this again");
  }

  has(check: Check, status: Checkup["status"]): boolean {
    return this.all.some((each) => each.check === check && each.status === status);
  }
}
