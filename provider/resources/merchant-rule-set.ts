import type * as pulumi from "@pulumi/pulumi";
import { CustomResource } from "@pulumi/pulumi/resource.js";
import { definitionsOf } from "../../sdk/json/definition.ts";
import type { JsonObject } from "../../sdk/json/json.ts";
import { setType as type } from "../host/types.ts";
import type { DefinitionInput } from "./merchant-rule.ts";
import { keepProgramFrames, refuseImport, registeredInputs } from "./registration.ts";

/** The arguments of a set of rules. */
export interface MerchantRuleSetArgs<Definition extends object = JsonObject> {
  /**
   * Definitions by key, each an object or its JSON text; see `MerchantRuleArgs.definition`. The engine takes a fraction of
   * the time for texts; `ruleTexts` and `loadRules(folder, { as: "texts" })` make them. A rule is its key: adding, changing
   * or removing one touches that rule alone, and renaming one touches none. A key has 1 to 200 letters, digits, blanks and
   * `. _ : / @ -`, a letter or digit first.
   */
  rules: pulumi.Input<Record<string, pulumi.Input<string> | pulumi.Input<DefinitionInput<Definition>>>>;
  /**
   * The connection by which the service is reached, by its name in settings; a plain string. Default: `default`. A change
   * replaces. Not together with an explicit provider.
   */
  connection?: string | undefined;
  /**
   * Rules to take over instead of creating them: ruleIds by key, or true for those with the same natural keys that have no
   * marks. A ruleId also takes back a rule that got another owner's mark.
   */
  adopt?: pulumi.Input<boolean | Record<string, pulumi.Input<string>>> | undefined;
  /**
   * What a run does to a rule that somebody changed at the service since the state saw it: `overwrite` it, which is said
   * where the run has read the rule anyhow; or `fail` before anything is written: then rules are read before they are
   * written, in one pass of the list or by a GET each. Default: the connection's setting `onDrift`, else `overwrite`.
   */
  onDrift?: pulumi.Input<"overwrite" | "fail"> | undefined;
  /**
   * The treatment of rules at the service that are not in this set: `ignore` (default), `warn`, or `fail` before
   * anything is written. They are looked for by every preview, up and refresh, whether the set changes or not, which
   * then reads the list. For a set that holds all rules of its merchant; needs `operations.list` in the contract.
   */
  onUnmanaged?: pulumi.Input<"ignore" | "warn" | "fail"> | undefined;
  /**
   * Allows the set to have no rules, or to lose every rule that it has. Default: false; then the preview refuses it,
   * because a folder that was moved looks the same.
   */
  allowEmpty?: pulumi.Input<boolean> | undefined;
}

/**
 * Many rules in one resource. One that fails does not stop the others: the error names every key that failed, what
 * succeeded is kept in the state, and the next run does the rest.
 *
 * @throws pulumi.RunError when a definition holds something that is not JSON, with its path.
 */
export class MerchantRuleSet<Definition extends object = JsonObject> extends CustomResource {
  /** @internal */
  static readonly __pulumiType = type;

  /** The rules by key as they were declared, objects or JSON texts, or as they were seen by the last refresh. */
  declare readonly rules: pulumi.Output<Record<string, Definition | string>>;
  /** The service's identifiers of the rules, by key. */
  declare readonly ruleIds: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: MerchantRuleSetArgs<Definition>, opts?: pulumi.CustomResourceOptions) {
    refuseImport(type, name, opts);
    const inputs = { ...registeredInputs("merchantRuleSet", { type, name, opts }, args, "rules"), ruleIds: undefined };
    const restoreTraces = keepProgramFrames();
    try {
      super(type, name, inputs, opts);
    } finally {
      restoreTraces();
    }
  }

  /** The definitions by key, whichever form each was declared in. */
  get definitions(): pulumi.Output<Record<string, Definition>> {
    return this.rules.apply((rules) => definitionsOf<Definition>(rules));
  }

  /** Decides whether a value is a MerchantRuleSet, from whichever copy of this package. */
  static override isInstance(value: unknown): value is MerchantRuleSet {
    return CustomResource.isInstance(value) && "__pulumiType" in value && value.__pulumiType === type;
  }
}
