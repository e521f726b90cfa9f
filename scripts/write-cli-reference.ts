// Writes docs/reference/cli.md, from what the commands themselves print by --help.
import { writeFileSync } from "node:fs";
import { cliPage } from "./reference/cli-page.ts";

writeFileSync(new URL("../docs/reference/cli.md", import.meta.url), await cliPage());
