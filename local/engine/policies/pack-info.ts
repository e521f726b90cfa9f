import type { JsonObject } from "../../../sdk/json/index.ts";
import type { Level } from "./findings.ts";

/** A pack's description of itself. */
export interface PackInfo {
  readonly name: string;
  readonly version: string;
  readonly policies: readonly PolicyInfo[];
  /** The pack's own settings of its policies. */
  readonly settings: PolicySettings;
}

export interface PolicyInfo {
  readonly name: string;
  readonly level: Level;
  /** The schema of the policy's configuration; undefined where it takes none. */
  readonly schema: { readonly properties: JsonObject; readonly required: readonly string[] } | undefined;
}

/** The settings of one policy. Without a level the policy's own counts. */
export interface PolicySetting {
  readonly level: Level | undefined;
  readonly properties: JsonObject;
}

/** By the policy's name; `all` is every policy's level. */
export type PolicySettings = ReadonlyMap<string, PolicySetting>;
