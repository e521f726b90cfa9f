import { rulePolicy } from "pulumi-merchant-rules/policy";

/** A rule that declines payments says which team answers for it. */
export const ownedDeclines = rulePolicy({
  name: "owned-declines",
  description: "A rule that declines payments names the team that answers for it.",
  config: {},
  *check(rule) {
    const declines = rule.at("/actions/*/type").some(({ value }) => value === "decline");
    const isOwned = rule.at("/owner").some(({ value }) => typeof value === "string" && value.trim() !== "");
    // An owner that is not known before the run may be a name: the policy is asked again in the run.
    if (declines && !isOwned && !rule.isUnknown("/owner"))
      yield { pointer: "/owner", found: "no name", allowed: "the name of a team" };
  },
});
