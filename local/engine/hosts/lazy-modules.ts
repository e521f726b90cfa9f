import { createRequire, registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** Modules that the SDK loads at its start, and needs only to turn functions of a program into text. */
const heavy: ReadonlySet<string> = new Set(["@npmcli/arborist", "typescript"]);

const loaded = createRequire(import.meta.url).cache;

/**
 * Lets the SDK's heavy modules be loaded when they are first used, which most programs never do: they take two thirds of
 * the time in which a provider host starts. A program that requires one of them itself gets the real one.
 */
export function loadHeavyModulesLate(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isTheSdk = /[\\/]@pulumi[\\/]pulumi[\\/]/.test(context.parentURL ?? "");
      if (isTheSdk && heavy.has(specifier) && loaded[fileURLToPath(found.url)] === undefined) standInFor(found.url);
      return found;
    },
  });
}

/** For the load that follows alone: in early versions of Node 22 a module that is imported under a load hook has no `require.extensions`. */
function standInFor(late: string): void {
  const hooks = registerHooks({
    load(url, context, next) {
      if (url !== late) return next(url, context);
      hooks.deregister();
      return { format: "commonjs", source: standIn, shortCircuit: true };
    },
  });
}

/** Leaves the cache at once, so that everybody else gets the real module; `__esModule` keeps it from being copied. */
const standIn = `
delete require.cache[module.filename];
const real = () => require(module.filename);
module.exports = new Proxy({}, { get: (_, name) => name === "__esModule" || real()[name], has: (_, name) => name in real() });
`;
