import type { PlaceOptions } from "../../provider/merchant/place-options.ts";
import { printable } from "../../sdk/json/printable.ts";
import { connectionIn } from "../export/connection.ts";
import { Invocation } from "../invocation.ts";
import { readDriftOf } from "../read-drift.ts";
import type { Stack } from "../stack.ts";
import type { Diagnosis } from "./diagnosis.ts";

const unmanagedAside = { looksForUnmanaged: false };

/** Checks whether the settings lead to where the state's rules are, and these are seen there as a run must see them. */
export async function lookAtPlace(
  { address, name }: PlaceOptions,
  stack: Stack | undefined,
  findings: Diagnosis,
): Promise<void> {
  if (stack === undefined) return;
  const stored = connectionIn(stack.resources, name)?.outputs.address;
  if (typeof stored !== "string") {
    findings.skipped("place", `the state has no connection ${name} yet`);
    return;
  }
  const canLook = findings.has("list", "ok") || findings.has("get", "ok");
  if (stored === address) {
    findings.ok("place", `the state's rules are at this address, too: ${printable(stored)}`);
    if (canLook) await lookAtRules(stack, findings);
    return;
  }
  const [there, here] = [printable(stored, 200), printable(address, 200)];
  if (canLook && (await areSeen(stack)))
    findings.warning(
      "place",
      `the state's rules were at ${there}, and are seen at ${here}, where the settings lead`,
      "correct baseUrl, where it is not meant; else the next `pulumi up` remembers the new address as far as it can prove it",
    );
  else
    findings.failed(
      "place",
      `the state's rules are at ${there}, and the settings lead to ${here}`,
      "correct baseUrl. Where the service itself has moved, `pulumi up --refresh` goes on if it sees a known rule there by its mark or id, or the merchant's identity; else it names the word for one run that says so (MERCHANT_RULES_SAME or MERCHANT_RULES_MOVED)",
    );
}

/** Finds out whether the state's rules are proven to be where the settings lead. */
async function areSeen(stack: Stack): Promise<boolean> {
  try {
    return (await readDriftOf(stack, Invocation.ofState(stack, true), unmanagedAside)).rules > 0;
  } catch {
    // Why they are not is for the run to say, which names the words that help.
    return false;
  }
}

/** Checks whether the state's rules are there: a run goes on only where identity, credentials, marks, ids or rules show the right merchant. */
async function lookAtRules(stack: Stack, findings: Diagnosis): Promise<void> {
  try {
    const { changed, missing, rules } = await readDriftOf(stack, Invocation.ofState(stack, true), unmanagedAside);
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
