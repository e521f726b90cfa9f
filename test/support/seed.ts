import fc from "fast-check";
import { afterAll, vi } from "vitest";
import { endFile } from "./ends.ts";

// For vitest, before each file. Properties are tried with the same values everywhere and always. FUZZ_SEED gives others, by hand.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? "20261121") });

afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await endFile();
});
