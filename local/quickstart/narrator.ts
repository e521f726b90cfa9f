import { styleText } from "node:util";

/** Tells the story on the standard output: numbered steps, the commands of each as a user types them, and what they print. */
export class Narrator {
  readonly #interrupted: AbortSignal;
  #step = 0;

  constructor(interrupted: AbortSignal) {
    this.#interrupted = interrupted;
  }

  step(title: string, explained: string): void {
    this.#step++;
    console.log(`\n${styleText("bold", `${this.#step}. ${title}`)}\n   ${explained}`);
  }

  /** Shows a command that is about to be carried out. Throws when the story is interrupted. */
  command(line: string): void {
    this.#interrupted.throwIfAborted();
    this.example(line);
  }

  /** Shows a command that the user may type. */
  example(line: string): void {
    console.log(styleText("cyan", `   $ ${line}`));
  }

  output(line: string): void {
    if (line.trim() !== "") console.log(`   | ${line.trimEnd()}`);
  }

  say(line: string): void {
    console.log(`   ${line}`);
  }
}
