import { describe, test } from "vitest";
import { hasPulumi } from "../support/project.ts";
import { pullsDrift } from "../support/pulled.ts";

const name = "after drift is taken into files and state, a preview shows no change";

describe("on the local engine", () => {
  test(name, () => pullsDrift("local", 12));
});

describe.skipIf(!hasPulumi)("on the Pulumi CLI", () => {
  test(name, () => pullsDrift("pulumi", 12));
});
