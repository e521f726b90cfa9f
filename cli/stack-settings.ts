import { resolve } from "node:path";
import { projectFolderAbove } from "../provider/settings/project-folder.ts";
import type { SettingsSources } from "../provider/settings/sources.ts";
import { isEngineError } from "../stack/errors.ts";
import { type StackIdentity, stackIdentity } from "../stack/open/stack-identity.ts";
import { engineOf, pulumi, readSettings, type StackOptions } from "./stack.ts";

/**
 * The settings of a stack, and its identity. One that the local engine does not keep yet has the project's config. Outside
 * a project the environment alone has settings, and there is no stack.
 * @throws MerchantRulesError, EngineError: the stack cannot be read
 */
export async function settingsOfStack(
  options: StackOptions,
): Promise<{ sources: SettingsSources; identity: StackIdentity | undefined }> {
  const { stack, cwd, backend } = options;
  const folder = resolve(cwd ?? process.cwd());
  if (projectFolderAbove(folder) === undefined) return { sources: await readSettings(options), identity: undefined };
  const isLocal = engineOf(options) === "local";
  const named = isLocal ? undefined : (await pulumi(["stack", "--show-name"], options, folder)).trim();
  const identity = await stackIdentity({ stack, cwd, backendUrl: backend }, named);
  try {
    return { sources: await readSettings(options), identity };
  } catch (error) {
    if (!identity.isFirst || !isEngineError(error) || error.code !== "STACK_NOT_FOUND") throw error;
    const config = await identity.projectConfig();
    const sources = {
      config: (key: string) => config.get(key)?.text,
      environment: process.env,
      folder: identity.folder,
    };
    return { sources, identity };
  }
}
