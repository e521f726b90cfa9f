import type { ConnectionSettings } from "../../provider/settings.ts";
import { printable } from "../../sdk/rules/printable.ts";
import { connectionIn } from "../export/connection.ts";
import type { Stack } from "../stack.ts";
import type { Findings } from "./findings.ts";

/** Whether the settings lead to where the state's rules are. */
export function lookAtPlace(
  { address, resourceName }: Pick<ConnectionSettings, "address" | "resourceName">,
  stack: Stack | undefined,
  findings: Findings,
): void {
  if (stack === undefined) return;
  const stored = connectionIn(stack.resources, resourceName)?.outputs.address;
  if (typeof stored !== "string") {
    findings.skipped("place", `the state has no connection ${resourceName} yet`);
    return;
  }
  if (stored === address) findings.ok("place", `the state's rules are at this address, too: ${printable(stored)}`);
  else
    findings.failed(
      "place",
      `the state's rules are at ${printable(stored, 200)}, and the settings lead to ${printable(address, 200)}`,
      "correct baseUrl; where the service itself has moved there, `npx --no-install merchant-rules help reliability` says how a run is told so",
    );
}
