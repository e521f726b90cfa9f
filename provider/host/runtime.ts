/** Runtimes that say they are Node and are not: what they lack shows in the middle of a run. */
const others = { bun: "Bun", deno: "Deno" } as const;

type Versions = Readonly<Record<string, string | undefined>>;

/** Returns the name and version of a runtime that cannot run the package; undefined for one that can. */
export function unfitRuntime(
  versions: Versions = process.versions,
): { readonly name: string; readonly version: string } | undefined {
  for (const [key, name] of Object.entries(others)) {
    const version = versions[key];
    if (version !== undefined) return { name, version };
  }
  const version = versions.node ?? "";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 19) ? undefined : { name: "Node", version };
}

/** Returns what the command says where it cannot run; undefined where it can. @param path the runtime's own file */
export function commandFault(path: string, versions?: Versions): string | undefined {
  const found = unfitRuntime(versions);
  if (found === undefined) return undefined;
  return `merchant-rules needs Node 22.19 or newer; this is ${found.name} ${found.version} (${path}). What to do: install Node 24, or put it into this project alone with \`npm install --save-dev node@24\`, and call the command as \`npx --no-install merchant-rules\``;
}

/**
 * Returns why this runtime cannot run the package, and what to do about it; undefined where it can. It is said before
 * anything else: an older Node would fail in a library, long after a green preview.
 * @param who what runs in it: `the program`
 */
export function runtimeFault(
  who: string,
  versions?: Versions,
): { readonly reason: string; readonly advice: string } | undefined {
  const found = unfitRuntime(versions);
  if (found === undefined) return undefined;
  return {
    reason: `${who} runs under ${found.name} ${found.version}, and needs Node 22.19 or newer`,
    advice:
      found.name === "Node"
        ? "put a newer Node first on the PATH of the engine"
        : "write `runtime: nodejs` in Pulumi.yaml, and put a real Node first on the PATH of the engine",
  };
}
