import { describe, expect, onTestFinished, test } from "vitest";
import { type DoctorReport, doctorSchema } from "../../report/doctor.ts";
import { rule, serve } from "../support/connections.ts";
import { type EngineName, hasPulumi } from "../support/project.ts";
import { openStack } from "../support/stack.ts";
import { run } from "./command.ts";

async function finds(engine: EngineName): Promise<void> {
  const { project, service, succeeds } = await openStack(engine);
  project.declare({ all: { rules: { a: rule(1), b: rule(2) } } });
  await succeeds("up");
  const own = Object.fromEntries(
    Object.entries(project.environment()).flatMap(([name, value = ""]) =>
      /^(?:MERCHANT|PULUMI)_/.test(name) ? [[name, value]] : [],
    ),
  );
  const doctor = async (changes: Record<string, string> = {}) => {
    const words = ["doctor", "--json", "--cwd", project.folder, "--stack", project.stack, "--engine", engine];
    const { code, stdout } = await run(words, { ...own, ...changes });
    const report: DoctorReport = doctorSchema.parse(JSON.parse(stdout));
    return { code, said: (check: string) => report.findings.filter((each) => each.check === check) };
  };
  service.resetRequests();
  const well = await doctor();
  expect(well.said("state")).toMatchObject([
    { status: "ok", found: expect.stringMatching(/^it can be read; resources: \d/) },
  ]);
  expect(well.said("place")).toMatchObject([{ status: "ok" }]);
  expect(well.said("list")[0]?.found).toBe("it can be read to its end; rules: 2, pages: 1");
  expect(well.said("versions").filter(({ status }) => status !== "ok")).toEqual([]);
  expect(well.code).toBe(0);
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);

  const other = await serve();
  onTestFinished(() => other.close());
  const elsewhere = await doctor({ MERCHANT_RULES_BASE_URL: other.service.url });
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.said("place")).toMatchObject([
    { status: "failed", toDo: expect.stringContaining("correct baseUrl") },
  ]);
  expect(elsewhere.said("place")[0]?.found).toContain(
    `are at ${service.url}, and the settings lead to ${other.service.url}`,
  );
}

describe("merchant-rules doctor of a stack that was applied", () => {
  test("reads its state, and says where its rules are, with the local engine", () => finds("local"));

  test.skipIf(!hasPulumi)("reads its state, and says where its rules are, with the Pulumi CLI", () => finds("pulumi"));
});
