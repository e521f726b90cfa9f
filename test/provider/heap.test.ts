import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("this Node knows the setting by which the provider host's heap is bounded", () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["-e", 'require("pulumi-merchant-rules/provider"); console.log("loaded")'],
    { cwd: root, encoding: "utf8" },
  );
  // V8 refuses a flag that it does not know by a line on the error output alone.
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "loaded\n", stderr: "" });
});
