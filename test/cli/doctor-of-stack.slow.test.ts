import { describe, expect, test } from "vitest";
import { localCredentials } from "../../local/service/index.ts";
import { type DoctorReport, doctorSchema } from "../../report/doctor.ts";
import { marking, rule } from "../support/rules.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { serve } from "../support/stack/service.ts";
import { run } from "./command.ts";

async function finds(engine: EngineName): Promise<void> {
  const { project, service, succeeds } = await openCommandStack(engine);
  project.declare({ all: { rules: { a: rule(1), b: rule(2) } } });
  await succeeds("up");
  const own = project.variables();
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
  expect(well.said("place")).toMatchObject([
    { status: "ok" },
    { status: "ok", found: "the state's rules are there as the state has them: 2" },
  ]);
  expect(well.said("list")[0]?.found).toBe("it can be read to its end; rules: 2, pages: 1");
  expect(well.said("versions").filter(({ status }) => status !== "ok")).toEqual([]);
  expect(well.code).toBe(0);
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);

  const other = await serve();
  const elsewhere = await doctor({ MERCHANT_RULES_BASE_URL: other.service.url });
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.said("place")).toMatchObject([
    { status: "failed", toDo: expect.stringContaining("correct baseUrl") },
  ]);
  expect(elsewhere.said("place")[0]?.found).toContain(
    `are at ${service.url}, and the settings lead to ${other.service.url}`,
  );
}

/** A person changes the only rule by a PUT of the fields that they know; then a run follows what is said. */
async function losesItsMark(engine: EngineName): Promise<void> {
  const stack = await openCommandStack(engine, { contract: marking });
  const { project, service, succeeds, run: runEngine } = stack;
  project.declare({ one: { definition: rule(1) } });
  await succeeds("up");
  const erases = (): void => void service.put(service.rules()[0]?.ruleId, rule(1, { priority: 9 }));
  const isHealed = (): void =>
    expect(service.rules()[0]?.rule).toMatchObject({ priority: 1, metadata: { managedBy: expect.any(String) } });
  const own = project.variables();
  const words = ["--cwd", project.folder, "--stack", project.stack, "--engine", engine];
  const command = engine === "local" ? "npx --no-install merchant-rules local" : "pulumi";
  // With the credentials of before, nothing is in doubt.
  erases();
  const shown = await run(["drift", ...words], own);
  expect([shown.code, shown.stdout]).toEqual([7, expect.stringContaining("priority: 1 → 9")]);
  expect(shown.stdout).toContain(
    `Of each path: declared → at the service.\nTo have the rules as declared: \`${command} up`,
  );
  expect((await run(["doctor", ...words], own)).stdout).toMatch(/place +1 of the state's rules differs/);
  expect((await runEngine("up", "--refresh")).code).toBe(0);
  isHealed();
  expect((await run(["drift", ...words], own)).code).toBe(0);

  // With others, the mark was what told.
  const { clientId, clientSecret } = localCredentials;
  const others = {
    MERCHANT_RULES_TOKEN: "",
    MERCHANT_RULES_CLIENT_ID: clientId,
    MERCHANT_RULES_CLIENT_SECRET: clientSecret,
  };
  expect((await run(["drift", ...words], { ...own, ...others })).code).toBe(0);
  erases();
  const drift = await run(["drift", ...words], { ...own, ...others });
  const doctor = await run(["doctor", ...words], { ...own, ...others });
  const refused = await project.with(others, () => runEngine("preview", "--refresh"));
  const advised = /nothing shows that .* is the merchant .*`([^`]+ up --refresh)` with MERCHANT_RULES_SAME=(\w{4})/;
  const [said = [], ...more] = [drift.stderr, doctor.stdout, refused.output].map((text) =>
    text.replace(/\s+/g, " ").match(advised)?.slice(1),
  );
  expect(said).toEqual([`${command} up --refresh`, expect.any(String)]);
  expect(more).toEqual([said, said]);
  expect([drift.code, doctor.code, service.rules()[0]?.rule.priority]).toEqual([1, 1, 9]);
  expect(doctor.stdout).toMatch(/failed +place +.*nothing shows/);
  const same = { ...others, MERCHANT_RULES_SAME: said[1] ?? "" };
  expect((await run(["drift", ...words], { ...own, ...same })).code).toBe(7);
  expect((await project.with(same, () => runEngine("up", "--refresh"))).code).toBe(0);
  isHealed();
  expect((await run(["drift", ...words], { ...own, ...others })).code).toBe(0);
}

describe("a rule whose mark a person erased", () => {
  test("is healed by what is said of it, with the local engine", () => losesItsMark("local"));

  test.skipIf(!hasPulumi)("is healed by what is said of it, with the Pulumi CLI", () => losesItsMark("pulumi"));
});

describe("merchant-rules doctor of a stack that was applied", () => {
  test("reads its state, and says where its rules are, with the local engine", () => finds("local"));

  test.skipIf(!hasPulumi)("reads its state, and says where its rules are, with the Pulumi CLI", () => finds("pulumi"));
});
