import type { Session } from "../../../provider/hooks/session.ts";
import { ruleType, setType } from "../../../provider/host/types.ts";
import { secret } from "../../../provider/host/wire.ts";
import type { StateResource } from "../../../report/state/state-resource.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../sdk/json/index.ts";
import { hooksHere } from "./hosts.ts";
import { filled, resource } from "./owners.ts";

/** Makes rules as an `up` does, by resource name; gives the resources that are in the state then. */
export async function applied(session: Session, declared: Record<string, JsonObject>): Promise<StateResource[]> {
  const made: StateResource[] = [];
  for (const [name, args] of Object.entries(declared)) {
    const isSet = "rules" in args;
    const inputs = filled(resource(name, args), session);
    const { id, outs } = await hooksHere(isSet ? "merchantRuleSet" : "merchantRule", session).create(inputs);
    made.push(stateOf(name, isSet ? setType : ruleType, id, inputs, outs));
  }
  return made;
}

export function stateOf(
  name: string,
  type: string,
  id: string,
  inputs: JsonObject,
  outputs: JsonObject,
): StateResource {
  return { urn: `urn:pulumi:prod::shop::${type}::${name}`, type, id, inputs, outputs, isLeaving: false };
}

/** A copy in which a value at each of these places is a secret. `*` stands for every field. */
export function withSecretsAt(properties: JsonObject, ...paths: string[][]): JsonObject {
  const marked = (value: Json, [key, ...rest]: readonly string[]): Json => {
    if (key === undefined) return secret(value);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, key === "*" || key === name ? marked(child, rest) : child]),
    );
  };
  const all = paths.reduce<Json>(marked, properties);
  return isJsonObject(all) ? all : {};
}

/** These resources as `pulumi stack export` prints them; secrets are shown, or encrypted with a key that nobody has. */
export function exportOf(
  resources: readonly StateResource[],
  { config = {}, showSecrets = true }: { config?: JsonObject; showSecrets?: boolean } = {},
): string {
  const urn = "urn:pulumi:prod::shop::pulumi:providers:pulumi-nodejs::default";
  const provider = {
    urn,
    custom: true,
    type: "pulumi:providers:pulumi-nodejs",
    id: "p",
    inputs: stored(config, showSecrets),
  };
  const others = resources.map(({ isLeaving, inputs, outputs, ...about }) => ({
    ...about,
    custom: true,
    inputs: stored(inputs, showSecrets),
    outputs: stored(outputs, showSecrets),
    ...(isLeaving ? { delete: true } : {}),
  }));
  return JSON.stringify({ version: 3, deployment: { resources: [provider, ...others] } });
}

const signature = "4dabf18193072939515e22adb298388d";

function stored(value: Json, showSecrets: boolean): Json {
  return JSON.parse(JSON.stringify(value), (_, each: Json) => {
    if (!isJsonObject(each) || each[signature] === undefined) return each;
    const shown = showSecrets ? { plaintext: JSON.stringify(each.value) } : { ciphertext: "v1:AAAA:BBBB" };
    return { [signature]: each[signature], ...shown };
  });
}

/** A difference between two secrets, as a report has it. */
export const anotherSecret = { before: "[secret]", after: "[another secret]", secret: true } as const;
