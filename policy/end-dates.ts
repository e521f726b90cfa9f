import type { ResourceValidationPolicy } from "@pulumi/policy";
import { z } from "zod";
import type { Json } from "../sdk/json/index.ts";
import { pointers } from "./base/configuration.ts";
import { startOfRun } from "./base/host.ts";
import { rulePolicy } from "./base/rule-policy.ts";

/**
 * Rules that end: their end date is readable, has not passed, and is no further off than a team allows. An end date is an
 * ISO 8601 date, which ends with its day, or date-time; without an offset both are in UTC. Numbers count from 1970 in the
 * `unit` that is configured, and without one are no dates. Null is no end date.
 */
export const endDates = endDatesAt(startOfRun);

export function endDatesAt(now: () => Date): ResourceValidationPolicy {
  return rulePolicy({
    name: "end-dates",
    description: "A rule's end date can be read, has not passed, and is near enough.",
    config: {
      endDates: pointers.default([]).describe("Pointers to end dates"),
      maximumDays: z
        .number()
        .positive()
        .nullable()
        .default(null)
        .describe("How many days from now an end date may lie"),
      required: z.boolean().default(false).describe("Whether every rule must have an end date, at one of the pointers"),
      unit: z
        .enum(["seconds", "milliseconds"])
        .nullable()
        .default(null)
        .describe("What end dates that are numbers count, from 1970 on"),
    },
    idle: ({ endDates }) => (endDates.length === 0 ? "no pointer to an end date is configured" : undefined),
    *check(rule, { endDates: patterns, maximumDays, required, unit }) {
      const places = patterns.flatMap((pattern) => rule.at(pattern)).filter(({ value }) => value !== null);
      for (const place of places) {
        const allowed = allowedInstead(place.value, now().getTime(), maximumDays, unit);
        if (allowed !== undefined) yield { ...place, allowed };
      }
      const isMissing = required && places.length === 0 && !patterns.some((pattern) => rule.isUnknown(pattern));
      if (isMissing) yield { pointer: "", found: "no end date", allowed: `one at ${patterns.join(" or ")}` };
    },
  });
}

type Unit = "seconds" | "milliseconds" | null;

const msPerDay = 86_400_000;

/** Returns the allowed values in words for a wrong end date; undefined where the value is right. */
function allowedInstead(value: Json, now: number, maximumDays: number | null, unit: Unit): string | undefined {
  const end = endOf(value, unit);
  if (end === undefined) {
    const orNumber = unit === null ? "" : `, or ${unit} since 1970`;
    return `an ISO 8601 date or date-time${orNumber}`;
  }
  if (end <= now) return `an end after ${new Date(now).toISOString()}`;
  if (maximumDays === null || end - now <= maximumDays * msPerDay) return undefined;
  return `an end within ${maximumDays === 1 ? "a day" : `${maximumDays} days`}, by ${new Date(now + maximumDays * msPerDay).toISOString()}`;
}

const date = z.iso.date();
const dateTime = z.union([
  z.iso.datetime({ offset: true, local: true }),
  z.iso.datetime({ offset: true, local: true, precision: -1 }),
]);

/** Returns the moment from which on an end date has passed, in milliseconds since 1970; undefined where it is no date. */
function endOf(value: Json, unit: Unit): number | undefined {
  if (typeof value === "number" && unit !== null) return unit === "seconds" ? value * 1000 : value;
  if (typeof value !== "string") return undefined;
  if (date.safeParse(value).success) return Date.parse(value) + msPerDay;
  if (!dateTime.safeParse(value).success) return undefined;
  return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`);
}
