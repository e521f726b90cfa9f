import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { describeIssues, EngineError } from "../../../stack/errors.ts";
import { readIfThere } from "../../../stack/state/files.ts";
import { unsupported } from "../../../stack/unsupported.ts";
import { parseYaml } from "../../../stack/yaml-file.ts";
import type { PolicySettings } from "./pack-info.ts";
import { readPolicyConfig } from "./policy-config.ts";

/** The packs to run with an `up` or a `preview`. */
export interface PackChoice {
  /** Their folders. */
  readonly policyPacks?: readonly string[] | undefined;
  /** Their configuration, one file a pack in the same order, or none at all. */
  readonly policyPackConfigs?: readonly string[] | undefined;
}

/** A policy pack on the disk. */
export interface Pack {
  readonly folder: string;
  /** The folder as the user named it. */
  readonly shown: string;
  /** Of PulumiPolicy.yaml; where it has none, package.json has. */
  readonly version: string | undefined;
  /** The settings of the user's file, and its path. */
  readonly settings: PolicySettings;
  readonly configFile: string | undefined;
}

const packSchema = z.looseObject({
  runtime: z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)]),
  version: z.coerce.string().optional(),
});

/** Reads the packs and their configuration. @throws EngineError BAD_CALL, POLICY_PACK, UNSUPPORTED */
export async function readPacks(
  { policyPacks = [], policyPackConfigs = [] }: PackChoice,
  cwd: string,
): Promise<readonly Pack[]> {
  if (policyPackConfigs.length > 0 && policyPackConfigs.length !== policyPacks.length) {
    const counts = `there are ${policyPacks.length} policy packs and ${policyPackConfigs.length} configurations`;
    throw new EngineError(
      "BAD_CALL",
      `${counts}\nWhat to do: give one --policy-pack-config for each --policy-pack, in the same order, or none`,
    );
  }
  return await Promise.all(policyPacks.map((shown, at) => readPack(shown, policyPackConfigs[at], cwd)));
}

async function readPack(shown: string, configFile: string | undefined, cwd: string): Promise<Pack> {
  const folder = resolve(cwd, shown);
  const file = join(folder, "PulumiPolicy.yaml");
  const text = await readIfThere(file);
  if (text === undefined) {
    const what = existsSync(folder) ? `${shown} has no PulumiPolicy.yaml` : `there is no folder ${shown}`;
    throw new EngineError("POLICY_PACK", `${what}\nWhat to do: name the folder of a policy pack with --policy-pack`);
  }
  const parsed = packSchema.safeParse(parseYaml(text, file, "POLICY_PACK"));
  if (!parsed.success)
    throw new EngineError("POLICY_PACK", `${file} is not a policy pack: ${describeIssues(parsed.error)}`);
  const { runtime, version } = parsed.data;
  if (runtime !== "nodejs") throw unsupported("runtime", `a policy pack with the runtime "${runtime}" (${file})`);
  const settings = configFile === undefined ? new Map() : await readPolicyConfig(configFile, cwd);
  return { folder, shown, version, settings, configFile };
}
