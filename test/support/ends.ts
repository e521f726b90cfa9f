import { onTestFinished, TestRunner } from "vitest";

const endsOfFile: (() => unknown)[] = [];

/** Puts something away when the running test ends; outside of one, or of several at once, at the end of the file. */
export function atEnd(putAway: () => unknown): void {
  const test = TestRunner.getCurrentTest();
  if (test === undefined || test.concurrent === true) endsOfFile.push(putAway);
  else onTestFinished(async () => void (await putAway()));
}

/** Puts away what the file's tests have left open, the latest first. */
export async function endFile(): Promise<void> {
  for (const putAway of endsOfFile.splice(0).reverse()) await putAway();
}
