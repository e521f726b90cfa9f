import { z } from "zod";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { strict } from "./configuration.ts";

const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

const time = z
  .string()
  .regex(/^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, { error: "allowed: a time from 00:00 to 24:00" });

/** Hours of some weekdays, from the first minute to before the last. Where `to` is not after `from`, they end on the next day. */
export const weeklyHours = strict({ days: z.array(z.enum(days)).min(1), from: time, to: time }).refine(
  ({ from, to }) => from !== to,
  {
    error: "from and to are the same; allowed for a whole day: 00:00 to 24:00",
  },
);

export type WeeklyHours = z.infer<typeof weeklyHours>;

/** A time zone that this machine knows. */
export const timeZone = z.string().refine(isTimeZone, { error: "allowed: a name such as Europe/Berlin or UTC (IANA)" });

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Returns the weekday (`Mon`) and the time (`09:30`) on the clocks of a time zone. */
export function localTime(moment: Date, zone: string) {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, value]),
  );
  return { day: parts.get("weekday") ?? "", time: `${parts.get("hour")}:${parts.get("minute")}` };
}

/** Kept, because to make one takes longer than to check a rule. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return getOrMake(formats, timeZone, () => {
    const shown = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
    return new Intl.DateTimeFormat("en-US", { timeZone, ...shown });
  });
}

/** Returns whether a local time is within the hours. When clocks are turned back, the hour that comes twice counts twice. */
export function isWithin(
  { day, time }: ReturnType<typeof localTime>,
  { days: allowed, from, to }: WeeklyHours,
): boolean {
  const week: readonly (string | undefined)[] = days;
  const isOn = (name: string | undefined): boolean => allowed.some((each) => each === name);
  if (from < to) return isOn(day) && from <= time && time < to;
  const dayBefore = week.at(week.indexOf(day) - 1);
  return (isOn(day) && from <= time) || (isOn(dayBefore) && time < to);
}

export function describeHours({ days: allowed, from, to }: WeeklyHours): string {
  return `${allowed.join(", ")} ${from}-${to}`;
}
