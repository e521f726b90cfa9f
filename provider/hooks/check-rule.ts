import type { dynamic } from "@pulumi/pulumi";
import { checkInputs, definitionFaults } from "./check-inputs.ts";
import type { Session } from "./session.ts";
import type { Properties } from "./wire.ts";

/** What is wrong with the inputs of a MerchantRule, each fault at its property path. */
export function checkRule(news: Properties, session: Session): dynamic.CheckFailure[] {
  return checkInputs(news, session, ["definition", "connection", "adopt"], shapeFaults(news), (contract) =>
    definitionFaults(news.definition, "definition", contract),
  );
}

function shapeFaults({ definition, adopt }: Properties): dynamic.CheckFailure[] {
  const faults: dynamic.CheckFailure[] = [];
  if (definition === undefined)
    faults.push({ property: "definition", reason: "is missing: the rule as the service stores it" });
  if (!(adopt === undefined || typeof adopt === "boolean" || (typeof adopt === "string" && adopt !== "")))
    faults.push({ property: "adopt", reason: "must be a ruleId, or true for the rule with the same natural key" });
  return faults;
}
