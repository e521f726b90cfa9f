import type { Policies } from "@pulumi/policy";
import { acceptedPayments, acceptedPaymentsShown } from "./accepted-payments.ts";
import { secretValues } from "./base/secrets.ts";
import { changeFreeze } from "./change-freeze.ts";
import { definitionSchema } from "./definition-schema.ts";
import { endDates } from "./end-dates.ts";
import { flippedPayments } from "./flipped-payments.ts";
import { numberRanges, stringPatterns } from "./forms.ts";
import { maximumConditions, maximumRules } from "./maximums.ts";
import { protectedRules, requiredRules } from "./named-rules.ts";
import { noBankAccounts } from "./no-bank-accounts.ts";
import { noCardNumbers } from "./no-card-numbers.ts";
import { noCatchAll } from "./no-catch-all.ts";
import { noCredentials } from "./no-credentials.ts";
import { normalForm } from "./normal-form.ts";
import { removedRules } from "./removed-rules.ts";
import { allowedValues, forbiddenValues, requiredValues, uniqueNaturalKeys, uniqueValues } from "./values.ts";

/** All policies of the pack, to be composed into a pack of your own. Importing them starts nothing. */
export const policies: Policies = [
  secretValues,
  noCardNumbers,
  noBankAccounts,
  noCredentials,
  noCatchAll,
  uniqueNaturalKeys,
  uniqueValues,
  requiredValues,
  forbiddenValues,
  allowedValues,
  numberRanges,
  stringPatterns,
  maximumRules,
  maximumConditions,
  definitionSchema,
  endDates,
  protectedRules,
  requiredRules,
  removedRules,
  changeFreeze,
  acceptedPayments,
  acceptedPaymentsShown,
  flippedPayments,
  normalForm,
];
