#!/usr/bin/env node
import { commandFault } from "../dist/provider/host/runtime.js";

const fault = commandFault(process.execPath);
if (fault !== undefined) {
  console.error(fault);
  process.exit(2);
}
// A start takes a third less time when the code does not have to be compiled again. An older Node has no such function.
const { enableCompileCache } = await import("node:module");
enableCompileCache();
const { main } = await import("../dist/cli/main.js");
process.exitCode = await main(process.argv.slice(2));
