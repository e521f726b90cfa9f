import { randomUUID } from "node:crypto";
import type { dynamic } from "@pulumi/pulumi";
import type { Properties } from "../host/wire.ts";
import { callOf, type Hooks } from "./call.ts";
import { demandReplaceable, idOf, make } from "./make.ts";

/** Makes the rules of a new resource. @throws MerchantRulesError, PartialResult */
export async function create(hooks: Hooks, inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
  const call = callOf(hooks, inputs);
  await demandReplaceable(call);
  const id = `set-${randomUUID()}`;
  const { outs, rules } = await make(call, id, inputs);
  return { id: idOf(call, id, rules), outs };
}
