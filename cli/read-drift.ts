import { Option } from "commander";
import { type Drift, type DriftOptions, readStateDrift } from "../report/drift/drift.ts";
import type { DeclaredPlaces } from "../report/files/rule-places.ts";
import { ownerIdsIn, stateResources } from "../report/state/from-stack.ts";
import { isMerchantRulesError, MerchantRulesError } from "../sdk/errors.ts";
import { errorInCommandsOf } from "./engine-commands.ts";
import { connectionsIn, memoryIn } from "./export/connection.ts";
import type { GivenCredentials } from "./given-credentials.ts";
import { Invocation } from "./invocation.ts";
import { type RulesOptions, rulePlacesOf } from "./rule-folders.ts";
import { readState, type Stack, type StackOptions, stackIn } from "./stack.ts";

export interface ReadDriftOptions extends StackOptions, RulesOptions {
  readonly state?: string;
}

export function stateOption(): Option {
  return new Option(
    "--state <file>",
    "compare what `pulumi stack export` printed; - for standard input (default: the state of the stack)",
  ).conflicts(["stack", "allStacks", "engine", "backend"]);
}

/** A drift, and where it was found. */
export interface FoundDrift {
  readonly stack: Stack;
  /** The files of the rules, where a folder is named. */
  readonly places: DeclaredPlaces | undefined;
  /** True where the state has any resource of rules. */
  readonly hasRules: boolean;
  readonly drift: Drift;
}

/** The way in which a drift is read. */
interface HowToRead {
  readonly looksForUnmanaged: boolean;
  /** Shows no progress. Default: false. */
  readonly quiet?: boolean;
  /** Also tells the rules that are as declared. Default: false. */
  readonly withSame?: boolean;
  /** Of the command, where it reads several stacks. Default: its own. */
  readonly given?: GivenCredentials;
}

/**
 * Compares a stack's state with the live service.
 * @throws MerchantRulesError, EngineError: it cannot be told
 */
export async function readDrift(
  options: ReadDriftOptions,
  { looksForUnmanaged, quiet = false, withSame = false, given }: HowToRead,
): Promise<FoundDrift> {
  const stack = await readState(options);
  const places = await rulePlacesOf(options, stackIn(stack.resources) ?? options.stack);
  const hasRules = stateResources(stack.resources).length > 0;
  const invocation = Invocation.ofState(stack, quiet, given);
  const drift = await readDriftOf(stack, invocation, { looksForUnmanaged, withSame });
  if (!hasRules && drift.withoutList.length > 0) throw nothingToCompare(stack);
  return { stack, places, hasRules, drift };
}

/**
 * Compares a stack's state, once it is read, with the live service.
 * @param invocation by whose settings the service is read
 * @throws MerchantRulesError as readStateDrift, with the part that the state has in it
 */
export async function readDriftOf(
  stack: Stack,
  invocation: Invocation,
  options: Pick<DriftOptions, "looksForUnmanaged" | "withSame"> = {},
): Promise<Drift> {
  const resources = stateResources(stack.resources);
  const linkOf = (connection: string) => memoryIn(stack.resources, connection).connection?.link;
  const known = { ...options, ownerIds: ownerIdsIn(stack.resources), linkOf };
  return await invocation
    .reading(async (session) => {
      await invocation.demandOneAddress(connectionsIn(stack.resources));
      return await readStateDrift(resources, session, known);
    })
    .catch((error: unknown) => {
      if (!isMerchantRulesError(error)) throw error;
      throw errorInCommandsOf(stack.engine, explained(error, stack, resources.length));
    });
}

/** Returns a failure with the part that the state has in it. */
function explained(error: MerchantRulesError, stack: Stack, resources: number): MerchantRulesError {
  if (error.code === "CONTRACT_INVALID" && error.attempted !== undefined) {
    const advice = `${error.advice}. A file that the state names is looked for in the project's folder: run this there, or name the folder with --cwd`;
    return error.with({ advice });
  }
  if (error.code !== "SETTINGS_INVALID") return error;
  if (stack.undecrypted.length > 0) {
    const keys = stack.undecrypted.join(", ");
    const advice = `${keys} in the state is a secret that nothing here can decrypt: set PULUMI_CONFIG_PASSPHRASE, export with \`pulumi stack export --show-secrets\`, or give the setting by its environment variable`;
    return error.with({ advice });
  }
  return resources > 0
    ? error
    : error.with({ attempted: `look for unmanaged rules (${stack.title} declares no rules)` });
}

function nothingToCompare({ title }: Stack): MerchantRulesError {
  const reason = `${title} declares no merchant rules, and the contract has no operations.list to find unmanaged ones`;
  const advice = "name the stack that declares them with --stack; or set operations.list in the contract";
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, { attempted: "look for drift", advice });
}
