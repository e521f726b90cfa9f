import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../report/index.ts";
import { newFolder } from "../support/folder.ts";
import { command, setVariables } from "./command.ts";

/** The end of a run of the command. */
export interface DriftRun {
  readonly code: number;
  readonly report: Report | undefined;
  /** The report as it was written. */
  readonly text: string;
  readonly errors: string;
}

/** A folder of its own for one test, from which the command is run, in this process. */
export function driftFolder(environment: Record<string, string> = {}) {
  const folder = newFolder();
  setVariables(environment);
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return {
    folder,
    write,
    /** Runs `merchant-rules drift` in the folder; the report is JSON unless the flags say otherwise. */
    async drift(...flags: string[]): Promise<DriftRun> {
      const output = join(folder, "report");
      rmSync(output, { force: true });
      const format = flags.includes("--format") ? [] : ["--format", "json"];
      const inFolder = flags.includes("--cwd") ? [] : ["--cwd", folder];
      const { code, stderr } = await command("drift", ...inFolder, ...format, "--output", output, ...flags);
      const text = code === 0 || code === 7 ? readFileSync(output, "utf8") : "";
      const report = format.length > 0 && text !== "" ? JSON.parse(text) : undefined;
      return { code, text, errors: stderr.replace(/\n$/, ""), report };
    },
  };
}
