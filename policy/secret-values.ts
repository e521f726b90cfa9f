import type { ResourceValidationPolicy } from "@pulumi/policy";
import { declaresRules } from "./base/analyzed-rule.ts";
import { rememberSecrets } from "./base/secrets.ts";

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
