import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MerchantRulesError } from "../sdk/errors.ts";
import { reasonOf } from "../sdk/json/json.ts";
import { packageVersion } from "../sdk/version.ts";

const name = "pulumi-merchant-rules-local";

interface Entries {
  readonly engine: typeof import("pulumi-merchant-rules-local/engine");
  readonly service: typeof import("pulumi-merchant-rules-local/service");
  readonly quickstart: typeof import("pulumi-merchant-rules-local/quickstart");
}

/** What each entry is loaded for, and what would do instead, for messages. */
const uses: Record<keyof Entries, readonly [attempted: string, otherwise: string]> = {
  engine: ["run the local engine", "; or use the Pulumi CLI"],
  service: ["start the local rules service", ""],
  quickstart: ["run the quickstart", ""],
};

/**
 * Loads an entry of the package that developers and CI have beside this one; a program needs none of it where it runs.
 * @throws MerchantRulesError: it is not installed, or in another version
 */
export async function localPackage<Entry extends keyof Entries>(entry: Entry): Promise<Entries[Entry]> {
  return await import(entryOf(entry));
}

/** Finds the address of one of the package's entries: beside this package, else in the project's folder. */
function entryOf(entry: keyof Entries): string {
  const [attempted, otherwise] = uses[entry];
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
