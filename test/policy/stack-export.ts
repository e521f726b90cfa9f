import { setType } from "../../provider/host/types.ts";
import type { Json } from "../../sdk/json/index.ts";
import { newFile } from "../support/folder.ts";
import type { Declared } from "./evaluate.ts";

const signature = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };

/** A secret as the state has it, and as `--show-secrets` shows it. */
export const ciphertext = { ...signature, ciphertext: "v1:AAAA:AAAA" };
export const plaintext = (value: Json) => ({ ...signature, plaintext: JSON.stringify(value) });

/** A file as `pulumi stack export` writes it, of a stack in which these resources are deployed. */
export function stackExport(deployed: readonly Declared[], more: object = {}): string {
  const file = newFile("baseline.json", JSON.stringify({ version: 3, deployment: deploymentOf(deployed, more) }));
  return file;
}

export function deploymentOf(deployed: readonly Declared[], more: object = {}): object {
  const root = {
    urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
    custom: false,
    type: "pulumi:pulumi:Stack",
  };
  const resources = deployed.map(({ type, name, props }) => ({
    urn: `urn:pulumi:dev::shop::${type}::${name}`,
    custom: true,
    id: name,
    type,
    inputs: props,
    outputs: { ...props, ...ids(type, props), stateVersion: 3 },
    ...more,
  }));
  return { manifest: {}, resources: [root, ...resources] };
}

/** A resource as the engine shows it in a preview that does not change it. */
export function unchanged(declared: Declared): Declared {
  return { ...declared, props: { ...declared.props, ...ids(declared.type, declared.props) } };
}

function ids(type: string, { rules }: Declared["props"]): Record<string, unknown> {
  if (type !== setType) return { ruleId: "r-1" };
  return { ruleIds: Object.fromEntries(Object.keys(Object(rules)).map((key) => [key, `r-${key}`])) };
}
