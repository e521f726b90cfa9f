import type { Findings } from "./findings.ts";
import type { ProbePlan, Told } from "./known.ts";
import type { Names } from "./names.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Wire } from "./wire.ts";

/** What the steps of one probe share. */
export interface Probing {
  readonly told: Told;
  readonly plan: ProbePlan;
  readonly wire: Wire;
  readonly sandbox: Sandbox;
  readonly findings: Findings;
  readonly names: Names;
  /** Says what comes next. */
  readonly say: (line: string) => void;
}
