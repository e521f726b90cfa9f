// Makes two packages of what the compiler wrote. Files of the local package import the main package by its name, in place
// of the copies beside them. Declarations to which no door of a package (`exports` in package.json) leads are removed:
// nobody can import those, and on a disk each takes a block.
import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiled = join(root, "local/dist");
const own = join(compiled, "local");
const inside = "pulumi-merchant-rules/internal/";

for (const file of filesOf("local/dist/local/**/*.{js,d.ts}")) importByName(file);
for (const folder of readdirSync(compiled))
  if (join(compiled, folder) !== own) rmSync(join(compiled, folder), { recursive: true });
dropUnreachedDeclarations();

/** Replaces in `file` each path that leads out of the local package. */
function importByName(file: string): void {
  const text = readFileSync(file, "utf8");
  const outward = specifiersIn(text)
    .map((specifier) => ({ specifier, target: resolve(dirname(file), specifier) }))
    .filter(({ specifier, target }) => specifier.startsWith(".") && relative(own, target).startsWith(".."));
  const named = outward.reduce((result, { specifier, target }) => {
    const path = relative(compiled, target).replaceAll("\\", "/");
    return result.replaceAll(`"${specifier}"`, `"${inside}${path.replace(/\.ts$/, ".js")}"`);
  }, text);
  if (named !== text) writeFileSync(file, named);
}

function dropUnreachedDeclarations(): void {
  const reached = new Set<string>();
  const waiting = [...doorsOf(root), ...doorsOf(join(root, "local"))];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    waiting.push(...declarationsFor(file));
  }
  for (const file of filesOf("{dist,local/dist}/**/*.d.ts")) if (!reached.has(file)) rmSync(file);
}

/** Returns the declaration of each entry that the package in `folder` exports. */
function doorsOf(folder: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.values<string | { types: string }>(exports).flatMap((door) =>
    typeof door === "string" ? [] : [join(folder, door.types)],
  );
}

/** Returns the declarations of these packages from which the declaration `file` imports. */
function declarationsFor(file: string): string[] {
  return specifiersIn(readFileSync(file, "utf8"))
    .map((name) => name.replace(/\.[jt]s$/, ".d.ts"))
    .flatMap((name) => {
      if (name.startsWith(inside)) return [join(root, "dist", name.slice(inside.length))];
      return name.startsWith(".") ? [resolve(dirname(file), name)] : [];
    });
}

function specifiersIn(text: string): string[] {
  return ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
}

function filesOf(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((name) => join(root, name));
}
