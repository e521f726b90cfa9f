import { z } from "zod";
import { type JsonObject, type Pointer, withoutValueAt } from "../json/index.ts";
import { auth, type operationOfIdentity } from "./schema-auth.ts";
import { errors } from "./schema-errors.ts";
import { limits } from "./schema-limits.ts";
import { operations } from "./schema-operations.ts";
import { fileHead, headerName, type identifyBy, orNull, says, strict } from "./schema-parts.ts";
import { rule } from "./schema-rule.ts";

const parameterName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9]*$/, { error: "allowed: letters and digits, a letter first" });
const parameter = strict({
  description: z.string().optional().meta(says("A note for readers. Nothing else uses it.", "The account of the shop")),
  default: z
    .string()
    .optional()
    .meta(says("The value where settings give none. Without it: settings must give one.", "main")),
});

/**
 * The contract: the language of one deployment of the service. Defaults are what the seed documents (create, get,
 * delete); every gap of the seed is a field, and nothing destructive has a default.
 */
export const contractSchema = strict({
  ...fileHead("sdk/contract/contract.schema.json"),
  parameters: z
    .record(parameterName, parameter)
    .default({})
    .meta(
      says(
        "Values that differ by merchant or environment. Paths, headers and queries use them as {name}; settings give the values. Without it no {name} of your own can be used.",
        { merchantId: {} },
      ),
    ),
  operations: operations.prefault({}).describe("What the service can do, and how it is asked."),
  rule: rule.prefault({}).describe("What the service's rules are like."),
  auth: auth.prefault({}).describe("How requests show who sends them."),
  errors: errors.prefault({}).describe("Where an error response says what went wrong."),
  idempotency: orNull(
    strict({
      header: headerName.default("Idempotency-Key").meta(says("The name of the header.", "X-Idempotency-Key")),
    }),
  ).describe(
    "The header by which the service recognises a request that is sent twice. null: a create whose answer was lost is not sent again.",
  ),
  limits: limits.prefault({}).describe("How much is sent, how fast, and how long it may take."),
  semantics: orNull(z.string().min(1)).meta(
    says(
      "The file that says what rules mean, from this file's folder; or, by its name, one that comes with this package: decision-engine, illustrative, whop, wiremock. Only commands that decide payments read it. null: they say that nothing is known.",
      "./merchant-rules.semantics.yaml",
    ),
  ),
}).meta({
  title: "merchant-rules contract",
  description: "How one deployment of a merchant payment-rules service speaks",
});

/** A contract with all defaults filled in. docs/reference/contract.md says what each field means. */
export interface Contract extends z.output<typeof contractSchema> {}
/** A contract as written: what has a default may be left out. */
export interface ContractInput extends z.input<typeof contractSchema> {}
export type Operations = Contract["operations"];
export type Transition = Contract["rule"]["transitions"][number];
export type IdentifyBy = z.output<typeof identifyBy>;
type Spoken = { readonly rule: Pick<Contract["rule"], "transitions"> };

/** Returns the operation by which the service says who the credentials are; null where the contract has none. */
export function identityOperation({
  identity: told,
}: Pick<Contract["auth"], "identity">): z.output<typeof operationOfIdentity> | null {
  return told !== null && "path" in told ? told : null;
}

/** Returns what an update sends (contract `operations.update.body`), where that is not said by what its method is for. */
export function sentByUpdate({ update, get }: Pick<Operations, "update" | "get">): "declared" | "changes" | "merged" {
  if (update === null || get === null) return update?.body ?? "declared";
  return update.body ?? (update.method === "PATCH" ? "changes" : "merged");
}

/** Returns the pointers at which a rule, or a response about one, has its id; those of headers left out. */
export function idPointers({ id }: Pick<Contract["rule"], "id">): Pointer[] {
  return id.filter((place) => typeof place === "string");
}

/** Returns the pointers of what the service alone sets: the id, what `rule.readOnly` names, who changed it and when. */
export function servicePointers({ rule }: Pick<Contract, "rule">): Pointer[] {
  const { readOnly, changedBy, changedAt } = rule;
  return [...idPointers(rule), ...readOnly, ...[changedBy, changedAt].filter((pointer) => pointer !== null)];
}

/** Returns the fields that the service changes by requests of their own (contract `rule.transitions`). */
export function drivenFields({ rule }: Spoken): Pointer[] {
  return [...new Set(rule.transitions.map(({ at }) => at))];
}

/** Returns a definition without these fields, as create and update send it. */
export function withoutDriven(definition: JsonObject, contract: Spoken): JsonObject {
  return drivenFields(contract).reduce(withoutValueAt, definition);
}

/** Writes the text of `contract.schema.json`: what a contract file may hold, as JSON Schema 2020-12. */
export function publishedSchema(): string {
  const schema = { $id: "urn:pulumi-merchant-rules:contract:1", ...z.toJSONSchema(contractSchema, { io: "input" }) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
