import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../../sdk/json/json.ts";
import type { Project } from "./project.ts";

/**
 * Tells why the SDK would find no program to run, and what to do about it; undefined where it finds one. The SDK's own
 * message names a file that nobody has heard of.
 */
export function entryPointFault({
  programFolder,
  entryPoint,
  typescript,
}: Pick<Project, "programFolder" | "entryPoint" | "typescript">):
  | { readonly reason: string; readonly advice: string }
  | undefined {
  const manifest = manifestIn(programFolder);
  if (typeof manifest === "string")
    return { reason: manifest, advice: "correct that file: Node reads it before it runs a program" };
  const { main, type, exports } = manifest;
  const isThere = (file: string): boolean => existsSync(join(programFolder, file));
  // What Pulumi.yaml names was looked for when that was read; of exports Node itself says what is wrong.
  if (entryPoint !== "." || exports !== undefined) return undefined;
  if (typeof main === "string" && ["", ".js", ".json", ".node", ".ts"].some((end) => isThere(main + end)))
    return undefined;
  const usual = type === "module" ? ["index.js", "index.mjs", "index.ts", "index.mts"] : ["index.js", "index.json"];
  if ([...usual, ...(typescript ? ["index.ts"] : [])].some(isThere)) return undefined;
  const lines = '"type": "module" and "main": "index.ts"';
  const named =
    typeof main === "string"
      ? `package.json names main ${JSON.stringify(main)}, which does not exist`
      : 'package.json has no "main", and there is no index.js';
  return {
    reason: `the program has no entry point: in ${programFolder}, ${isThere("package.json") ? named : "there is no package.json"}`,
    advice: isThere("index.ts")
      ? `write ${lines} into package.json`
      : `write the program into index.ts, and ${lines} into package.json`,
  };
}

/** Reads a package.json. @returns the empty object where there is none; a sentence where it cannot be read */
function manifestIn(folder: string): { main?: unknown; type?: unknown; exports?: unknown } | string {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return {};
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Object(parsed);
  } catch (error) {
    return `${file} cannot be read: ${reasonOf(error)}`;
  }
}
