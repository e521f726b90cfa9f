import { type EngineEvent, LocalWorkspace, type Stack } from "@pulumi/pulumi/automation/index.js";
import type { Merchant } from "./merchants.ts";
import { declareRules } from "./rules.ts";

export const verbs = ["preview", "up", "refresh", "destroy"] as const;
export type Verb = (typeof verbs)[number];

/** What came of one merchant. */
export interface Outcome {
  readonly merchant: string;
  readonly succeeded: boolean;
  /** What the rules and the engine said, errors included. */
  readonly messages: readonly string[];
  /** How many resources changed, by what was done to them: the set of rules, and the stack itself. */
  readonly changes: string;
}

/** Runs a verb on the stack of one merchant. An error is an outcome, and is not thrown. */
export async function run(verb: Verb, merchant: Merchant): Promise<Outcome> {
  const messages: string[] = [];
  let changes = "";
  const shown = new Set<string>(["info", "info#err", "warning", "error"]);
  const onEvent = ({ diagnosticEvent, summaryEvent }: EngineEvent): void => {
    // The engine sends its own debug messages, too.
    if (diagnosticEvent !== undefined && shown.has(diagnosticEvent.severity))
      messages.push(`${diagnosticEvent.prefix ?? ""}${diagnosticEvent.message}`.trimEnd());
    if (summaryEvent !== undefined) changes = changesOf(summaryEvent.resourceChanges);
  };
  try {
    const stack = await stackOf(merchant);
    await stack[verb]({ onEvent, color: "never" });
    return { merchant: merchant.name, succeeded: true, messages, changes };
  } catch (error) {
    // A failure of the rules was among the events. Without one, the run did not begin, and the error says why.
    if (!messages.some((message) => message.startsWith("error:"))) messages.push(reasonOf(error));
    return { merchant: merchant.name, succeeded: false, messages, changes: "see above" };
  }
}

async function stackOf(merchant: Merchant): Promise<Stack> {
  const stack = await LocalWorkspace.createOrSelectStack(
    { stackName: merchant.name, projectName: "several-merchants", program: async () => declareRules(merchant) },
    // Pulumi looks in this folder for the packages of the resources, for Pulumi.yaml and for the contract. Without it,
    // that is whichever folder the command was called from.
    { workDir: import.meta.dirname, envVars: credentialsOf(merchant) },
  );
  await stack.setAllConfig({ "merchant-rules:baseUrl": { value: merchant.baseUrl } });
  return stack;
}

/**
 * The merchant's own credentials: BAKERY_CLIENT_ID and BAKERY_CLIENT_SECRET, TICKET_SHOP_…; where there are none, those
 * of MERCHANT_RULES_CLIENT_ID and MERCHANT_RULES_CLIENT_SECRET are used. From the environment they never enter the state.
 */
function credentialsOf({ name }: Merchant): Record<string, string> {
  const own = name.toUpperCase().replaceAll("-", "_");
  const { [`${own}_CLIENT_ID`]: id, [`${own}_CLIENT_SECRET`]: secret } = process.env;
  return id === undefined || secret === undefined
    ? {}
    : { MERCHANT_RULES_CLIENT_ID: id, MERCHANT_RULES_CLIENT_SECRET: secret };
}

/** The CLI's own error, out of all that it printed. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /^error: .*/m.exec(text)?.[0] ?? text;
}

function changesOf(resourceChanges: Readonly<Record<string, number>>): string {
  const changed = Object.entries(resourceChanges).filter(([what]) => what !== "same");
  return changed.map(([what, count]) => `${what} ${count}`).join(", ") || "nothing to change";
}
