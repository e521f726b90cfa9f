import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the URLs of the files that an import of modules loads, but for those that Pulumi's SDK loads by itself. */
export function loadedBy(...modules: readonly string[]): string[] {
  const code = `
    const { registerHooks } = require("node:module");
    const loaded = new Set();
    registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context); } });
    require("@pulumi/pulumi");
    const before = new Set(loaded);
    Promise.all(${JSON.stringify(modules)}.map((module) => import(module)))
      .then(() => console.log(JSON.stringify([...loaded].filter((url) => !before.has(url)))));`;
  return JSON.parse(execFileSync(process.execPath, ["-e", code], { cwd: root, encoding: "utf8" }));
}
