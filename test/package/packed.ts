import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { newFolder } from "../support/folder.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A tarball, as `npm publish` would send it. */
export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly file: string;
}

/** A package as a registry would have it, in a project. */
export interface PackedPackage {
  readonly tarball: Uint8Array;
  /** The package's folder in the project. */
  readonly folder: string;
}

/** A folder of a project, outside this repository. */
export function newProject(): { readonly project: string; remove(): void } {
  const project = newFolder();
  return { project, remove: () => rmSync(project, { recursive: true }) };
}

/**
 * Packs a package of this repository as it was built, and unpacks it into a project as npm does. The packages that it
 * depends on are those of this repository; those that are there already stay.
 * @param source the folder of its package.json, from the root
 */
export function packInto(project: string, source = "."): PackedPackage {
  const modules = join(project, "node_modules");
  const { file } = pack(join(root, source), project);
  const { name, dependencies, peerDependencies } = packageIn(join(root, source));
  const folder = join(modules, name);
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", file, "-C", folder, "--strip-components", "1"]);
  for (const needed of [...Object.keys({ ...dependencies, ...peerDependencies }), "@types/node"]) {
    if (existsSync(join(modules, needed))) continue;
    mkdirSync(dirname(join(modules, needed)), { recursive: true });
    symlinkSync(join(root, "node_modules", needed), join(modules, needed));
  }
  return { tarball: readFileSync(file), folder };
}

/** Packs the package of a folder, as it was built last. */
export function pack(folder: string, destination: string): Packed {
  const words = ["pack", "--ignore-scripts", "--silent", "--pack-destination", destination];
  const file = join(destination, execFileSync("npm", words, { cwd: folder, encoding: "utf8" }).trim());
  const { name, version = "" } = packageIn(folder);
  return { name, version, file };
}

interface Described {
  readonly name: string;
  readonly version?: string;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly exports?: Record<string, unknown>;
  readonly scripts?: Record<string, string>;
}

/** A package's own description. */
export function packageIn(folder: string): Described {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
