// Writes the tables of docs/reference/contract.md and docs/reference/semantics.md, from the schemas of both files.
import { readFileSync, writeFileSync } from "node:fs";
import { contractPage, semanticsPage } from "./reference/contract-page.ts";

for (const [name, pageOf] of [
  ["contract", contractPage],
  ["semantics", semanticsPage],
] as const) {
  const page = new URL(`../docs/reference/${name}.md`, import.meta.url);
  writeFileSync(page, pageOf(readFileSync(page, "utf8")));
}
