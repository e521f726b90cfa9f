import { afterEach, describe, expect, test, vi } from "vitest";
import { commandFault, runtimeFault } from "../../provider/host/runtime.ts";
import { rule } from "../support/rules.ts";
import { hooksHere, sessionOf } from "../support/stack/hosts.ts";

/** This process, as it looks under another runtime. */
function pretend(versions: Record<string, string>): void {
  const other = Object.create(process, { versions: { value: { ...process.versions, ...versions } } });
  vi.stubGlobal("process", other);
}

afterEach(() => {
  vi.resetModules();
});

describe("a runtime that cannot run the package", () => {
  test.each([
    [{ bun: "1.4.5", node: "26.3.0" }, "Bun 1.4.5"],
    [{ deno: "2.5.0", node: "24.2.0" }, "Deno 2.5.0"],
    [{ node: "20.20.2" }, "Node 20.20.2"],
    [{ node: "22.18.0" }, "Node 22.18.0"],
  ])("%o is named, with what is needed", (versions, found) => {
    expect(runtimeFault("the program", versions)?.reason).toBe(
      `the program runs under ${found}, and needs Node 22.19 or newer`,
    );
  });

  test.each(["22.19.0", "24.0.0", "26.10.0"])("Node %s is none", (node) => {
    expect(runtimeFault("the program", { node })).toBeUndefined();
    expect(commandFault("/node", { node })).toBeUndefined();
  });

  test("refuses the command with what to do", () => {
    expect(commandFault("/usr/bin/node", { node: "20.20.2" })).toMatch(
      /^merchant-rules needs Node 22\.19 or newer; this is Node 20\.20\.2 \(\/usr\/bin\/node\)\. What to do: .*`npm install --save-dev node@24`.*`npx --no-install merchant-rules`$/,
    );
  });

  test("ends a program when it imports the package, with a sentence and no stack trace", async () => {
    pretend({ bun: "1.4.5" });
    vi.resetModules();
    const error = await import("../../provider/index.ts").catch((each: unknown) => each);
    const { RunError } = await import("@pulumi/pulumi/errors.js");
    expect(RunError.isInstance(error) && error.message).toMatch(
      /^pulumi-merchant-rules: the program runs under Bun 1\.4\.5, and needs Node 22\.19 or newer\. What to do: write `runtime: nodejs`/,
    );
  });

  test("fails a preview when the provider host runs under it", async () => {
    const host = hooksHere("merchantRule", sessionOf({}));
    pretend({ bun: "1.4.5" });
    await expect(host.check({ definition: rule(1) })).rejects.toThrow(
      /the provider runs under Bun 1\.4\.5, and needs Node 22\.19 or newer/,
    );
  });
});
