/**
 * A rules service and a stack of its own for one test of a program that declares rules.
 *
 * @module pulumi-merchant-rules-local/testing
 */

export type { ContractInput } from "../../sdk/contract/index.ts";
export { definitionsOf } from "../../sdk/json/index.ts";
export type { Fault, FaultInput, LocalService } from "../service/index.ts";
export type { RuleChange, RuleChanges } from "./by-rule.ts";
export type { DecideOptions, PaymentDecision } from "./decide.ts";
export type { Program } from "./program.ts";
export type { LiveRule, WhichRule } from "./rules-by-hand.ts";
export type { RunOptions, RunOutcome } from "./runs.ts";
export { startWorld, type World, type WorldOptions } from "./world.ts";
