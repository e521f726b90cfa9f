import type { Command } from "commander";
import { closest, distance } from "fastest-levenshtein";
import { UsageError } from "../contract-tools/usage-error.ts";
import { errorCodes } from "../sdk/errors.ts";
import { engineErrorCodes } from "../stack/errors.ts";
import { exiting } from "./exit-code.ts";
import { pageCalled, pages, sectionOf, sectionsOf } from "./help/pages.ts";
import { topicCalled, topics } from "./help/topics.ts";

/**
 * Defines `merchant-rules help drift`: prints a page of the documentation, a section of one, a topic that an error names, or
 * the options of a command.
 */
export function helpCommand(command: Command): void {
  command
    .argument(
      "[topic]",
      "a page, an error code, a topic of an error, or a command (a page comes before a command of the same name)",
    )
    .argument("[words...]", "a heading of the page, or the rest of the command's name")
    .option("--all", "list every command")
    .addHelpText("after", help)
    .action(
      exiting((topic: string | undefined, words: string[], { all }: { readonly all?: boolean }) => {
        if (all === true) {
          command.parent?.configureHelp({}).outputHelp();
          return 0;
        }
        process.stdout.write(`${textOf(command, topic, words).trimEnd()}\n`);
        return 0;
      }),
    );
}

const help = `
A page comes as it is, in Markdown.

Exit codes: 0 done; 1 failed; 2 called wrongly: there is no such page.

Examples, which print a page, one section of it, what an error code means, and what a word is for that an error asks for:
  npx --no-install merchant-rules help drift
  npx --no-install merchant-rules help drift patterns
  npx --no-install merchant-rules help RULE_CONFLICT
  npx --no-install merchant-rules help same-or-moved`;

const codes: readonly string[] = [...errorCodes, ...engineErrorCodes];

function contents(): string {
  const listed = pages().filter(({ about }) => about !== "");
  const width = Math.max(...listed.map(({ name }) => name.length));
  const lines = (entries: readonly { readonly name: string; readonly about: string }[]): string =>
    entries.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join("\n");
  return [
    "The pages, each printed by `npx --no-install merchant-rules help <page>`:",
    lines(listed),
    "What an error says, and the topic that tells more, printed in the same way:",
    lines(topics()),
  ].join("\n\n");
}

function textOf(command: Command, topic: string | undefined, words: readonly string[]): string {
  if (topic === undefined) return contents();
  const code = codes.find((each) => each === topic.toUpperCase());
  const [named = "", anchor] = code === undefined ? topic.split("#") : ["errors", code];
  const page = pageCalled(named);
  if (page === undefined)
    return topicCalled([topic, ...words])?.text ?? optionsOf(command, [topic, ...words]) ?? refused(command, topic);
  const section = anchor ?? (words.length === 0 ? undefined : words.join(" "));
  const text = section === undefined ? page.text : sectionOf(page.text, section);
  if (text !== undefined) return text;
  const lines = sectionsOf(page.text).map((heading) => `  ${heading}`);
  throw new UsageError(
    `the page ${page.name} has no section "${section}". What to do: take one of these:\n${lines.join("\n")}`,
  );
}

/** Returns what `--help` prints of a command; undefined where there is no such command. */
function optionsOf(command: Command, words: readonly string[]): string | undefined {
  let found: Command | null | undefined = command.parent;
  for (const word of words) found = found?.commands.find((each) => each.name() === word);
  let text = "";
  found?.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return found === undefined || found === null ? undefined : text.trimEnd();
}

/** Throws a UsageError with the nearest name, or with the pages that have the word. */
function refused(command: Command, topic: string): never {
  const all = pages();
  const commands = (command.parent?.commands ?? []).map((each) => each.name());
  const names = [...all.map(({ name }) => name), ...topics().map(({ name }) => name), ...commands, ...codes];
  const nearest = closest(
    topic.toLowerCase(),
    names.map((name) => name.toLowerCase()),
  );
  const having = all.filter(({ text }) => text.toLowerCase().includes(topic.toLowerCase())).map(({ name }) => name);
  const hint =
    distance(topic.toLowerCase(), nearest) <= Math.max(1, Math.floor(topic.length / 3))
      ? `. Did you mean ${names.find((name) => name.toLowerCase() === nearest)}?`
      : having.length > 0
        ? `; the word stands on these: ${having.slice(0, 10).join(", ")}.`
        : ".";
  throw new UsageError(
    `there is no page "${topic}"${hint} What to do: take a page of the list that \`npx --no-install merchant-rules help\` prints`,
  );
}
