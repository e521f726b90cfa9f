import { isDeepStrictEqual } from "node:util";
import type { dynamic } from "@pulumi/pulumi";

// The hooks of a dynamic resource that stores its definition and does nothing else: what the engine and the hosts cost
// by themselves. Copied beside the program, where its `__provider` requires it.

type Properties = Record<string, unknown>;

export async function diff(_id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
  return { changes: !isDeepStrictEqual(olds.definition, news.definition) };
}

export async function create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
  return { id: "nothing", outs: inputs };
}

export async function update(_id: string, _olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
  return { outs: news };
}
