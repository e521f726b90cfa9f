/**
 * Messages of a provider by `console`, or as facts. On stderr alone the messages of calls that run side by side could not be told
 * apart. So the host writes each message as one line that also names the resource.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { format } from "node:util";
import type * as Grpc from "@grpc/grpc-js";
import { wrapServedMethods } from "./served-methods.ts";

/** Begins a message. The message itself is JSON, which never holds this character. */
const mark = "\u001e";

/** A message of the provider, and the URN of the resource that it is about, where that is known. */
export interface Message {
  /** `info` for facts, as the provider calls them itself; what is written in any other way may be a fault, and is a warning. */
  readonly severity: "info" | "warning";
  readonly text: string;
  readonly urn: string | undefined;
}

/** Lets a provider host write each message as a marked line. To be called there, before it starts. */
export function markMessages(grpc: typeof Grpc): void {
  const urns = new AsyncLocalStorage<string>();
  const held: (Message & { readonly urn: string })[] = [];
  const flush = (): void => {
    for (const message of held.splice(0)) process.stderr.write(`${mark}${JSON.stringify(message)}\n`);
  };
  const sayAs =
    (severity: Message["severity"]) =>
    (...words: unknown[]): void => {
      // Held until the end of this turn: the host prints an error right before it responds with the same error.
      if (held.push({ severity, urn: urns.getStore() ?? "", text: format(...words) }) === 1) queueMicrotask(flush);
    };
  const warn = sayAs("warning");
  Object.assign(console, { error: warn, warn });
  // The provider of this package looks for it.
  Reflect.set(globalThis, Symbol.for("pulumi-merchant-rules:inform"), sayAs("info"));
  process.on("exit", flush);
  wrapServedMethods(grpc, (method) => {
    return function tell(this: unknown, call, respond) {
      return urns.run(urnOf(call), () =>
        method.call(this, call, (error, ...rest) => {
          const echo = held.findIndex(({ text }) => text === `${error}: ${error?.stack}`);
          if (error && echo >= 0) held.splice(echo, 1);
          respond(error, ...rest);
        }),
      );
    };
  });
}

/** In the engine: turns what the provider host writes to stderr into messages for the user. Stack traces are dropped. */
export class MessageReader {
  readonly #emit: (message: Message) => void;
  #block: string[] = [];
  #traced = false;

  constructor(emit: (message: Message) => void) {
    this.#emit = emit;
  }

  read(lines: readonly string[], isWhole: boolean): void {
    for (const line of lines) this.#line(line);
    // A message without a trace that is complete by now need not wait for what comes after it.
    if (isWhole && !this.#traced) this.#release();
  }

  /** Emits what is left, at the end of the stream. */
  end(): void {
    this.#release();
  }

  #line(line: string): void {
    const found = messageIn(line);
    const { before } = found ?? { before: line };
    if (found === undefined || before !== "") this.#add(before);
    if (found === undefined) return;
    this.#release();
    for (const each of found.message.text.split("\n")) this.#add(each);
    this.#release(found.message);
  }

  #add(line: string): void {
    const isFrame = /^\s+at .+/.test(line);
    if (this.#traced && !isFrame) this.#release();
    if (isFrame) this.#traced = true;
    else this.#block.push(line);
  }

  #release({ severity, urn }: Omit<Message, "text"> = { severity: "warning", urn: undefined }): void {
    const whole = this.#block.join("\n").trim();
    // It is shown as a warning, whether it says so or not.
    const text = severity === "warning" ? whole.replace(/^warning: /i, "") : whole;
    this.#block = [];
    this.#traced = false;
    if (text !== "") this.#emit({ severity, text, urn });
  }
}

/** Returns the message in a line of stderr, and what stands before it; undefined where there is none. */
function messageIn(line: string): { before: string; message: Message } | undefined {
  const at = line.indexOf(mark);
  if (at < 0) return undefined;
  try {
    const { severity, urn, text }: { [name: string]: unknown } = Object(JSON.parse(line.slice(at + 1)));
    if (typeof urn !== "string" || typeof text !== "string") return undefined;
    const about = { severity: severity === "info" ? "info" : "warning", urn: urn === "" ? undefined : urn } as const;
    return { before: line.slice(0, at), message: { ...about, text } };
  } catch {
    return undefined;
  }
}

function urnOf(call: unknown): string {
  const request: unknown = Object(call).request;
  const urn: unknown = Object(request).getUrn?.();
  return typeof urn === "string" ? urn : "";
}
