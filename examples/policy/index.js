import { PolicyPack } from "@pulumi/policy";
import { policies } from "pulumi-merchant-rules/policy";
import { ownedDeclines } from "./owned-declines.js";

// Every policy of the package, as policy-config.json configures it, and one of our own:
//   pulumi preview --policy-pack ../payment-policies --policy-pack-config ../payment-policies/policy-config.json
new PolicyPack("payment-policies", { policies: [...policies, ownedDeclines] });
