/**
 * Loaded into the children of a run before anything else. It ends a child when its parent is gone, however that went,
 * and keeps the SDK from rendering the same stack trace thousands of times. A program sees no difference, but in the
 * frames of the SDK in a trace.
 */
import { createRequire, flushCompileCache } from "node:module";
import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";
import { spillLargeErrors } from "./large-errors.ts";
import { loadHeavyModulesLate } from "./lazy-modules.ts";
import { markMessages } from "./messages.ts";
import { logByLines } from "./program-output.ts";
import { grpcOf } from "./served-methods.ts";

// Only the child itself: what it starts inherits its arguments, but not descriptor 3, and not this variable.
if (isMainThread && process.env.MERCHANT_RULES_ENGINE_CHILD !== undefined) {
  delete process.env.MERCHANT_RULES_ENGINE_CHILD;
  endWithParent();
  rememberStackTraces();
  loadHeavyModulesLate();
  const [, script = ""] = process.argv;
  if (/[\\/]cmd[\\/]run[\\/]/.test(script)) mapNothingOfTheSdk(script);
  if (/[\\/]cmd[\\/]dynamic-provider[\\/]/.test(script)) {
    const grpc = grpcOf(script);
    spillLargeErrors(grpc);
    // Innermost, so that it sees an error before it is spilled.
    markMessages(grpc);
  } else logByLines();
  // A plugin is ended by a signal, so that Node itself writes nothing.
  if (/[\\/]cmd[\\/](dynamic-provider|run-policy-pack)[\\/]/.test(script)) setTimeout(flushCompileCache, 1_000).unref();
}

/** Ends this process with its parent: descriptor 3 is a pipe that nobody writes to, and closes when the parent does. */
function endWithParent(): void {
  const pipe = new Socket({ fd: 3 });
  pipe.on("error", () => {});
  pipe.on("close", () => {
    try {
      // The group is this child's own: with it goes whatever it started.
      process.kill(-process.pid, "SIGKILL");
    } finally {
      process.exit(1);
    }
  });
  pipe.resume();
  pipe.unref();
}

/**
 * Keeps the source maps of the SDK from being read: it takes stack traces already when it makes the stack's resource, which
 * costs a tenth of the time in which a small program runs. Frames of the SDK name its JavaScript; those of a program stay mapped.
 */
function mapNothingOfTheSdk(script: string): void {
  createRequire(script)("source-map-support").install({
    retrieveSourceMap: (file: string) =>
      /[\\/]node_modules[\\/]@pulumi[\\/]pulumi[\\/]/.test(file)
        ? { url: file, map: { version: 3, sources: [], names: [], mappings: "" } }
        : null,
  });
}

type Prepare = (error: Error, frames: NodeJS.CallSite[]) => unknown;

/**
 * Remembers the texts of stack traces: the SDK takes one for every promise, and source-map-support maps each frame anew,
 * a third of the time that a program with a thousand resources takes. The same frames have the same text after the first line.
 */
function rememberStackTraces(): void {
  const known = new WeakMap<Prepare, Prepare>();
  let current: Prepare | undefined = Error.prepareStackTrace;
  Object.defineProperty(Error, "prepareStackTrace", {
    configurable: true,
    enumerable: true,
    get: () => current,
    set: (prepare: Prepare | undefined) => {
      current = typeof prepare === "function" ? remembering(prepare, known) : prepare;
    },
  });
}

function remembering(prepare: Prepare, known: WeakMap<Prepare, Prepare>): Prepare {
  const existing = known.get(prepare);
  if (existing !== undefined) return existing;
  const texts = new Map<string, string>();
  const wrapped: Prepare = (error, frames) => {
    const key = frames.map(positionOf).join("|");
    const head = `${error.name || "Error"}: ${error.message || ""}`;
    const text = texts.get(key);
    if (text !== undefined) return head + text;
    const result = prepare(error, frames);
    if (typeof result === "string" && result.startsWith(head)) texts.set(key, result.slice(head.length));
    return result;
  };
  known.set(prepare, wrapped);
  // Code that puts the function back which it found must not have it wrapped once more.
  known.set(wrapped, wrapped);
  return wrapped;
}

function positionOf(frame: NodeJS.CallSite): string {
  return `${frame.getFileName()}:${frame.getLineNumber()}:${frame.getColumnNumber()}:${frame.getTypeName()}.${frame.getFunctionName()}`;
}
