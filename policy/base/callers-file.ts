import { resolve } from "node:path";

/**
 * Returns the full path of a file that a configuration names. A relative path begins at the folder in which pulumi was
 * started: the policy host works in the folder of the pack, but the shell from which pulumi was started leaves its folder in
 * PWD. Without PWD, the path begins at the pack's folder.
 */
export function callersFile(name: string): string {
  return resolve(process.env.PWD ?? "", name);
}
