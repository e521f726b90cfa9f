/** A merchant, and what is particular about its rules. */
export interface Merchant {
  /** Its name here, and the name of its stack. */
  readonly name: string;
  /** Where its rules are. Merchants at one address differ by a parameter of the contract: see README.md. */
  readonly baseUrl: string;
  /** Payments above this amount are looked at by a person. */
  readonly reviewAbove: number;
  /** The countries from which payments are accepted. */
  readonly countries: readonly string[];
}

export const merchants: readonly Merchant[] = [
  { name: "bakery", baseUrl: "http://127.0.0.1:4011", reviewAbove: 200, countries: ["NL", "BE"] },
  { name: "jeweller", baseUrl: "http://127.0.0.1:4012", reviewAbove: 20_000, countries: ["NL", "BE", "DE", "CH"] },
  { name: "ticket-shop", baseUrl: "http://127.0.0.1:4013", reviewAbove: 1_000, countries: ["NL", "DE", "GB", "US"] },
];
