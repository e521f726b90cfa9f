import { resolve } from "node:path";

/**
 * The full path of a file that a configuration names. A relative path begins at the folder in which pulumi was started: the
 * policy host works in the folder of the pack, and the shell of who started pulumi leaves its own in PWD. Where there is no
 * PWD, it begins at the pack's folder.
 */
export function callersFile(name: string): string {
  return resolve(process.env.PWD ?? "", name);
}
