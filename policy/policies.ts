import type { Policies } from "@pulumi/policy";
import { acceptedPayments, acceptedPaymentsShown } from "./accepted-payments.ts";
import { allowedValues } from "./allowed-values.ts";
import { changeFreeze } from "./change-freeze.ts";
import { definitionSchema } from "./definition-schema.ts";
import { endDates } from "./end-dates.ts";
import { flippedPayments } from "./flipped-payments.ts";
import { forbiddenValues } from "./forbidden-values.ts";
import { maximumConditions } from "./maximum-conditions.ts";
import { maximumRules } from "./maximum-rules.ts";
import { noBankAccounts } from "./no-bank-accounts.ts";
import { noCardNumbers } from "./no-card-numbers.ts";
import { noCatchAll } from "./no-catch-all.ts";
import { noCredentials } from "./no-credentials.ts";
import { normalForm } from "./normal-form.ts";
import { numberRanges } from "./number-ranges.ts";
import { protectedRules } from "./protected-rules.ts";
import { removedRules } from "./removed-rules.ts";
import { requiredRules } from "./required-rules.ts";
import { requiredValues } from "./required-values.ts";
import { secretValues } from "./secret-values.ts";
import { stringPatterns } from "./string-patterns.ts";
import { uniqueNaturalKeys } from "./unique-natural-keys.ts";
import { uniqueValues } from "./unique-values.ts";

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
