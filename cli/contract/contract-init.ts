import { type Command, InvalidArgumentError, Option } from "commander";
import { answerFacts, askAll, settingFacts } from "../../contract-tools/answers.ts";
import { draftContract, layTogether, presetText } from "../../contract-tools/draft.ts";
import { openGaps, sandboxAdvice } from "../../contract-tools/gaps.ts";
import { openapiFacts } from "../../contract-tools/openapi/facts.ts";
import { type Answers, type Question, questions } from "../../contract-tools/questions.ts";
import { UsageError } from "../../contract-tools/usage-error.ts";
import { readWritten } from "../../contract-tools/written.ts";
import { contractFileNames, type Preset, presets } from "../../sdk/contract/load.ts";
import { askUser } from "../confirm.ts";
import { exiting } from "../exit-code.ts";
import { demandFree, writeNewFiles } from "../export/write-files.ts";

/** What says something about the contract. */
export interface ContractOptions extends Answers {
  readonly preset?: Preset;
  readonly openapi?: string;
  readonly collection?: string;
  readonly set: readonly Setting[];
}

interface InitOptions extends ContractOptions {
  readonly output: string;
}

interface Setting {
  readonly field: string;
  readonly text: string;
}

/** Defines `merchant-rules contract init`: writes a contract from answers, which are options or are asked for on a terminal. */
export function contractInitCommand(command: Command): void {
  withContractOptions(
    command
      .description("Write a contract from what you know of your service; on a terminal you are asked")
      .option("--output <file>", "the file to write, which must not be there yet", contractFileNames[0]),
  )
    .addHelpText("after", help)
    .action(exiting(init));
}

/** Adds the options by which a contract is described. */
export function withContractOptions(command: Command): Command {
  command.addOption(
    new Option("--preset <name>", "take a contract that comes with the package, comments included").choices(presets),
  );
  command
    .addOption(
      new Option(
        "--openapi <file>",
        "take what a description of the service states: OpenAPI 3.0 or 3.1, JSON or YAML",
      ).conflicts("preset"),
    )
    .option("--collection <path>", "with --openapi: the path there of all rules (default: the one that can be meant)");
  for (const { flags, asks, read } of questions)
    command.addOption(
      new Option(flags, asks)
        .argParser((text) => {
          const said = read(text);
          if (typeof said === "string") throw new InvalidArgumentError(`Allowed: ${said}.`);
          return text;
        })
        .conflicts("preset"),
    );
  return command.addOption(
    new Option("--set <field=value>", "any other field, such as rule.secret=[/apiKey]; the value is YAML; repeatable")
      .argParser(addSetting)
      .default([], "none")
      .conflicts("preset"),
  );
}

const help = `
Without options you are asked on the terminal; an empty answer leaves a question open. Nothing is guessed: what nobody
says is named at the end of the file, with what it costs. No request is sent, and no file is written over.

Exit codes: 0 written; 1 failed (and why); 2 called wrongly; 8 ended by Ctrl-C at a question, with nothing written.

Examples, from answers, from a description of the service, and from a contract that comes with the package:
  npx --no-install merchant-rules contract init --delete-by query:ruleId --update "PUT /api/v1/merchants/rules/{ruleId}"
  npx --no-install merchant-rules contract init --openapi openapi.yaml
  npx --no-install merchant-rules contract init --preset wiremock`;

async function init({ output, ...options }: InitOptions): Promise<number> {
  const attempted = "write a contract";
  // Before the questions: nobody answers them in vain.
  demandFree("", [output], attempted);
  const text = await contractTextOf(options);
  if (text === undefined) {
    console.error("ended at a question; nothing was written");
    return 8;
  }
  writeNewFiles("", new Map([[output, text]]), attempted);
  const open = openGaps(readWritten(output).written).length;
  console.log(`${output} is written. Open questions: ${open}.`);
  if (open > 0)
    console.log(
      `What to do: npx --no-install merchant-rules contract check ${output} says what each costs. ${sandboxAdvice}`,
    );
  return 0;
}

/** Drafts the contract that options or answers describe, as YAML; undefined where the user ended it at a question. */
export async function contractTextOf(options: ContractOptions): Promise<string | undefined> {
  if (options.preset !== undefined) return presetText(options.preset);
  const described = options.openapi === undefined ? [] : openapiFacts(options.openapi, options.collection);
  const isSaid = options.set.length > 0 || questions.some(({ option }) => options[option] !== undefined);
  let answers: Answers = options;
  if (isSaid) demandPairs(answers, described.length > 0);
  else if (process.stdin.isTTY && process.stderr.isTTY) {
    const asked = await askAll(askUser, layTogether(described).written);
    if (asked === undefined) return undefined;
    answers = asked;
  } else if (described.length === 0)
    throw new UsageError(
      "there is nothing to write, and no terminal to ask on. What to do: give answers as options (--help lists them), a description of the service (--openapi), or a contract that comes with the package (--preset)",
    );
  const title = [
    "What nobody has said stands at the end, with what it costs. All fields: merchant-rules help contract",
  ];
  return draftContract([...described, ...answerFacts(answers), ...settingFacts(options.set)], title).text;
}

/** Throws a UsageError where an option says nothing without another: a list needs the place of its rules. */
function demandPairs(answers: Answers, isDescribed: boolean): void {
  if (isDescribed) return;
  const flagOf = (each: Question): string => each.flags.split(" ")[0] ?? "";
  for (const question of questions) {
    const before = questions.find(({ option }) => option === question.after);
    if (before === undefined) continue;
    if (answers[question.option] !== undefined && answers[before.option] === undefined)
      throw new UsageError(`${flagOf(question)} says nothing without ${flagOf(before)}`);
  }
  if (answers.list !== undefined && answers.listItems === undefined)
    throw new UsageError("--list needs --list-items, too: where the answer has the array of rules");
}

function addSetting(text: string, before: readonly Setting[] = []): Setting[] {
  const [, field = "", value = ""] = /^([A-Za-z][\w.]*)=(.*)$/s.exec(text) ?? [];
  if (field === "") throw new InvalidArgumentError("Write it as field=value, such as rule.secret=[/apiKey].");
  return [...before, { field, text: value }];
}
