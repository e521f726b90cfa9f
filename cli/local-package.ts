import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MerchantRulesError } from "../sdk/errors.ts";
import { reasonOf } from "../sdk/json/json.ts";
import { packageVersion } from "../sdk/version.ts";

const name = "pulumi-merchant-rules-local";

/**
 * The local engine, from the package that developers and CI have beside this one.
 * @throws MerchantRulesError: it is not installed, or in another version
 */
export async function localEngine(): Promise<typeof import("pulumi-merchant-rules-local/engine")> {
  return await import(entryOf("engine", "run the local engine", "; or use the Pulumi CLI"));
}

/**
 * The local rules service, from the same package.
 * @throws MerchantRulesError: it is not installed, or in another version
 */
export async function localService(): Promise<typeof import("pulumi-merchant-rules-local/service")> {
  return await import(entryOf("service", "start the local rules service", ""));
}

/**
 * The quickstart, from the same package.
 * @throws MerchantRulesError: it is not installed, or in another version
 */
export async function localQuickstart(): Promise<typeof import("pulumi-merchant-rules-local/quickstart")> {
  return await import(entryOf("quickstart", "run the quickstart", ""));
}

/** The address of one of the package's entries. It is looked for beside this package, then in the project's folder. */
function entryOf(entry: string, attempted: string, otherwise: string): string {
  const unusable = (reason: string, cause?: unknown): MerchantRulesError => {
    const advice = `install it: npm install --save-dev ${name}@${packageVersion()} (pnpm add --save-dev, yarn add --dev)`;
    return new MerchantRulesError("SETTINGS_INVALID", reason, { attempted, advice: advice + otherwise, cause });
  };
  const version = packageVersion();
  for (const place of [import.meta.url, join(process.cwd(), "package.json")]) {
    const require = createRequire(place);
    let file: string;
    try {
      file = require.resolve(`${name}/${entry}`);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") continue;
      throw unusable(reasonOf(error), error);
    }
    const described: unknown = require(`${name}/package.json`);
    const installed = Object(described).version;
    if (installed === version) return pathToFileURL(file).href;
    throw unusable(`${name} has version ${installed}, and pulumi-merchant-rules ${version}`);
  }
  throw unusable(`the package ${name} is not installed`);
}
