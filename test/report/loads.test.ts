import { describe, expect, test } from "vitest";
import { loadedBy } from "../support/loaded.ts";

describe("drift, plan, diff and every format", () => {
  const ofReasoning = /\/dist\/meaning\/(decider|proof|sql|lint)\//;

  test("load nothing that reasons about rules", () => {
    const modules = ["index", "drift/drift-report", "drift/drift", "plan/plan-report", "diff/compare", "page/catalog"];
    const loaded = loadedBy(...modules.map((module) => `./dist/report/${module}.js`));
    expect(loaded.filter((url) => ofReasoning.test(url))).toEqual([]);
    expect(loaded.some((url) => url.endsWith("/dist/report/formats/markdown.js"))).toBe(true);
  });

  test("where lint does, so that the test above can fail", () => {
    expect(loadedBy("./dist/report/lint/lint-report.js")).toContainEqual(expect.stringMatching(ofReasoning));
  });
});
