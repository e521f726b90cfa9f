import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { z } from "zod";

/** The machine on which the figures were measured. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGiB: number;
  readonly platform: string;
  readonly node: string;
  /** Versions by package; `pulumi` is the CLI, where there is one. */
  readonly versions: Readonly<Record<string, string>>;
}

export function thisMachine(): Machine {
  const cli = spawnSync("pulumi", ["version"], { encoding: "utf8" });
  const packages = ["@pulumi/pulumi", "undici", "json-logic-engine", "@duckdb/node-api"].map((name) => [
    name,
    versionOf(name),
  ]);
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? "unknown",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    versions: {
      ...Object.fromEntries(packages),
      ...(cli.status === 0 ? { pulumi: cli.stdout.trim().replace(/^v/, "") } : {}),
    },
  };
}

const described = z.object({ version: z.string() });

function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return described.parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
