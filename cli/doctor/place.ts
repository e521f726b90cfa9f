import type { PlaceOptions } from "../../provider/reconcile/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import { connectionIn } from "../export/connection.ts";
import { readDriftOf } from "../read-drift.ts";
import type { Stack } from "../stack.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Checks whether the settings lead to where the state's rules are, and these are seen there as a run must see them. */
export async function lookAtPlace(
  { address, resourceName }: PlaceOptions,
  stack: Stack | undefined,
  findings: Diagnosis,
): Promise<void> {
  if (stack === undefined) return;
  const stored = connectionIn(stack.resources, resourceName)?.outputs.address;
  if (typeof stored !== "string") {
    findings.skipped("place", `the state has no connection ${resourceName} yet`);
    return;
  }
  if (stored === address) {
    findings.ok("place", `the state's rules are at this address, too: ${printable(stored)}`);
    if (findings.has("list", "ok") || findings.has("get", "ok")) await lookAtRules(stack, findings);
  } else
    findings.failed(
      "place",
      `the state's rules are at ${printable(stored, 200)}, and the settings lead to ${printable(address, 200)}`,
      "correct baseUrl; where the service itself has moved there, `npx --no-install merchant-rules help reliability` says how a run is told so",
    );
}

/** Checks whether the state's rules are there: a run goes on only where identity, marks or rules show the right merchant. */
async function lookAtRules(stack: Stack, findings: Diagnosis): Promise<void> {
  try {
    const { changed, missing, rules } = await readDriftOf(stack, false, true);
    const drifted = changed.length + missing.length;
    if (rules > 0 && drifted === 0) findings.ok("place", `the state's rules are there as the state has them: ${rules}`);
    else if (rules > 0)
      findings.warning(
        "place",
        `${drifted} of the state's rules ${drifted === 1 ? "differs or is" : "differ or are"} missing at the service`,
        "see which: npx --no-install merchant-rules drift",
      );
  } catch (error) {
    findings.error("place", error);
  }
}
