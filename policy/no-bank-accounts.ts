import { getCountrySpecifications } from "ibantools";
import { grouped, grouping, type TextSpot, textPolicy } from "./base/text-policy.ts";

/**
 * No number of a bank account stands in a rule: an IBAN (ISO 13616) of the length that its country has, with right check
 * digits, in groups or not, in capitals or in small letters. National numbers without check digits look like
 * any others, and are not found.
 */
export const noBankAccounts = textPolicy({
  name: "no-bank-accounts",
  description: "No bank account number (IBAN) stands in a rule.",
  hidden: "[bank account]",
  spots: bankAccounts,
});

function* bankAccounts(text: string): Generator<TextSpot> {
  for (const { start, end, joined } of grouped(text, lettersAndDigits)) {
    if (isIban(joined)) yield { start, end, what: `a bank account number (IBAN) of ${joined.length} characters` };
  }
}

const lettersAndDigits = grouping("[A-Za-z\\d]", 15, 33);

/**
 * The length of IBANs by country: the IBAN registry, and the countries that use IBANs without being in it. What stands in
 * an IBAN is not compared with its country's form: the check digits are enough, and forms change.
 */
const lengths = new Map(Object.entries(getCountrySpecifications()).map(([country, { chars }]) => [country, chars]));

function isIban(number: string): boolean {
  const capitals = number.toUpperCase();
  // In a sentence that begins like one, capitals and small letters mix.
  const isOfOneCase = number === capitals || number === number.toLowerCase();
  if (!isOfOneCase || lengths.get(capitals.slice(0, 2)) !== number.length || !/^..\d\d/.test(number)) return false;
  const digits = `${capitals.slice(4)}${capitals.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(Number.parseInt(letter, 36)),
  );
  return BigInt(digits) % 97n === 1n;
}
