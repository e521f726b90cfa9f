import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { withProgress } from "../../cli/progress.ts";
import { hasColor } from "../../cli/terminal.ts";

class Screen extends Writable {
  readonly isTTY: boolean;
  text = "";

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}

beforeEach(() => {
  vi.stubEnv("CI", undefined);
  vi.stubEnv("TERM", "xterm");
});

const now = { delayMs: 0, lineEveryMs: 0 };
const work = async (step: (done: number, total?: number) => void): Promise<string> => {
  await sleep(20);
  step(250, 500);
  await sleep(150);
  return "result";
};

describe("progress", () => {
  test("is a bar on a terminal, which is gone at the end", async () => {
    const stream = new Screen(true);
    expect(await withProgress("reading rules", work, { stream, ...now })).toBe("result");
    expect(stream.text).toContain("reading rules: [##########          ] 250 of 500");
    expect(stream.text.endsWith("500\u001b[1G\u001b[0K")).toBe(true);
  });

  test("is plain lines in a log", async () => {
    const stream = new Screen(false);
    await withProgress("reading rules", work, { stream, ...now });
    expect(stream.text).toBe("reading rules ...\nreading rules: 250 of 500\nreading rules: done\n");
  });

  test("is plain lines on a terminal of continuous integration", async () => {
    vi.stubEnv("CI", "true");
    const stream = new Screen(true);
    await withProgress("reading rules", work, { stream, ...now });
    expect(stream.text).not.toContain("\u001b");
  });

  test("is nothing for work that is soon done, and none where the output is JSON", async () => {
    for (const options of [{}, { quiet: true, ...now }]) {
      const stream = new Screen(false);
      await withProgress("reading rules", async (step) => step(1), { stream, ...options });
      expect(stream.text).toBe("");
    }
  });

  test("ends with the work that fails", async () => {
    const stream = new Screen(true);
    const failing = withProgress("reading rules", () => sleep(50).then(() => Promise.reject(new Error("no"))), {
      stream,
      ...now,
    });
    await expect(failing).rejects.toThrow("no");
    const { text } = stream;
    await sleep(200);
    expect(stream.text).toBe(text);
  });
});

test("colours are for terminals, and NO_COLOR turns them off", () => {
  expect(hasColor({ isTTY: true }, {})).toBe(true);
  expect(hasColor({ isTTY: true }, { NO_COLOR: "" })).toBe(true);
  expect(hasColor({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
  expect(hasColor({ isTTY: true }, { TERM: "dumb" })).toBe(false);
  expect(hasColor({}, {})).toBe(false);
});
