// The same program for one merchant alone, by the usual commands: pulumi preview --stack bakery
import { getStack } from "@pulumi/pulumi";
import { merchants } from "./merchants.ts";
import { declareRules } from "./rules.ts";

const merchant = merchants.find(({ name }) => name === getStack());
if (merchant === undefined)
  throw new Error(`merchants.ts has no merchant ${getStack()}; a stack has its merchant's name`);

export const { ruleIds } = declareRules(merchant);
