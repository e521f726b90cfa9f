import { defineConfig } from "vitest/config";

/** What `npm test` leaves to `npm run test:all`: the same behaviours at many more points, or at full size. */
export const exhaustive = [
  "test/faults/matrix.test.ts",
  "test/lifecycle/{each-request,killed,thousand}.test.ts",
  "test/load/**/*.test.ts",
];

export default defineConfig({
  test: {
    include: exhaustive,
    testTimeout: 600_000,
    hookTimeout: 120_000,
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
