import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hasJava17 } from "../real/wiremock.ts";

/** The PySpark that tests use, and where it is installed. */
export const sparkVersion = "4.3.0";
export const sparkFolder = fileURLToPath(new URL("../../.spark", import.meta.url));

/** The Python that has it; undefined where it is not installed, or there is no Java. */
export function installedSpark(): string | undefined {
  const python = join(sparkFolder, "bin", "python");
  if (!hasJava17 || !existsSync(python)) return undefined;
  const { status, stdout } = spawnSync(python, ["-c", "import pyspark; print(pyspark.__version__)"], {
    encoding: "utf8",
  });
  return status === 0 && stdout.trim() === sparkVersion ? python : undefined;
}

/** Runs queries in one session of Spark's local mode. @param folder for queries and rows @returns the rows of each */
export function inSpark(
  python: string,
  queries: readonly (readonly string[])[],
  folder: string,
): Record<string, unknown>[][] {
  const files = queries.map((statements, number) => {
    const file = join(folder, `query-${number}.json`);
    writeFileSync(file, JSON.stringify(statements));
    return file;
  });
  const script = fileURLToPath(new URL("run-spark.py", import.meta.url));
  const { status, stderr } = spawnSync(python, [script, ...files], { encoding: "utf8", cwd: folder });
  if (status !== 0) throw new Error(`Spark failed: ${stderr.slice(-4000)}`);
  return files.map((file) =>
    readFileSync(`${file}.rows`, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): Record<string, unknown> => JSON.parse(line)),
  );
}
