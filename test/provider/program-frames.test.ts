import { createRequire } from "node:module";
import { afterEach, describe, expect, test } from "vitest";
import { keepProgramFrames } from "../../provider/resources/registration.ts";

const { Resource } = createRequire(import.meta.url)("@pulumi/pulumi");
const before = Error.prepareStackTrace;

afterEach(() => {
  Error.prepareStackTrace = before;
});

/** The frames that the SDK would send to the engine, the program's own first. */
function sent(skip: number): readonly ({ uri: string } | undefined)[] {
  return Resource.stackTrace(skip);
}

describe("the frames of a resource's constructor", () => {
  test("are the program's, without those of the SDK's start and of Node below them", () => {
    const restore = keepProgramFrames();
    const frames = [1].map(() => sent(1))[0];
    restore();
    expect(frames?.[0]?.uri).toMatch(/program-frames\.test\.ts$/);
    expect(frames?.filter((frame) => frame?.uri.includes("/node_modules/@pulumi/"))).toEqual([]);
  });

  test("go through whatever else prepares traces, and that is put back", () => {
    const seen: number[] = [];
    const prepare = (error: Error, sites: NodeJS.CallSite[]): string => {
      seen.push(sites.length);
      return `${error}`;
    };
    Error.prepareStackTrace = prepare;
    const restore = keepProgramFrames();
    expect(new Error("x").stack).toBe("Error: x");
    restore();
    expect(Error.prepareStackTrace).toBe(prepare);
    expect(seen[0]).toBeGreaterThan(0);
  });

  test("stay whole where Node itself maps them to their sources", () => {
    process.setSourceMapsEnabled(true);
    try {
      keepProgramFrames();
      expect(Error.prepareStackTrace).toBe(before);
    } finally {
      process.setSourceMapsEnabled(false);
    }
  });
});
