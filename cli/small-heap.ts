import { setFlagsFromString } from "node:v8";

/** In percent. What is alive while rules and a preview are read is soon needed no more. */
const growthWhileReading = 50;
/** Bytes of garbage that may lie about while payments are decided: with half of it that would take a tenth longer. */
const garbageWhileDeciding = 32 << 20;

/**
 * Keeps the heap of this process small from now on. Unless told, V8 lets it grow to several times of what is alive in it.
 * @param stage payments are `deciding` once all else that they need is there
 */
export function keepHeapSmall(stage: "reading" | "deciding"): void {
  const alive = process.memoryUsage().heapUsed;
  const percent = stage === "reading" ? growthWhileReading : Math.round((100 * garbageWhileDeciding) / alive);
  setFlagsFromString(`--heap-growing-percent=${Math.min(200, Math.max(30, percent))}`);
  // The part of the heap for new objects stays as large as it is.
  setFlagsFromString("--semi-space-growth-factor=1");
}
