/** A rule of our service. */
export interface Rule {
  readonly name: string;
  readonly priority: number;
  readonly conditions: readonly { field: string; operator: string; value: string | number | readonly string[] }[];
  readonly actions: readonly { type: "accept" | "decline" | "review" }[];
}

/** What one environment has otherwise. */
export interface Limits {
  readonly reviewAbove: number;
  readonly declineAbove: number;
}

/** The rules by key. A plain function: it needs neither Pulumi nor a service, so its tests are quick. */
export function rulesFor({ reviewAbove, declineAbove }: Limits): Record<string, Rule> {
  if (reviewAbove >= declineAbove)
    throw new Error(`reviewAbove (${reviewAbove}) must be less than declineAbove (${declineAbove})`);
  return {
    "decline-large": {
      name: "decline-large",
      priority: 300,
      conditions: [{ field: "amount", operator: "gt", value: declineAbove }],
      actions: [{ type: "decline" }],
    },
    "review-large": {
      name: "review-large",
      priority: 200,
      conditions: [{ field: "amount", operator: "gt", value: reviewAbove }],
      actions: [{ type: "review" }],
    },
    "accept-home": {
      name: "accept-home",
      priority: 100,
      conditions: [{ field: "country", operator: "in", value: ["NL", "BE"] }],
      actions: [{ type: "accept" }],
    },
  };
}
