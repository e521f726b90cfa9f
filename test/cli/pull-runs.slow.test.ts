import { describe, test } from "vitest";
import { pullsDrift } from "../support/pulled.ts";
import { hasPulumi } from "../support/stack/project.ts";

const name = "after drift is taken into files and state, a preview shows no change";

describe("on the local engine", () => {
  test(name, () => pullsDrift("local", 12));
});

describe.skipIf(!hasPulumi)("on the Pulumi CLI", () => {
  test(name, () => pullsDrift("pulumi", 12));
});
