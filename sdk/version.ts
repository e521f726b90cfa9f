import { createRequire } from "node:module";

/** Returns the version of this package, or `unknown`. It finds itself by name, so sources and compiled files find the same. */
export function packageVersion(): string {
  try {
    const described: unknown = createRequire(import.meta.url)("pulumi-merchant-rules/package.json");
    if (typeof described === "object" && described !== null && "version" in described) return String(described.version);
  } catch {
    // Bundled into another program, the package has no file of its own.
  }
  return "unknown";
}
