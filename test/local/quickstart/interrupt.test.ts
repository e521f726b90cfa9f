import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { leftIn, processesOf, startQuickstart, temporaryFolder } from "./quickstart.ts";

describe.skipIf(process.platform === "win32")("a quickstart that is interrupted", () => {
  test("by Ctrl-C in the middle of a command of the engine says so, and tidies up", async () => {
    const temporary = temporaryFolder();
    const running = startQuickstart({ temporary }, "--engine", "local");
    await running.said(/\| Previewing update/);
    running.send("SIGINT", "group");
    expect(await running.ended).toBe(130);
    expectTidied(running.output(), temporary);
    expect(running.output()).toContain("Interrupted by Ctrl-C: ");
    expect(running.output()).not.toContain("failed");
    expect(running.output()).not.toMatch(/^\d+\. Up$/m);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("by %s while the service starts exits with %i, says so, and tidies up", async (signal, code) => {
    const temporary = temporaryFolder();
    const running = startQuickstart({ temporary }, "--engine", "local", "--keep");
    await running.said(/\$ npx --no-install merchant-rules serve/);
    running.send(signal, "process");
    expect(await running.ended).toBe(code);
    expectTidied(running.output(), temporary);
    expect(running.output()).toContain(`Interrupted by ${signal}: `);
  });

  test("by a second Ctrl-C waits no longer for an engine that does not end", async () => {
    const temporary = temporaryFolder();
    const tools = temporaryFolder();
    const cli = join(tools, "pulumi");
    writeFileSync(cli, '#!/bin/sh\n[ "$1" = preview ] || exit 0\ntrap "" INT\necho deaf\nsleep 600\n');
    chmodSync(cli, 0o755);
    const environment = { PATH: `${tools}${delimiter}${process.env.PATH ?? ""}` };
    const running = startQuickstart({ temporary, environment }, "--engine", "pulumi");
    await running.said(/\| deaf/);
    running.send("SIGINT", "group");
    await running.said(/Interrupted by Ctrl-C/);
    // Two that come sooner after one another are one Ctrl-C that npm passes on.
    await sleep(300);
    running.send("SIGINT", "group");
    expect(await running.ended).toBe(130);
    expectTidied(running.output(), temporary);
  });
});

function expectTidied(output: string, temporary: string): void {
  expect(output).toMatch(
    /^Interrupted: Stopped the service .*\(process \d+\)\.\nRemoved .*merchant-rules-quickstart-/m,
  );
  expect(leftIn(temporary)).toEqual([]);
  expect(processesOf(temporary)).toEqual([]);
}
