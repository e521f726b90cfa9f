import { type ResourceValidationPolicy, Secret } from "@pulumi/policy";
import { ruleType } from "../../provider/host/types.ts";
import type { Path } from "../../sdk/json/index.ts";
import { type AnalyzedResource, type AnalyzedRule, declaresRules } from "./analyzed-rule.ts";
import { behind } from "./shown-values.ts";

/** The paths of each resource's secrets, by its URN. */
const known = new Map<string, readonly Path[]>();

/**
 * Learns which values the program has made secret, so that no message of the other policies shows one. It changes nothing.
 * The policy host unwraps secrets for a policy that checks; only one that may change a resource can distinguish them from other
 * values. So the level is `remediate`, and a pack without this policy, or with another level for it, shows no strings at all.
 */
export const secretValues: ResourceValidationPolicy = {
  name: "secret-values",
  description: "No message shows a secret of the program.",
  enforcementLevel: "remediate",
  remediateResource(args) {
    if (declaresRules(args)) rememberSecrets(args);
  },
};

/** Remembers which properties of a resource are secret, as the policy host shows them to a policy that may change it. */
export function rememberSecrets({ urn, props }: Pick<AnalyzedResource, "urn" | "props">): void {
  known.set(urn, secretsIn(behind(props), []));
}

/** Returns whether the value at a path in a definition is secret, or part of a secret; undefined where that is unknown. */
export function isSecretAt({ resource, key }: AnalyzedRule, path: Path): boolean | undefined {
  const whole = [...wayTo(resource, key), ...path];
  return known
    .get(resource.urn)
    ?.some((secret) => secret.length <= whole.length && secret.every((step, at) => String(step) === String(whole[at])));
}

/** Returns the paths of the secrets in a definition; undefined where they are unknown. A secret around the definition has an empty path. */
export function secretPathsIn({ resource, key }: AnalyzedRule): readonly Path[] | undefined {
  const way = wayTo(resource, key);
  return known.get(resource.urn)?.flatMap((secret) => {
    const isBeside = way.some((step, at) => at < secret.length && String(step) !== String(secret[at]));
    return isBeside ? [] : [secret.slice(way.length)];
  });
}

function wayTo({ type }: AnalyzedResource, key: string | undefined): Path {
  if (type === ruleType) return ["definition"];
  return key === undefined ? ["rules"] : ["rules", key];
}

function secretsIn(value: unknown, path: Path): Path[] {
  if (value instanceof Secret) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([step, inside]) => secretsIn(inside, [...path, step]));
}
