import { sep } from "node:path";
import type { CustomResourceOptions, Resource } from "@pulumi/pulumi";
import { RunError } from "@pulumi/pulumi/errors.js";
import { getProject, getStack } from "@pulumi/pulumi/metadata.js";
import { ownerOf } from "../merchant/mark.ts";
import { connectionOf } from "./connection.ts";
import { declaredJson } from "./declared-json.ts";
import { declaredSecrets } from "./declared-secrets.ts";
import { providerSource } from "./provider-source.ts";

/**
 * Returns the inputs that a resource registers: what the program says, the code that acts on it, and whose the resource is.
 * @param field the one that holds definitions
 */
export function registeredInputs<Field extends string>(
  hooks: "merchantRule" | "merchantRuleSet",
  { type, name, opts }: Registration,
  args: { readonly [key in Field]: unknown } & { readonly connection?: unknown },
  field: Field,
): Record<string, unknown> {
  const declared = args[field];
  return {
    ...args,
    [field]: declared === undefined ? undefined : declaredJson(declared, `${name}: ${field}`),
    __secrets: declaredSecrets(declared),
    __provider: providerSource(hooks),
    __owner: { [ownerOf(getProject(), getStack(), pathOf(name, opts?.parent))]: null },
    __connection: connectionOf(args.connection, type, name, opts).link,
  };
}

/** The type, name and options under which a resource registers. */
export interface Registration {
  readonly type: string;
  readonly name: string;
  readonly opts: CustomResourceOptions | undefined;
}

/**
 * Returns a resource's path in its stack, as its URN has it: the types of the components around it, and its name. Two
 * resources of one name stand in two components.
 */
function pathOf(name: string, parent: Resource | undefined): string {
  const types: string[] = [];
  for (let at: unknown = parent; typeof at === "object" && at !== null; at = Reflect.get(at, "__parentResource")) {
    const type: unknown = Reflect.get(at, "__pulumiType");
    if (type === rootType || typeof type !== "string") break;
    types.unshift(type);
  }
  return types.length === 0 ? name : `${types.join("$")}::${name}`;
}

const rootType = "pulumi:pulumi:Stack";

/**
 * Refuses the options `import` and `id`. The engine reads what it imports without any inputs, so a dynamic resource has no
 * code to be read by. What it reads by `id` it takes for there, whatever the provider returns.
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

/** Leaves out the frames below the program's. Those on top are the constructors', and the SDK counts on them. */
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
