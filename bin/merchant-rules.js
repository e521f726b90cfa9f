#!/usr/bin/env node
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `merchant-rules needs Node 22.19 or newer; this is Node ${process.versions.node} (${process.execPath}).`,
  );
  process.exit(2);
}
const { main } = await import("../dist/cli/main.js");
process.exitCode = await main(process.argv.slice(2));
