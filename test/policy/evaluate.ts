import { createRequire } from "node:module";
import {
  type PolicyResource,
  type PolicyResourceOptions,
  type ResourceValidationPolicy,
  Secret,
  type StackValidationPolicy,
} from "@pulumi/policy";
import { Ajv } from "ajv";
import { rememberSecrets } from "../../policy/base/secrets.ts";
import { ruleType, setType } from "../../provider/host/types.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";

/** The policy host's own, which its types do not name. */
const {
  UnknownValueError,
  unknownCheckingProxy,
  unknownStringValue,
}: {
  UnknownValueError: new (sentinel: string, path: string[]) => Error;
  unknownCheckingProxy: (props: object) => Record<string, unknown>;
  unknownStringValue: string;
} = createRequire(import.meta.url)("@pulumi/policy/proxy.js");

const { secretsPreservingProxy }: { secretsPreservingProxy: (props: object) => object } = createRequire(
  import.meta.url,
)("@pulumi/policy/secret.js");

/** A value in a preview that is known only after the run. */
export const unknown = unknownStringValue;

/** A resource without any option. */
export const noOptions: PolicyResourceOptions = {
  protect: false,
  ignoreChanges: [],
  aliases: [],
  customTimeouts: { createSeconds: 0, updateSeconds: 0, deleteSeconds: 0 },
  additionalSecretOutputs: [],
};

export interface Verdict {
  /** The violations, each with the name of the resource that it is shown at. */
  readonly violations: readonly string[];
  /** The policy host's advice, where a value is not known yet. */
  readonly notes: readonly string[];
  /** Why the policy has nothing to say. */
  readonly notApplicable: readonly string[];
}

export interface Declared {
  readonly type: string;
  readonly name: string;
  readonly props: Record<string, unknown>;
  readonly opts?: Partial<PolicyResourceOptions>;
}

export function rule(name: string, definition: unknown, more: Omit<Partial<Declared>, "name" | "type"> = {}): Declared {
  return { type: ruleType, name, ...more, props: { definition, ...more.props } };
}

export function ruleSet(name: string, rules: unknown, more: Omit<Partial<Declared>, "name" | "type"> = {}): Declared {
  return { type: setType, name, ...more, props: { rules, ...more.props } };
}

/** Asks one policy about the resources of a stack. */
export async function evaluate(
  policy: AnyPolicy,
  declared: readonly Declared[],
  config: Record<string, unknown> = {},
): Promise<Verdict> {
  return await ask(policy, shownByHost(declared), config);
}

/**
 * The resources of a stack, as the policy host shows them: proxies that throw where a value is not known, without secrets.
 * The engine asks for remediations first. There, and only there, secrets are marked.
 */
export function shownByHost(declared: readonly Declared[]): PolicyResource[] {
  for (const each of declared) rememberSecrets(analyzed(each, secretsPreservingProxy(each.props)));
  return declared.map((each) => analyzed(each, unwrappedFields(each.props)));
}

/** Asks one policy about resources. The configuration has its defaults and was validated by the schema. */
export async function ask(
  policy: AnyPolicy,
  resources: PolicyResource[],
  config: Record<string, unknown> = {},
): Promise<Verdict> {
  const filled = getOrMake(validators, policy, () => reconciler(policy))(config);
  const violations: string[] = [];
  const notes: string[] = [];
  const notApplicable: string[] = [];
  const names = new Map(resources.map(({ urn, name }) => [urn, name]));
  const shared = {
    stackTags: new Map<string, string>(),
    getConfig: <T extends object>() => filled as T,
    asType: () => undefined,
    notApplicable(reason?: string): never {
      throw new NotApplicable(reason);
    },
  };
  const asked = async (ask: () => unknown) => {
    try {
      await ask();
    } catch (error) {
      if (error instanceof UnknownValueError) notes.push(error.message);
      else if (error instanceof NotApplicable) notApplicable.push(error.message);
      else throw error;
    }
  };
  for (const resource of resources) {
    for (const validate of "validateResource" in policy ? [policy.validateResource ?? []].flat() : [])
      await asked(() =>
        validate({ ...resource, ...shared }, (message) => violations.push(`${resource.name}: ${message}`)),
      );
  }
  if ("validateStack" in policy)
    await asked(() =>
      policy.validateStack({ resources, ...shared }, (message, urn) =>
        violations.push(`${names.get(urn ?? "") ?? "stack"}: ${message}`),
      ),
    );
  return { violations, notes, notApplicable };
}

class NotApplicable extends Error {}

type AnyPolicy = ResourceValidationPolicy | StackValidationPolicy;

/** Compiled once a policy: a property asks hundreds of times. */
const validators = new WeakMap<AnyPolicy, (config: Record<string, unknown>) => Record<string, unknown>>();

/** Fills in defaults and validates, as the engine does before it configures a pack. */
function reconciler(policy: AnyPolicy): (config: Record<string, unknown>) => Record<string, unknown> {
  const properties = policy.configSchema?.properties ?? {};
  const defaults = Object.entries(properties).flatMap(([name, schema]) =>
    schema.default === undefined ? [] : [[name, schema.default] as const],
  );
  const ajv = new Ajv({ allErrors: true, strict: false });
  const validate = ajv.compile({ type: "object", properties });
  return (config) => {
    const filled = { ...Object.fromEntries(defaults), ...config };
    if (!validate(filled)) throw new Error(ajv.errorsText(validate.errors));
    return filled;
  };
}

function unwrappedFields(props: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(props).map(([key, each]) => [key, unwrapped(each)]));
}

/** Secrets as the policy host gives them to a policy that checks. */
function unwrapped(value: unknown): unknown {
  if (value instanceof Secret) return unwrapped(value.value);
  if (Array.isArray(value)) return value.map(unwrapped);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unwrapped(each)]));
}

function analyzed({ type, name, opts = {} }: Declared, props: object): PolicyResource {
  return {
    type,
    name,
    props: unknownCheckingProxy(props),
    urn: `urn:pulumi:dev::shop::${type}::${name}`,
    opts: { ...noOptions, ...opts },
    dependencies: [],
    propertyDependencies: {},
    isType: () => false,
    asType: () => undefined,
  };
}
