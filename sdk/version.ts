import { createRequire } from "node:module";

/** The version of this package. It names itself, so the sources and the compiled files find the same. */
export function packageVersion(): string {
  try {
    const described: unknown = createRequire(import.meta.url)("pulumi-merchant-rules/package.json");
    if (typeof described === "object" && described !== null && "version" in described) return String(described.version);
  } catch {
    // Bundled into another program, the package has no file of its own.
  }
  return "unknown";
}
