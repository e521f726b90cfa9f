import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { contractOf } from "./contracts.ts";
import { makeStack, type Stack, type StackOptions } from "./engines.ts";
import { type Front, startFront } from "./front.ts";
import type { EngineName } from "./project.ts";
import { type Served, type ServeOptions, serve } from "./service.ts";

/** A service, and a front before it. */
export interface Place extends Served {
  /** Every request of a run to the service comes by it. */
  readonly front: Front;
  /** Where runs find the service: the front's address, and the contract. */
  readonly settings: JsonObject;
  /** Makes a stack, in a backend of its own, of the same project and the same name as any other. */
  stack(engine: EngineName, options?: StackOptions): Promise<Stack>;
  /** Gives the writes that were requested since the last call, in order: "create", "update" and "delete". */
  writes(): string[];
}

export interface PlaceOptions extends ServeOptions {
  /** Default: everything that finds a rule. "illustrative" is the preset. */
  readonly contract?: ContractInput | "illustrative";
}

/** Opens a place for one test. */
export async function openPlace({ contract = contractOf(), ...options }: PlaceOptions = {}): Promise<Place> {
  const served = await serve(contract === "illustrative" ? undefined : contract, options);
  const front = await startFront(served.service.url);
  const settings = { baseUrl: front.url, contract: served.contractFile };
  const token = { MERCHANT_RULES_TOKEN: served.environment.MERCHANT_RULES_TOKEN ?? "" };
  return {
    ...served,
    front,
    settings,
    stack: (engine, options) => makeStack(engine, settings, token, options),
    writes: () =>
      front.taken().flatMap(({ method, path }) => (path.includes("/rules") ? (changing[method] ?? []) : [])),
  };
}

/** Opens a place for one test, and makes a stack there. */
export async function openStack(
  engine: EngineName,
  placeOptions?: PlaceOptions,
  stackOptions?: StackOptions,
): Promise<{ readonly place: Place; readonly stack: Stack }> {
  const place = await openPlace(placeOptions);
  return { place, stack: await place.stack(engine, stackOptions) };
}

const changing: Record<string, string> = { POST: "create", PUT: "update", PATCH: "update", DELETE: "delete" };

/** A mark of somebody else's. */
export const othersMark = `${"0123456789abcdef".repeat(2)}.0123456789abcdef.0123456789abcdef shop/prod/limits`;

/** The same rules without their marks. */
export function unmarked(
  rules: readonly { readonly ruleId: string; readonly rule: JsonObject }[],
): { ruleId: string; rule: JsonObject }[] {
  return rules.map(({ ruleId, rule: { metadata, ...rule } }) => {
    const { managedBy: _, ...others } = Object(metadata);
    return { ruleId, rule: Object.keys(others).length === 0 ? rule : { ...rule, metadata: others } };
  });
}
