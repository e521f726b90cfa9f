import type { Narrator } from "./narrator.ts";

/** Says what to do next on one's own service: each line is a command. */
export function sayWhatIsNext(narrator: Narrator): void {
  narrator.step("Next", "The same on your own service. The first three commands print pages of the documentation:");
  for (const [command, why] of commands) narrator.example(`${command.padEnd(width)}  # ${why}`);
}

const commands = [
  ["npx --no-install merchant-rules help getting-started", "from an empty folder to your first rule"],
  ["npx --no-install merchant-rules help contract", "how to say how your service speaks"],
  ["npx --no-install merchant-rules help existing-rules", "rules that exist already, as code"],
  ["export MERCHANT_RULES_BASE_URL=https://rules.example.com", "or merchant-rules:baseUrl in the stack's config"],
  ["export MERCHANT_RULES_TOKEN=...", "from the environment it never gets into the state"],
  ["npx --no-install merchant-rules export --stack dev", "rules that exist already, as code"],
  ["npx --no-install merchant-rules plan --stack dev", "in CI, on a pull request: what would change"],
  ["npx --no-install merchant-rules drift --stack dev", "in CI, every hour: what was changed by hand"],
] as const;

const width = Math.max(...commands.map(([command]) => command.length));
