import { grouped, grouping, type TextSpot, textPolicy } from "./base/text-policy.ts";

/**
 * No number of a payment card stands in a rule: 13 to 19 digits, in groups or not, with a right check digit. A rule is read
 * by more people and programs than may see a card; the service's own token or fingerprint of the card does as well.
 *
 * One in ten numbers has a right check digit, so only the ranges and lengths that card schemes use count: of timestamps in
 * milliseconds, microseconds and nanoseconds none does before the year 2040. Digits in a UUID, behind the
 * point of a number, or glued to more digits are none. A test number is a finding too; what has to stay is named in `except`.
 */
export const noCardNumbers = textPolicy({
  name: "no-card-numbers",
  description: "No payment card number stands in a rule.",
  hidden: "[card number]",
  spots: cardNumbers,
});

function* cardNumbers(text: string): Generator<TextSpot> {
  if (text.length < digits.shortest) return;
  const looked = text.replace(uuid, (each) => "x".repeat(each.length));
  for (const { start, end, joined } of grouped(looked, digits)) {
    if (isCardNumber(joined)) yield { start, end, what: `a card number of ${joined.length} digits` };
  }
}

const digits = grouping("\\d", 13, 19);

const uuid = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi;

/**
 * Issuer ranges (ISO/IEC 7812) the first and the last prefix, then how many digits the numbers have.
 * As the schemes have published them; a scheme that shares the range of another is not named again.
 */
const ranges: readonly (readonly [first: string, last: string, lengths: readonly number[]])[] = [
  // Visa
  ["4", "4", [13, 16, 19]],
  // Mastercard
  ["51", "55", [16]],
  ["2221", "2720", [16]],
  // American Express
  ["34", "34", [15]],
  ["37", "37", [15]],
  // Diners Club
  ["300", "305", [14, 15, 16, 17, 18, 19]],
  ["3095", "3095", [14, 15, 16, 17, 18, 19]],
  ["36", "36", [14, 15, 16, 17, 18, 19]],
  ["38", "39", [14, 15, 16, 17, 18, 19]],
  // JCB, LankaPay
  ["3528", "3589", [16, 17, 18, 19]],
  // Discover, UnionPay, Maestro, and the domestic schemes with them: Elo, Verve, RuPay, Hipercard, Dankort
  ["50", "50", [16, 17, 18, 19]],
  ["56", "69", [16, 17, 18, 19]],
  ["81", "82", [16, 17, 18, 19]],
  // Maestro, where it has shorter numbers
  ["5018", "5018", [13, 14, 15]],
  ["5020", "5020", [13, 14, 15]],
  ["5038", "5038", [13, 14, 15]],
  ["5893", "5893", [13, 14, 15]],
  ["6304", "6304", [13, 14, 15]],
  ["6759", "6759", [13, 14, 15]],
  ["6761", "6763", [13, 14, 15]],
  // Mir, BORICA
  ["2200", "2205", [16, 17, 18, 19]],
  // UzCard, Napas, Troy, Humo
  ["8600", "8600", [16]],
  ["9704", "9704", [16, 19]],
  ["9792", "9792", [16]],
  ["9860", "9860", [16]],
];

function isCardNumber(digits: string): boolean {
  const isOfScheme = ranges.some(([first, last, lengths]) => {
    const prefix = digits.slice(0, first.length);
    return lengths.includes(digits.length) && first <= prefix && prefix <= last;
  });
  return isOfScheme && hasCheckDigit(digits);
}

/** Returns whether the Luhn check holds: with every second digit from the right doubled, the sum of all digits is a multiple of ten. */
function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
