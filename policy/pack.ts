import { PolicyPack } from "@pulumi/policy";
import { policies } from "./policies.ts";

// It starts the server that the engine asks.
new PolicyPack("merchant-rules-policies", { policies });
