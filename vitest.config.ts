import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "sdk/**/*.test.ts", "provider/**/*.test.ts"],
    exclude: ["**/node_modules/**", "dist/**"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
