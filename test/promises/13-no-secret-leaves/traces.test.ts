import { describe, expect, test } from "vitest";
import { expectNoTrace, forms, secretAround, tracesOf } from "./traces.ts";

describe("the search for secrets", () => {
  test.each(forms)("finds one that is spelt %s", (_, spelling) => {
    expect(tracesOf("ZqCoreOfIt", `before ${spelling(secretAround("ZqCoreOfIt"))} after`)).toHaveLength(1);
  });

  test("finds none where there is none", () => {
    expectNoTrace(["ZqCoreOfIt"], { text: secretAround("ZqOtherCore") });
    expect(() => expectNoTrace(["ZqOtherCore"], { text: secretAround("ZqOtherCore") })).toThrow(
      /ZqOtherCore, plain, in text/,
    );
  });
});
