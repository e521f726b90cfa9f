import { resolve } from "node:path";
import { EngineError } from "../../../stack/errors.ts";
import { providerUrn, type ResourceState, stackType } from "../../../stack/state/resource-state.ts";
import { makeUrn, parseUrn } from "../../../stack/state/urn.ts";
import { mapValues, type PropertyMap, rebuild, Secret, Unknown } from "../../../stack/values/value.ts";
import type { Severity } from "../hosts/registration.ts";
import { noFindings, type PolicyEvent, type PolicyFindings } from "./findings.ts";
import { type PackChoice, readPacks } from "./pack.ts";
import { Policies, unlessAborted } from "./policies.ts";
import type { PolicyResource } from "./policy-messages.ts";

export interface AnalyzeOptions extends PackChoice {
  /** The resources of a state, as `readStack` and `readExport` give them. */
  readonly resources: readonly ResourceState[];
  /** The folder where the paths of packs begin. Default: the working directory. */
  readonly cwd?: string | undefined;
  /** Default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly killSignal?: AbortSignal | undefined;
  readonly onEvent?: ((event: PolicyEvent) => void) | undefined;
  /** Gets what a pack logs or prints. */
  readonly onOutput?: ((severity: Severity, message: string) => void) | undefined;
}

/**
 * Lets policy packs look at a state, as `pulumi policy analyze` does: no program runs and no provider is asked. Policies
 * of resources get the inputs, policies of stacks the outputs; what a policy would change is told and not done.
 * @throws EngineError BAD_CALL, POLICY_PACK: a pack, or its configuration, that cannot be used, or a policy that throws
 */
export async function analyzeState(options: AnalyzeOptions): Promise<PolicyFindings> {
  const { signal, killSignal, env = process.env, onEvent = () => {}, onOutput = () => {} } = options;
  const packs = await readPacks(options, resolve(options.cwd ?? process.cwd()));
  if (packs.length === 0)
    throw new EngineError("BAD_CALL", "there is no policy pack to run\nWhat to do: name its folder with --policy-pack");
  const there = options.resources.filter((resource) => !resource.delete);
  const resources = withoutHidden(there, () => onOutput("warning", hiddenSecrets));
  const [first] = resources;
  if (first === undefined) return noFindings;
  const policies = new Policies(packs, { env, run: undefined, applies: false, emit: onEvent, onOutput });
  const kill = (): void => policies.kill();
  killSignal?.addEventListener("abort", kill);
  try {
    await policies.load(signal);
    await unlessAborted(
      analyzeAll(policies, resources, stackUrnOf(resources, first)),
      signal,
      "before all was analyzed",
    );
    return policies.findings;
  } finally {
    await policies.stop();
    killSignal?.removeEventListener("abort", kill);
  }
}

async function analyzeAll(policies: Policies, resources: readonly ResourceState[], stackUrn: string): Promise<void> {
  const byUrn = new Map(resources.map((resource) => [resource.urn, resource]));
  const described = (state: ResourceState, properties: PropertyMap): PolicyResource => {
    const provider = state.provider === "" ? undefined : byUrn.get(providerUrn(state.provider));
    return { state, properties, deleteBeforeReplace: undefined, provider };
  };
  for (const resource of resources) await policies.review(described(resource, resource.inputs));
  await policies.reviewStack(
    resources.map((resource) => described(resource, resource.outputs)),
    stackUrn,
  );
}

function stackUrnOf(resources: readonly ResourceState[], first: ResourceState): string {
  const root = resources.find(({ type, parent }) => type === stackType && parent === "");
  const { stack, project } = parseUrn(first.urn);
  return root?.urn ?? makeUrn(stack, project, "", stackType, `${project}-${stack}`);
}

const hiddenSecrets =
  'secrets in the state cannot be decrypted, so policies get "[secret]" in their place. What to do: set PULUMI_CONFIG_PASSPHRASE, or give what `pulumi stack export --show-secrets` prints';

/** The value in the place of a secret that could not be decrypted, as with the CLI. */
const hidden = new Secret("[secret]");

/** Returns resources with every secret that could not be decrypted replaced; `onHidden` hears of the first. */
function withoutHidden(resources: readonly ResourceState[], onHidden: () => void): readonly ResourceState[] {
  let isTold = false;
  const reveal = (map: PropertyMap): PropertyMap =>
    mapValues(map, (value) =>
      rebuild(value, (part) => {
        if (!(part instanceof Secret && part.element instanceof Unknown)) return part;
        if (!isTold) onHidden();
        isTold = true;
        return hidden;
      }),
    );
  return resources.map((resource) => ({
    ...resource,
    inputs: reveal(resource.inputs),
    outputs: reveal(resource.outputs),
  }));
}
