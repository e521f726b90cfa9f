import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes. Begun last, they would run alone at the end, on one of the processors. */
const long = [
  "test/promises/09-one-more-up-heals/faults/contracts/",
  "test/local/conformance/",
  "test/package/consumers/",
  "test/local/engine/failure.",
  "test/local/testing/world.",
  "test/provider/definitions.",
  "test/local/engine/cli.",
  "test/local/engine/policy.",
  "test/promises/12-a-dead-connection-ends-the-run/",
  "test/examples/",
];

/** Runs the long files first, and the others in vitest's own order. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = long.findIndex((part) => moduleId.includes(part));
      return found === -1 ? long.length : found;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
