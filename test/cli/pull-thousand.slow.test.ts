import { describe, test } from "vitest";
import { pullsDrift } from "../support/pulled.ts";
import { hasPulumi } from "../support/stack/project.ts";

const name = "after the drift of 1,000 rules is taken into files and state, a preview shows no change";

describe("on the local engine", () => {
  test(name, () => pullsDrift("local", 1_000));
});

describe.skipIf(!hasPulumi)("on the Pulumi CLI", () => {
  test(name, () => pullsDrift("pulumi", 1_000));
});
