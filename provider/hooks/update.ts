import type { dynamic } from "@pulumi/pulumi";
import type { Properties } from "../host/wire.ts";
import { callOf, type Hooks } from "./call.ts";
import { make } from "./make.ts";

/** Makes the rules of a resource as declared. @throws MerchantRulesError, PartialResult */
export async function update(
  hooks: Hooks,
  id: string,
  olds: Properties,
  news: Properties,
): Promise<dynamic.UpdateResult<Properties>> {
  const { outs } = await make(callOf(hooks, news, { id, olds }), id, news);
  return { outs };
}
