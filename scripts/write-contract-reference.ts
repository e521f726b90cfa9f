// Writes the tables of docs/reference/contract.md, from sdk/contract/contract.schema.json.
import { readFileSync, writeFileSync } from "node:fs";
import { contractPage } from "./reference/contract-page.ts";

const page = new URL("../docs/reference/contract.md", import.meta.url);
writeFileSync(page, contractPage(readFileSync(page, "utf8")));
