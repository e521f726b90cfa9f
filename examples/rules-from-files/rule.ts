/** A rule of our service. rule.schema.json says the same to editors; change both together. */
export interface Rule {
  /** Unique among the rules. */
  readonly name: string;
  /** 1 to 1000; the higher is looked at first. */
  readonly priority: number;
  readonly isActive: boolean;
  /** All must be true. Without any, the rule is for every payment. */
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
  /** Why the rule is there. */
  readonly comment?: string;
}

export interface Condition {
  readonly field: "amount" | "currency" | "country" | "payer.trusted";
  readonly operator: "eq" | "ne" | "gt" | "lt" | "in";
  readonly value: string | number | boolean | readonly string[];
}

export interface Action {
  readonly type: "accept" | "decline" | "review";
  /** What the payer's bank is told. */
  readonly reason?: string;
}
