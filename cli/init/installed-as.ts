import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { field, isJson, isJsonObject } from "../../sdk/json/json.ts";
import { packageVersion } from "../../sdk/version.ts";

/**
 * Returns the version of one of these packages for the package.json of a folder: this version; or the file from which the
 * project that runs this command has it, as a path from that folder.
 */
export function installedAs(name: string, folder: string): string {
  const project = runningProject();
  const said = project === undefined ? undefined : dependencyOf(project, name);
  if (project === undefined || said?.startsWith("file:") !== true) return packageVersion();
  const file = resolve(project, said.slice("file:".length));
  return `file:${relative(resolve(folder), file).replaceAll("\\", "/")}`;
}

/** Finds the folder whose node_modules this package is in; undefined in a clone. */
function runningProject(): string | undefined {
  const own = createRequire(import.meta.url).resolve("pulumi-merchant-rules/package.json");
  const end = own.search(/[\\/]node_modules[\\/]/);
  return end === -1 ? undefined : own.slice(0, end);
}

function dependencyOf(project: string, name: string): string | undefined {
  let described: unknown;
  try {
    described = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  } catch {
    return undefined; // A folder that something else was installed into says nothing.
  }
  if (!isJson(described) || !isJsonObject(described)) return undefined;
  const groups = [described.dependencies, described.devDependencies, described.optionalDependencies];
  return groups
    .flatMap((group) => (isJsonObject(group) ? [field(group, name)] : []))
    .find((each) => typeof each === "string");
}
