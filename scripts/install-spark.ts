// Installs Spark for npm run test:spark: a pinned PySpark, in a folder that Git ignores.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { installedSpark, sparkFolder, sparkVersion } from "../test/support/spark.ts";

if (installedSpark() === undefined) install();

function install(): void {
  console.log(`Installing PySpark ${sparkVersion} into ${sparkFolder} ...`);
  rmSync(sparkFolder, { recursive: true, force: true });
  run("python3", ["-m", "venv", sparkFolder], "install Python 3 with its module venv");
  run(
    `${sparkFolder}/bin/python`,
    ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `pyspark==${sparkVersion}`],
    "see what pip says above; it needs a package registry, which pip's own settings name",
  );
  if (installedSpark() !== undefined) return;
  console.error("error: PySpark was installed, but it does not run. What to do: install Java 17 or newer");
  process.exit(1);
}

function run(command: string, words: readonly string[], advice: string): void {
  const { status, error } = spawnSync(command, words, { stdio: ["ignore", "ignore", "inherit"] });
  if (error === undefined && status === 0) return;
  console.error(`error: ${[command, ...words].join(" ")} failed${error === undefined ? "" : ` (${error.message})`}.`);
  console.error(`What to do: ${advice}.`);
  process.exit(1);
}
