import { createRequire } from "node:module";

/** `pulumi-merchant-rules/<version>`; the package names itself, so the sources and the compiled files find the same version. */
export const userAgent = `pulumi-merchant-rules/${version()}`;

function version(): string {
  try {
    const described: unknown = createRequire(import.meta.url)("pulumi-merchant-rules/package.json");
    if (typeof described === "object" && described !== null && "version" in described) return String(described.version);
  } catch {
    // Bundled into another program, the package has no file of its own.
  }
  return "unknown";
}
