import { YamlDocument } from "../sdk/files/yaml-document.ts";
import { isJson, type Json, pointerOf } from "../sdk/json/index.ts";
import { printable } from "../sdk/json/printable.ts";
import type { Fact } from "./draft.ts";
import { gaps, openGaps, sandboxAdvice } from "./gaps.ts";
import { type Answers, questions } from "./questions.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Asks all questions that are open, one after the other; an empty answer leaves one open.
 * @param ask asks on the terminal; undefined where the user ends it
 * @param written what is known already
 * @returns the answers; undefined where the user ended it
 */
export async function askAll(
  ask: (question: string) => Promise<string | undefined>,
  written: Json,
): Promise<Answers | undefined> {
  const open = openGaps(written);
  let answers: Answers = {};
  let intro = `An empty answer leaves a question open. Nothing is guessed, and no request is sent.\n${sandboxAdvice}\n`;
  for (const { option, after, asks, gap, read } of questions) {
    const isOpen = open.some(({ field }) => field === gap);
    if (after === undefined ? !isOpen : answers[after] === undefined && !isOpen) continue;
    const without = gaps.find(({ field }) => field === gap)?.without;
    let hint = without === undefined ? "" : `\n  (open: ${without})`;
    for (;;) {
      const answer = (await ask(`${intro}\nSay ${asks}${hint}\n> `))?.trim();
      intro = "";
      if (answer === undefined) return undefined;
      if (answer === "") break;
      const said = read(answer);
      if (typeof said !== "string") {
        answers = { ...answers, [option]: answer };
        break;
      }
      hint = `\n  (found ${printable(JSON.stringify(answer), 80)}; allowed: ${said})`;
    }
  }
  return answers;
}

/** Turns answers into facts of the contract. @throws UsageError: an answer that its question does not allow */
export function answerFacts(answers: Answers): Fact[] {
  return questions.flatMap(({ option, read, flags }) => {
    const answer = answers[option];
    const said = answer === undefined ? [] : read(answer);
    if (typeof said === "string") throw new UsageError(`${flags}: allowed: ${said}`);
    return said.map((fact) => ({ ...fact, source: `answered: ${answer ?? ""}` }));
  });
}

/** Turns the values of `--set` into facts. @throws UsageError: a value that is no YAML */
export function settingFacts(settings: readonly { readonly field: string; readonly text: string }[]): Fact[] {
  return settings.map(({ field, text }) => {
    const read = new YamlDocument(text).read();
    if ("fault" in read) throw new UsageError(`--set ${field}: the value ${printable(read.fault.what, 200)}`);
    if (!isJson(read.value)) throw new UsageError(`--set ${field}: the value is not what JSON can hold`);
    const value: Json = read.value;
    return { at: pointerOf(field.split(".")), value, source: "answered: --set" };
  });
}
