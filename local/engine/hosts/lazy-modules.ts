import { createRequire, registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** Modules that the SDK loads at its start, and needs only to turn functions of a program into text. */
const heavy: ReadonlySet<string> = new Set(["@npmcli/arborist", "typescript"]);

/** Modules of which the SDK takes functions at its start, and needs them only where `--tracing` is given. */
const ofTracing: ReadonlySet<string> = new Set(
  ["exporter-zipkin", "instrumentation", "instrumentation-grpc", "resources", "sdk-trace-base", "sdk-trace-node"].map(
    (name) => `@opentelemetry/${name}`,
  ),
);

const loaded = createRequire(import.meta.url).cache;

/**
 * Lets the SDK's heavy modules be loaded when they are first used, which most programs never do: they take two thirds of
 * the time in which a provider host starts, and a tenth of that of a program. A program that requires one of them itself
 * gets the real one.
 */
export function loadHeavyModulesLate(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isTheSdk = /[\\/]@pulumi[\\/]pulumi[\\/]/.test(context.parentURL ?? "");
      const source = heavy.has(specifier) ? standIn : ofTracing.has(specifier) ? standInByFunctions : undefined;
      if (isTheSdk && source !== undefined && loaded[fileURLToPath(found.url)] === undefined)
        standInFor(found.url, source);
      return found;
    },
  });
}

/** Replaces a module for the load that follows alone: in early versions of Node 22 a module that is imported under a load hook has no `require.extensions`. */
function standInFor(late: string, source: string): void {
  const hooks = registerHooks({
    load(url, context, next) {
      if (url !== late) return next(url, context);
      hooks.deregister();
      return { format: "commonjs", source, shortCircuit: true };
    },
  });
}

/** Leaves the cache at once, so that everybody else gets the real module; `__esModule` keeps it from being copied. */
const standIn = `
delete require.cache[module.filename];
const real = () => require(module.filename);
module.exports = new Proxy({}, { get: (_, name) => name === "__esModule" || real()[name], has: (_, name) => name in real() });
`;

/** Where the SDK takes functions and classes out of the module at once, each of them loads it when it is called. */
const standInByFunctions = `
delete require.cache[module.filename];
const real = () => require(module.filename);
const late = (name) => new Proxy(function () {}, {
  apply: (_, self, args) => Reflect.apply(real()[name], self, args),
  construct: (_, args) => Reflect.construct(real()[name], args),
  get: (_, key) => real()[name][key],
});
module.exports = new Proxy({}, { get: (_, name) => name === "__esModule" || late(name), has: (_, name) => name in real() });
`;
