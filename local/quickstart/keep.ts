import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { isRunning, processSchema, stop } from "./processes.ts";

/** The beginning of the name of each quickstart's folder, in the folder for temporary files. */
export const folderPrefix = "merchant-rules-quickstart-";

const recordFile = "quickstart.json";

const recordSchema = z.object({
  /** True where the user wanted it to stay. */
  kept: z.boolean(),
  runner: processSchema.optional(),
  service: processSchema.extend({ url: z.string().optional() }).optional(),
});

/** The notes of a quickstart in its folder, by which another process can clean up after it. */
export type QuickstartRecord = z.infer<typeof recordSchema>;

/** A quickstart's folder with what is noted there. */
export interface Found {
  readonly folder: string;
  readonly record: QuickstartRecord;
}

export function writeRecord(folder: string, record: QuickstartRecord): void {
  const file = join(folder, recordFile);
  writeFileSync(`${file}.new`, JSON.stringify(record, null, 2));
  renameSync(`${file}.new`, file);
}

/** The quickstarts of this user: those that still run, and those that have left something behind. */
export function findQuickstarts(): { readonly running: Found[]; readonly left: Found[] } {
  const parent = tmpdir();
  const found = readdirSync(parent)
    .filter((name) => name.startsWith(folderPrefix))
    .map((name) => join(parent, name))
    .filter(isOwn)
    .flatMap((folder): Found[] => {
      const record = readRecord(folder);
      return record === undefined ? [] : [{ folder, record }];
    });
  const runs = ({ record: { kept, runner } }: Found): boolean => !kept && runner !== undefined && isRunning(runner);
  return { running: found.filter(runs), left: found.filter((each) => !runs(each)) };
}

/** Stops the service of a quickstart and removes its folder. Gives what was done, a sentence each. */
export async function cleanUp({ folder, record: { service } }: Found): Promise<string[]> {
  const done: string[] = [];
  if (service !== undefined) {
    const name = serviceName(service);
    done.push((await stop(service)) ? `Stopped ${name}.` : `Not running any more: ${name}.`);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return [...done, `Removed ${folder}: the program, the stack with its state and settings, the service's rules.`];
}

export function serviceName({ pid, url }: NonNullable<QuickstartRecord["service"]>): string {
  return `the service${url === undefined ? "" : ` at ${url}`} (process ${pid})`;
}

/** In a folder that everybody may write to, another user's folder could name any process and any path. */
function isOwn(folder: string): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  return status?.isDirectory() === true && (process.getuid === undefined || status.uid === process.getuid());
}

function readRecord(folder: string): QuickstartRecord | undefined {
  const file = join(folder, recordFile);
  // Without a record the quickstart has only begun, or is being removed.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  return recordSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}
