import type { ResourceValidationPolicy, StackValidationPolicy } from "@pulumi/policy";
import { z } from "zod";
import { ruleType } from "../provider/host/types.ts";
import type { Pointer } from "../sdk/json/index.ts";
import { type AnalyzedResource, AnalyzedRule, isAsDeployed, isRuleAmong } from "./base/analyzed-rule.ts";
import { type Baseline, baselinePath, type DeployedRule, readBaseline } from "./base/baseline.ts";
import { changedPlaces, removedRules } from "./base/compare-deployed.ts";
import { ruleNames } from "./base/configuration.ts";
import { startOfRun } from "./base/host.ts";
import { type PolicyFinding, rulePolicy, stackPolicy } from "./base/rule-policy.ts";
import { isUnknownField } from "./base/shown-values.ts";
import { describeHours, isWithin, localTime, timeZone, type WeeklyHours, weeklyHours } from "./base/weekly-hours.ts";

/**
 * Outside the hours in which a team may change rules, only listed rules change.
 *
 * With a baseline each rule is compared with the deployed one before its resource is touched, in every preview and `up`;
 * rules that are removed are found at the end of the preview. A secret in the baseline that cannot be read is not
 * compared: there the preview of a change counts as one. A rule that gets another key is a new one.
 *
 * Without a baseline only a preview tells what changes, at its end: which resources, not which rules of a set; and nothing
 * of resources that are removed. `pulumi up --skip-preview` is not stopped then.
 *
 * The moment is that at which the run began.
 */
export const changeFreeze = changeFreezeAt(startOfRun);

export function changeFreezeAt(now: () => Date): ResourceValidationPolicy & StackValidationPolicy {
  const ofRules = rulePolicy({
    ...options(),
    idle: ({ allowed, baseline }) => {
      if (allowed.length === 0) return noHours;
      return baseline === null ? "no baseline is configured, so the end of the preview tells what changes" : undefined;
    },
    *check(rule, { baseline, allowedRules, ...hours }) {
      const freeze = freezeAt(now(), hours);
      if (freeze === undefined || baseline === null || rule.isAmong(allowedRules)) return;
      const change = changeOf(rule, readBaseline(baseline));
      if (change !== undefined) yield freeze.of(change);
    },
  });
  const ofStack = stackPolicy({
    ...options(),
    idle: ({ allowed, baseline }) => {
      if (allowed.length === 0) return noHours;
      return baseline === null && !isPreview() ? "without a baseline only a preview tells what changes" : undefined;
    },
    *check(rules, { baseline, allowedRules, ...hours }, resources): Generator<PolicyFinding> {
      const freeze = freezeAt(now(), hours);
      if (freeze === undefined) return;
      const changing = new Set(isPreview() ? resources.filter((resource) => !isAsDeployed(resource)) : []);
      if (baseline === null) {
        for (const rule of [...changing].map(asWhole)) {
          if (!rule.isAmong(allowedRules)) yield { rule, ...freeze.of("a change") };
        }
        return;
      }
      const deployed = readBaseline(baseline);
      for (const { resource, key } of removedRules(deployed, rules, null)) {
        if (!isRuleAmong(allowedRules, resource, key)) yield { rule: key, ...freeze.of("its removal") };
      }
      for (const rule of rules) {
        if (changing.has(rule.resource) && !rule.isAmong(allowedRules) && isSealed(rule, deployed))
          yield { rule, ...freeze.of("a change of its resource, and a secret in it that the baseline does not show") };
      }
    },
  });
  return { ...ofRules, validateStack: ofStack.validateStack };
}

/** Returns the options that both halves of the policy share. */
function options() {
  return {
    name: "change-freeze",
    description: "Outside the allowed hours only listed rules change.",
    config: {
      timeZone: timeZone.default("UTC").describe("The time zone of the hours: a name such as Europe/Berlin (IANA)"),
      allowed: z
        .array(weeklyHours)
        .default([])
        .describe('When rules may change: [{ "days": ["Mon", "Tue"], "from": "09:00", "to": "17:00" }]'),
      allowedRules: ruleNames
        .default([])
        .describe("Rules that may change at any time: names of MerchantRules, keys, set/key, or names of sets"),
      baseline: baselinePath,
    },
  };
}

const noHours = "no hours are configured";

/** Returns whether this is a preview, as the engine tells its plugins. */
function isPreview(): boolean {
  return process.env.PULUMI_NODEJS_DRY_RUN === "true";
}

/** Returns the freeze at a moment; undefined within the allowed hours. */
function freezeAt(moment: Date, { timeZone, allowed }: { timeZone: string; allowed: readonly WeeklyHours[] }) {
  const here = localTime(moment, timeZone);
  if (allowed.some((hours) => isWithin(here, hours))) return undefined;
  const hours = `${allowed.map(describeHours).join("; ")} (${timeZone}), or a name in allowedRules`;
  return {
    of: (change: string) => ({ pointer: "", found: `${change} on ${here.day} ${here.time}`, allowed: hours }),
  };
}

/** Returns one rule that stands for all rules of a resource: the preview does not say which of them change. */
function asWhole(resource: AnalyzedResource): AnalyzedRule {
  return new AnalyzedRule(resource, resource.type === ruleType ? resource.name : undefined, {}, []);
}

/** Returns the change of a rule in words, as far as it is known; undefined where there is none. An unknown value is noted. */
function changeOf(rule: AnalyzedRule, baseline: Baseline): string | undefined {
  const deployed = deployedAs(rule, baseline);
  if (deployed === undefined) return undefined;
  const changes = deployed.map((each) => changedPlaces(rule, each));
  const [first] = changes;
  if (first === undefined) return "a new rule";
  if (changes.every((places) => places.length > 0)) return describeChange(first);
  rule.isUnknown("");
  return undefined;
}

/** Finds the deployed rules that a rule may be; undefined where it is unknown (and noted) which rule it is. */
function deployedAs(rule: AnalyzedRule, baseline: Baseline): readonly DeployedRule[] | undefined {
  const { connection, key, resource } = rule;
  if (key !== undefined && !isUnknownField(resource.props, "connection"))
    return baseline.find(connection, resource.name, key);
  rule.isUnknown("");
  return undefined;
}

const mostPlaces = 3;

function describeChange(places: readonly Pointer[]): string {
  const named = places.filter((place) => place !== "").slice(0, mostPlaces);
  if (named.length === 0) return "a change";
  return `a change at ${named.join(", ")}${places.length > mostPlaces ? ` and ${places.length - mostPlaces} more` : ""}`;
}

/** Returns whether a rule is as deployed but for a secret that cannot be compared. */
function isSealed(rule: AnalyzedRule, baseline: Baseline): boolean {
  const deployed = deployedAs(rule, baseline) ?? [];
  return deployed.some((each) => each.sealed.length > 0 && changedPlaces(rule, each).length === 0);
}
