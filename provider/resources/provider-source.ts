/** The hooks that a resource of this package may name. */
export type HookSet = "merchantRule" | "merchantRuleSet" | "connection" | "owner";

/**
 * Returns the code that the engine keeps for every dynamic resource and runs to read, update and delete it. It names this
 * package instead of freezing its code in the state, so the provider host runs what is installed. It never changes by a
 * byte: a changed byte is a changed resource.
 */
export function providerSource(hooks: HookSet): string {
  return `exports.handler=()=>require("pulumi-merchant-rules/provider").${hooks}`;
}
