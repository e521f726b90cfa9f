// After `changeset version`: writes the new version where changesets does not look, into the policy pack, the examples, and
// the peer that the local package needs. Before, `release:version` makes that peer `*`: to changesets, a minor release that
// an exact peer does not allow is a major one.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packageVersion } from "../sdk/version.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const version = packageVersion();

for (const file of globSync("{local,policy,examples/*}/package.json", { cwd: root })) {
  const text = readFileSync(root + file, "utf8");
  const own = file.startsWith("policy/") ? text.replace(/("version": ")[^"]+/, `$1${version}`) : text;
  writeFileSync(root + file, own.replaceAll(/("pulumi-merchant-rules(?:-local)?": ")(?:\d[^"]*|\*)/g, `$1${version}`));
}
