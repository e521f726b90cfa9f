import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Returns the nearest folder upwards that has a Pulumi.yaml; undefined where there is none. */
export function projectFolderAbove(folder: string): string | undefined {
  for (let here = resolve(folder); ; here = dirname(here)) {
    if (["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].some((name) => existsSync(join(here, name)))) return here;
    if (dirname(here) === here) return undefined;
  }
}

/** Returns the nearest folder upwards that has a Pulumi.yaml; the folder itself where there is none. */
export function projectFolder(folder: string): string {
  return projectFolderAbove(folder) ?? resolve(folder);
}
