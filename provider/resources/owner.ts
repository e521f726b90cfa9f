import type * as pulumi from "@pulumi/pulumi";
import { getProject, getStack } from "@pulumi/pulumi/metadata.js";
import { CustomResource, type ProviderResource } from "@pulumi/pulumi/resource.js";
import { allConfig } from "@pulumi/pulumi/runtime/config.js";
import { ownerName, ownerType as type } from "../host/types.ts";
import { providerSource } from "./provider-source.ts";
import { ofRun } from "./run-registry.ts";

/**
 * The memory of whose the rules of a stack are. It registers itself, once a stack and before all else; a program does not make
 * one. Its id is the owner id, 128 random bits, which all marks begin with. It holds the names of project and stack, so that a
 * state that was copied to another stack is refused.
 */
export class Owner extends CustomResource {
  /** @internal */
  static readonly __pulumiType = type;

  /** `project/stack`, as the state was last used under. */
  declare readonly names: pulumi.Output<string>;

  /** @internal */
  constructor(names: string, provider: ProviderResource | undefined) {
    const inputs = { names, __provider: providerSource("owner") };
    super(type, ownerName, inputs, provider === undefined ? {} : { provider });
  }
}

/** Returns the present names of the stack, `project/stack`. */
export function presentNames(): string {
  return `${getProject()}/${getStack()}`;
}

/**
 * Returns the Owner of the stack, and registers it when it is first used.
 * @param provider the explicit provider of the resource that uses it: where the stack forbids default providers
 * (`pulumi:disable-default-providers`) the Owner goes by the first one of the program. Another first one makes it anew.
 */
export function ownerOfStack(provider: ProviderResource | undefined): Owner {
  const ofStack = ofRun("owner", () => new Map<string, Owner>());
  const known = ofStack.get(type);
  if (known !== undefined) return known;
  const made = new Owner(presentNames(), isDefaultForbidden() ? provider : undefined);
  ofStack.set(type, made);
  return made;
}

/** Decides whether the stack's config forbids the default provider of dynamic resources. */
function isDefaultForbidden(): boolean {
  try {
    const names: unknown = JSON.parse(allConfig()["pulumi:disable-default-providers"] ?? "[]");
    return Array.isArray(names) && (names.includes("*") || names.includes("pulumi-nodejs"));
  } catch {
    // The engine itself refuses what it cannot read here.
    return false;
  }
}
