import type * as pulumi from "@pulumi/pulumi";
import { all } from "@pulumi/pulumi/output.js";
import { CustomResource } from "@pulumi/pulumi/resource.js";
import { isDryRun } from "@pulumi/pulumi/runtime/settings.js";
import type { Json, JsonObject } from "../../sdk/json/json.ts";
import { ruleType as type } from "../host/types.ts";
import { keepProgramFrames, refuseImport, registeredInputs } from "./registration.ts";

/** The arguments of one rule. */
export interface MerchantRuleArgs<Definition extends object | string = JsonObject> {
  /**
   * The rule as the service stores it: any JSON object; its fields are a gap of the specification (seed, section 2).
   * Fields that are left out are not managed; null is a value. May hold outputs and secrets at any depth.
   * Or its JSON text, which means the same and which the engine sees as one value: no option or transform can name a path
   * inside it, a Pulumi secret hides all of it, a value at a path of the contract's `rule.secret` is refused in it, and
   * policy packs of others see a text.
   * A change updates the rule in place, or replaces it where the contract has no update or calls the path immutable.
   */
  definition: pulumi.Input<DefinitionInput<Definition>>;
  /**
   * The connection by which the service is reached, by its name in settings; a plain string. Default: `default`. Another
   * name alone changes nothing at the service; the rule is replaced where both merchants are known and differ. Not together
   * with an explicit provider.
   */
  connection?: string | undefined;
  /**
   * Take over a rule that exists already: its ruleId, or true for the rule with the same natural key (contract
   * `rule.naturalKey`) that has no mark. Where the rule differs, it is made as declared; a write that would erase what is
   * not declared is refused. A ruleId also takes back a rule that got another owner's mark; true is looked at by create alone.
   */
  adopt?: pulumi.Input<string | boolean> | undefined;
  /**
   * What a run does to a rule that somebody changed at the service since the state saw it: `overwrite` it, which is said
   * where the run has read the rule anyhow; or `fail` before anything is written: then rules are read before they are
   * written, in one pass of the list or by a GET each. Default: the connection's setting `onDrift`, else `overwrite`.
   */
  onDrift?: pulumi.Input<"overwrite" | "fail"> | undefined;
}

/** A definition whose values may be outputs, at any depth. */
export type DefinitionInput<T> = Json extends T
  ? JsonInput
  : JsonObject extends T
    ? JsonInputs | (string extends T ? pulumi.Input<string> : never)
    : T extends string | number | boolean | null | undefined
      ? pulumi.Input<T>
      : { [K in keyof T]: pulumi.Input<DefinitionInput<T[K]>> };

/** JSON whose values may be outputs. By interfaces, so that it may refer to itself. */
export type JsonInput = pulumi.Input<Json> | readonly JsonInput[] | JsonInputs;

/** A JSON object whose values may be outputs. */
export interface JsonInputs {
  readonly [key: string]: JsonInput | undefined;
}

/**
 * One rule at the payments service. Its id is the service's `ruleId`.
 *
 * ```ts
 * new MerchantRule("large-amounts", {
 *   definition: { name: "large-amounts", priority: 10, actions: [{ type: "decline" }] },
 * });
 * ```
 *
 * @throws pulumi.RunError when the definition holds something that is not JSON, with its path.
 */
export class MerchantRule<Definition extends object | string = JsonObject> extends CustomResource {
  /** @internal */
  static readonly __pulumiType = type;

  /** The definition as it was declared, an object or its JSON text, or as it was seen by the last refresh. */
  declare readonly definition: pulumi.Output<Definition>;

  /**
   * The service's identifier of the rule (seed, section 2), and known in the preview of an update. It is the resource's id, but
   * where an update gives another one (contract `operations.update.id`): then the resource's id follows with the next refresh.
   */
  declare readonly ruleId: pulumi.Output<string>;

  constructor(name: string, args: MerchantRuleArgs<Definition>, opts?: pulumi.CustomResourceOptions) {
    refuseImport(type, name, opts);
    const inputs = { ...registeredInputs("merchantRule", { type, name, opts }, args, "definition"), ruleId: undefined };
    const restoreTraces = keepProgramFrames();
    try {
      super(type, name, inputs, opts);
    } finally {
      restoreTraces();
    }
    // In a preview the engine does not know what an update will give. A test's mocks may know the id alone.
    const given: pulumi.Output<string | undefined> = this.ruleId;
    const ruleId = isDryRun() ? this.id : all([this.id, given]).apply(([id, own]) => own ?? id);
    Object.assign(this, { ruleId });
  }

  /** Decides whether a value is a MerchantRule, from whichever copy of this package. */
  static override isInstance(value: unknown): value is MerchantRule {
    return CustomResource.isInstance(value) && "__pulumiType" in value && value.__pulumiType === type;
  }
}
