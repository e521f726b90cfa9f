import { type Message, messageIn } from "./messages.ts";

/** Turns what the provider host writes to stderr into messages for the user. Stack traces are dropped. */
export class StderrFilter {
  readonly #emit: (message: Message) => void;
  #rest = "";
  #block: string[] = [];
  #traced = false;

  constructor(emit: (message: Message) => void) {
    this.#emit = emit;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    // A message without a trace that is complete by now need not wait for what comes after it.
    if (this.#rest === "" && !this.#traced) this.#release();
  }

  /** Emits what is left, at the end of the stream. */
  end(): void {
    if (this.#rest !== "") this.#line(this.#rest);
    this.#rest = "";
    this.#release();
  }

  #line(line: string): void {
    const found = messageIn(line);
    const { before } = found ?? { before: line };
    if (found === undefined || before !== "") this.#add(before);
    if (found === undefined) return;
    this.#release();
    for (const each of found.message.text.split("\n")) this.#add(each);
    this.#release(found.message.urn);
  }

  #add(line: string): void {
    const isFrame = /^\s+at .+/.test(line);
    if (this.#traced && !isFrame) this.#release();
    if (isFrame) this.#traced = true;
    else this.#block.push(line);
  }

  #release(urn?: string): void {
    // It is shown as a warning, whether it says so or not.
    const text = this.#block
      .join("\n")
      .trim()
      .replace(/^warning: /i, "");
    this.#block = [];
    this.#traced = false;
    if (text !== "") this.#emit({ text, urn });
  }
}
