import { grouped, grouping, type Spot, textPolicy } from "./base/text-policy.ts";

/**
 * No number of a bank account stands in a rule: an IBAN (ISO 13616) of the length that its country has, with right check
 * digits, in groups or not, in capitals or in small letters. National numbers without check digits cannot be told from
 * others, and are not found.
 */
export const noBankAccounts = textPolicy({
  name: "no-bank-accounts",
  description: "No bank account number (IBAN) stands in a rule.",
  hidden: "[bank account]",
  spots: bankAccounts,
});

function* bankAccounts(text: string): Generator<Spot> {
  for (const { start, end, joined } of grouped(text, lettersAndDigits)) {
    if (isIban(joined)) yield { start, end, what: `a bank account number (IBAN) of ${joined.length} characters` };
  }
}

const lettersAndDigits = grouping("[A-Za-z\\d]", 15, 33);

/** The length of IBANs by country: the IBAN registry, and the countries that use IBANs without being in it. */
const lengths = new Map(
  (
    "AD24 AE23 AL28 AO25 AT20 AZ28 BA20 BE16 BF28 BG22 BH22 BI27 BJ28 BR29 BY28 CF27 CG27 CH21 CI28 CM27 CR22 CV25 CY28 " +
    "CZ24 DE22 DJ27 DK18 DO28 DZ26 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GA27 GB22 GE22 GI23 GL18 GQ27 GR27 GT28 GW25 HN28 " +
    "HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KM27 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MA28 MC27 MD24 ME22 " +
    "MG27 MK19 ML28 MN20 MR27 MT31 MU30 MZ25 NE28 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 " +
    "SD18 SE24 SI19 SK24 SM27 SN28 SO23 ST25 SV28 TD27 TG28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const),
);

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
