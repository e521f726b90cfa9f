import { existsSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import type { Narrator } from "./narrator.ts";

/** Says what to do next on one's own service: each line is a page or a command. */
export function sayWhatIsNext(narrator: Narrator, product: string): void {
  narrator.step("Next", `The same on your own service. The pages are in ${docsFolder(product)}:`);
  narrator.say("getting-started.md leads from an empty folder to your first rule.");
  narrator.say("contract.md says how to write merchant-rules.contract.yaml: how your service speaks.");
  narrator.say("existing-rules.md and ci.md have more about the commands below.");
  for (const [command, why] of commands) narrator.example(`${command.padEnd(width)}  # ${why}`);
}

const commands = [
  ["export MERCHANT_RULES_BASE_URL=https://rules.example.com", "or merchant-rules:baseUrl in the stack's config"],
  ["export MERCHANT_RULES_TOKEN=...", "from the environment it never gets into the state"],
  ["npx --no-install merchant-rules export --stack dev", "rules that exist already, as code"],
  ["npx --no-install merchant-rules plan --stack dev", "in CI, on a pull request: what would change"],
  ["npx --no-install merchant-rules drift --stack dev", "in CI, every hour: what was changed by hand"],
] as const;

const width = Math.max(...commands.map(([command]) => command.length));

/** The shortest path to the pages, from where the user is. */
function docsFolder(product: string): string {
  const here = realpathSync(process.cwd());
  const installed = join("node_modules", "pulumi-merchant-rules");
  if (here !== product && existsSync(join(here, installed))) return join(installed, "docs");
  return relative(here, join(product, "docs"));
}
