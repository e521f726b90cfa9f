import { getterOf, type Semantics } from "../../meaning/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { decimalOf } from "../../sdk/json/normal-form.ts";

/** Amounts, added by currency: exactly, and never across currencies. */
export class Sums {
  readonly #sums = new Map<string, Sum>();

  add(currency: string, amount: Json): void {
    const known = this.#sums.get(currency);
    const sum = known ?? new Sum();
    if (known === undefined) this.#sums.set(currency, sum);
    sum.add(amount);
  }

  addAll(other: Sums): void {
    for (const [currency, sum] of other.#sums) {
      const own = this.#sums.get(currency) ?? new Sum();
      own.addSum(sum);
      this.#sums.set(currency, own);
    }
  }

  /** Returns each currency, sorted, with its sum as a decimal. */
  entries(): readonly (readonly [string, string])[] {
    return [...this.#sums]
      .map(([currency, sum]) => [currency, sum.text()] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Hundredths fit most amounts, so they are added as numbers; all others, and what grows too large, as big integers. */
class Sum {
  #hundredths = 0;
  #digits = 0n;
  /** Of `#digits`: so many stand behind the point. */
  #scale = 2;

  add(amount: Json): void {
    const hundredths = hundredthsOf(amount);
    if (hundredths !== undefined) {
      this.#hundredths += hundredths;
      if (Math.abs(this.#hundredths) > mostHundredths) this.#carry();
      return;
    }
    const decimal = decimalOf(amount);
    if (decimal === undefined) return;
    const digits = BigInt(`${decimal.sign}${decimal.digits}`);
    if (decimal.exponent >= 0) this.#addDigits(digits * 10n ** BigInt(decimal.exponent), 0);
    else this.#addDigits(digits, -decimal.exponent);
  }

  addSum(other: Sum): void {
    other.#carry();
    this.#addDigits(other.#digits, other.#scale);
  }

  text(): string {
    this.#carry();
    const sign = this.#digits < 0n ? "-" : "";
    const all = String(this.#digits)
      .replace("-", "")
      .padStart(this.#scale + 1, "0");
    const whole = all.slice(0, all.length - this.#scale);
    const fraction = all.slice(all.length - this.#scale).replace(/0+$/, "");
    return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`;
  }

  #carry(): void {
    const hundredths = BigInt(this.#hundredths);
    this.#hundredths = 0;
    this.#addDigits(hundredths, 2);
  }

  #addDigits(digits: bigint, scale: number): void {
    const common = Math.max(scale, this.#scale);
    this.#digits = this.#digits * 10n ** BigInt(common - this.#scale) + digits * 10n ** BigInt(common - scale);
    this.#scale = common;
  }
}

/** Returns an amount in hundredths; undefined of one that has more places, is too large or is no number. */
function hundredthsOf(amount: Json): number | undefined {
  const hundredths = typeof amount === "number" ? Math.round(amount * 100) : Number.NaN;
  return Math.abs(hundredths) < mostHundredths && hundredths / 100 === amount ? hundredths : undefined;
}

/** A number of hundredths up to this has at most fifteen digits, so its decimal is what its shortest form shows. */
const mostHundredths = 1e14;
/** An amount beyond is a fault of the data; to add it would take the time and the room of its zeros. */
const mostExponent = 40;

/** Returns a reader of the amount of a payment and its currency, where it has both. */
export function amountReader({
  payment,
}: Semantics): (json: JsonObject) => { currency: string; amount: Json } | undefined {
  const { amount: named, fields } = payment;
  const [amountField, currencyField] = named === null ? [] : [fields[named.field], fields[named.currency]];
  if (amountField === undefined || currencyField === undefined) return () => undefined;
  const [amountOf, currencyOf] = [getterOf(amountField.at), getterOf(currencyField.at)];
  return (json) => {
    const [amount, currency] = [amountOf(json), currencyOf(json)];
    // A report has no value of a payment but the name of its currency; what is no such name is not printed.
    if (typeof currency !== "string" || !/^[A-Za-z]{2,8}$/.test(currency) || amount === undefined) return undefined;
    if (hundredthsOf(amount) !== undefined) return { currency, amount };
    const decimal = decimalOf(amount);
    return decimal === undefined || Math.abs(decimal.exponent) > mostExponent ? undefined : { currency, amount };
  };
}
