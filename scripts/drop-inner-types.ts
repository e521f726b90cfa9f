// Removes from dist/ each declaration that no door of the package (`exports` in package.json) leads to. Nobody can import
// those, and on a disk each takes a block.
import { globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));

const reached = new Set<string>();
const waiting = doors();
for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
  if (reached.has(file)) continue;
  reached.add(file);
  waiting.push(...importsOf(file));
}
for (const name of globSync("dist/**/*.d.ts", { cwd: root })) {
  const file = join(root, name);
  if (!reached.has(file)) rmSync(file);
}

function doors(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values<string | { types: string }>(exports).flatMap((door) =>
    typeof door === "string" ? [] : [join(root, door.types)],
  );
}

/** The files of this package that a declaration imports from. */
function importsOf(file: string): string[] {
  return ts
    .preProcessFile(readFileSync(file, "utf8"))
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith("."))
    .map((name) => resolve(dirname(file), name.replace(/\.[jt]s$/, ".d.ts")));
}
