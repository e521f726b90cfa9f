import { sep } from "node:path";
import type { CustomResourceOptions } from "@pulumi/pulumi";
import { RunError } from "@pulumi/pulumi/errors.js";
import { getProject, getStack } from "@pulumi/pulumi/metadata.js";
import { declaredJson } from "./declared-json.ts";
import { ownerOf } from "./reconcile/owner.ts";

/**
 * The inputs that a resource registers: what the program says, the code that acts on it, and whose the resource is.
 * `field` is the one that holds definitions.
 */
export function registeredInputs<Field extends string>(
  hooks: "merchantRule" | "merchantRuleSet",
  name: string,
  args: { readonly [key in Field]: unknown },
  field: Field,
): Record<string, unknown> {
  const declared = args[field];
  return {
    ...args,
    [field]: declared === undefined ? undefined : declaredJson(declared, `${name}: ${field}`),
    __provider: providerSource(hooks),
    __owner: { [ownerOf(getProject(), getStack(), name)]: null },
  };
}

/**
 * The engine reads what it imports without any inputs, so a dynamic resource has no code to be read by. What it reads by
 * `id` it takes for there, whatever the provider answers.
 * @throws pulumi.RunError where the program has the option `import`, which would end in a stack trace, or `id`
 */
export function refuseImport(type: string, name: string, opts: CustomResourceOptions = {}): void {
  const kind = type.split(":").at(-1);
  if (opts.import !== undefined)
    throw new RunError(
      `${kind} ${name}: the option import cannot work for rules. To take over rule ${opts.import}, remove import and add adopt; for many rules, \`npx --no-install merchant-rules export\` writes their definitions and a file for \`pulumi import --file\``,
    );
  if (opts.id !== undefined)
    throw new RunError(
      `${kind} ${name}: the option id cannot work for rules. To read a rule, call getMerchantRule({ ruleId }); to take it over, remove id and add adopt`,
    );
}

/** The input by which the sets of a ShardedMerchantRuleSet know each other. */
export function groupInput(name: string, sets: number): Record<string, unknown> {
  return { __group: { [`${ownerOf(getProject(), getStack(), name)}#${sets}`]: null } };
}

/**
 * The code that the engine keeps for every dynamic resource and runs to read, update and delete it. It names this
 * package instead of freezing its code in the state, and never changes by a byte, for a changed byte is a changed
 * resource: the provider host runs what is installed.
 */
export function providerSource(hooks: "merchantRule" | "merchantRuleSet"): string {
  return `exports.handler=()=>require("pulumi-merchant-rules/provider").${hooks}`;
}

const sdk = ["node_modules", "@pulumi", "pulumi", ""].join(sep);

/**
 * Leaves the SDK's and Node's own frames out of stack traces until the function that it returns is called. The SDK sends
 * the trace of every resource's constructor to the engine, which keeps it in the state; what lies below the program's
 * frames is the same for every resource, takes some 250 bytes of each, and costs a look into the SDK's source maps.
 */
export function keepProgramFrames(): () => void {
  // Node maps traces to their sources only where nobody else prepares them.
  if (process.sourceMapsEnabled) return () => undefined;
  const previous = Error.prepareStackTrace;
  const prepare = previous ?? asText;
  Error.prepareStackTrace = (error, sites) => prepare(error, withoutCaller(sites));
  return () => {
    Error.prepareStackTrace = previous;
  };
}

/** The frames on top belong to the constructors, and the SDK counts on them; the first that is not its own is ours. */
function withoutCaller(sites: NodeJS.CallSite[]): NodeJS.CallSite[] {
  const ours = sites.findIndex((site) => !isBelowProgram(site));
  return sites.filter((site, index) => index <= ours || !isBelowProgram(site));
}

function isBelowProgram(site: NodeJS.CallSite): boolean {
  const file = site.getFileName();
  return file === null || file === undefined || file.startsWith("node:") || file.includes(sdk);
}

function asText(error: Error, sites: NodeJS.CallSite[]): string {
  return [String(error), ...sites.map((site) => `    at ${site}`)].join("\n");
}
