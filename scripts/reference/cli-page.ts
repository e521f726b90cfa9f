import type { Command } from "commander";
import { commandLine } from "../../cli/main.ts";
import { code, table } from "./markdown.ts";

/** As wide as a block on a page is shown without scrolling. */
const helpWidth = 110;

const head = `# Command reference

What \`merchant-rules\` and its subcommands print by \`--help\`. The page is written by \`node scripts/write-cli-reference.ts\`.

Call it by \`npx --no-install merchant-rules\`, which runs the version that is installed, or by [the script \`rules\`](../README.md). Reports go to standard output; everything else goes to standard error.
[Settings](settings.md) has what the commands read from the stack and from the environment.`;

/** Returns docs/reference/cli.md. */
export async function cliPage(): Promise<string> {
  const commands = allOf(await commandLine());
  const rows = commands
    .slice(1)
    .map(({ name, command }) => [
      `[${code(name)}](#${name.replaceAll(" ", "-")})`,
      command.description().replace(/^[a-z]/, (letter) => letter.toUpperCase()),
    ]);
  const sections = commands.map(({ name, command }) => `## ${name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``);
  return `${[head, table(["command", "what it does"], rows), ...sections].join("\n\n")}\n`;
}

interface Named {
  /** With the names of the commands that it is below. */
  readonly name: string;
  readonly command: Command;
}

function allOf(command: Command, above = ""): Named[] {
  const name = `${above}${command.name()}`;
  return [{ name, command }, ...command.commands.flatMap((each) => allOf(each, `${name} `))];
}

/** Returns what `--help` prints of a command, as wide as a page. */
function helpOf(command: Command): string {
  let text = "";
  command
    .configureHelp({ ...command.configureHelp(), helpWidth })
    .configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => helpWidth })
    .outputHelp();
  return text.trimEnd();
}
