import fc from "fast-check";
import { expect } from "vitest";

/** A factor to the runs that `npm test` makes; 0.1 is a glance, 250 a night. */
const times = Number(process.env.FUZZ_RUNS ?? "1");

/** The part of a test's runs that `npm test` makes: `npm run test:all` makes all of them, ten times. */
const usualPart = 0.4;

/** For vitest. */
export const timeout = 120_000 * Math.max(1, times);

/** The time that one run may take, however hostile its input: many times what it takes on a slow machine. */
const mostMs = 20_000;

/** Runs a property. A failure prints seed and path; FUZZ_SEED and FUZZ_PATH repeat it. */
export async function check<T>(
  numRuns: number,
  input: fc.Arbitrary<T>,
  property: (value: T) => void | Promise<void>,
  examples: readonly T[] = [],
): Promise<void> {
  const path = process.env.FUZZ_PATH;
  const prototypes = ownNamesOfPrototypes();
  const result = await fc.check(
    fc.asyncProperty(input, async (value) => {
      const started = performance.now();
      await property(value);
      expect(performance.now() - started).toBeLessThan(mostMs);
      expect(ownNamesOfPrototypes()).toEqual(prototypes);
    }),
    {
      numRuns: examples.length + Math.max(1, Math.round(numRuns * usualPart * times)),
      examples: examples.map((example) => [example]),
      ...(path === undefined ? {} : { path }),
    },
  );
  if (!result.failed) return;
  const { counterexample, counterexamplePath, errorInstance, numRuns: runs } = result;
  const [value] = counterexample ?? [];
  const where = `FUZZ_SEED=${result.seed} FUZZ_PATH=${counterexamplePath}`;
  throw new Error(`failed in run ${runs} (${where}) for ${shown(value)}`, { cause: errorInstance });
}

/** The value that failed; of a long one its beginning and its end. */
function shown(value: unknown): string {
  const text =
    value instanceof Uint8Array ? JSON.stringify(Buffer.from(value).toString("latin1")) : fc.stringify(value);
  return text.length > 2000 ? `${text.slice(0, 1000)} … ${text.slice(-1000)}` : text;
}

/** The names that every object inherits; no reading may change them. */
function ownNamesOfPrototypes(): string[] {
  return [Object.prototype, Array.prototype, String.prototype, Function.prototype].flatMap((prototype) =>
    Reflect.ownKeys(prototype).map(String),
  );
}

/** Demands of a message to a person: no stack, nothing that a terminal obeys, not endless. */
export function expectReadable(message: string, most = 20_000): void {
  expect(message.length).toBeLessThan(most);
  expect(message).not.toMatch(/\n\s+at |Maximum call stack|\[object |Cannot read prop|is not a function|undefined is/);
  expect(message.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
}
