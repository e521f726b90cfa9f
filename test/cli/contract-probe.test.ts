import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localCredentials } from "../../local/service/index.ts";
import { type ContractInput, loadContract } from "../../sdk/contract/index.ts";
import { deletesByQuery, place } from "../contract-tools/probe/place.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { command, run } from "./command.ts";

async function sandbox(others = 0, contract: ContractInput = deletesByQuery) {
  const at = await place(contract, { others });
  const folder = newFolder();
  const file = join(folder, "limit.json");
  writeFileSync(file, JSON.stringify(rule(1)));
  const environment = { MERCHANT_RULES_BASE_URL: at.front.url, MERCHANT_RULES_TOKEN: localCredentials.token };
  const words = ["contract", "probe", "--cwd", folder, "--definition", file];
  const list = ["--list", "GET /api/v1/merchants/rules"];
  return {
    ...at,
    out: join(folder, "contract.yaml"),
    probe: (...more: readonly string[]) => run([...words, ...list, ...more], environment),
    /** By the list that a contract has. */
    again: (...more: readonly string[]) => run([...words, ...more], environment),
  };
}

test("--dry-run prints the requests, and a probe sends no others", async () => {
  const { probe, front } = await sandbox();
  const dry = await probe("--dry-run");
  expect(dry.code).toBe(0);
  expect(front.taken()).toEqual([]);
  const planned = [...dry.stdout.matchAll(/^ {2}([A-Z]+ \/\S+)$/gm)].map(([, request = ""]) => request);
  expect(planned).toHaveLength(4);
  expect((await probe("--yes")).code).toBe(0);
  const sent = front
    .taken()
    .map(({ method, path }) => `${method} ${path.replace(/\?.*/, "").replace(/rules\/[^/]+$/, "rules/{ruleId}")}`);
  expect([...new Set(sent)].sort()).toEqual([...planned].sort());
});

test("the contract is written with the evidence, and without the token", async () => {
  const { probe, out, service } = await sandbox();
  const { code, stderr } = await probe("--yes", "--output", out);
  const text = readFileSync(out, "utf8");
  expect([code, stderr.includes("nothing that the probe made is left")]).toEqual([0, true]);
  expect(service.rules()).toEqual([]);
  expect(text).toMatch(
    /# DELETE \S+\?ruleId=\w+ → 200[^\n]*(\n +#[^\n]*)*\n +identifyBy: \{ in: query, name: ruleId \}/,
  );
  expect(text + stderr).not.toContain(localCredentials.token);
  expect(loadContract(out).operations.list?.items).toBe("/rules");
  const again = await probe("--yes", "--output", out);
  expect([again.code, again.stderr.includes("exists already; nothing was sent")]).toEqual([2, true]);
});

const rules = "/api/v1/merchants/rules";

/** A service that also changes rules. */
const changes: ContractInput = {
  ...deletesByQuery,
  operations: { ...deletesByQuery.operations, update: { path: `${rules}/{ruleId}` } },
};

test("what was measured is in the contract with its evidence, also where it is the default, and is not open", async () => {
  const { probe, out } = await sandbox(0, changes);
  expect(await probe("--yes", "--output", out, "--update", `PUT ${rules}/{ruleId}`)).toMatchObject({ code: 0 });
  const text = readFileSync(out, "utf8");
  for (const [line, evidence] of [
    ["gone: []", "404, the list lacks it: a deleted rule is not shown any more"],
    ["id: kept", "the rule is shown by its id"],
    ["version: null", "is taken without a version, and a GET shows none"],
    ["forms: []", "each value of the definition is shown as it was sent"],
    ["notFound: []", "404 for an id that does not exist"],
  ] as const) {
    const above = text
      .slice(0, text.indexOf(`${line}\n`))
      .split(/\n *(?=[^\s#])/)
      .at(-1);
    expect(above?.replace(/\s+#\s+/g, " "), line).toContain(evidence);
  }
  const open = (await command("contract", "check", "--json", out)).stdout;
  expect(JSON.parse(open).open.map(({ field }: { field: string }) => field)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(rule\.(gone|forms)|errors\.notFound|operations\.update.*)$/)]),
  );
});

test("what was tried and not found stands once in the contract, with the evidence and the cost", async () => {
  const { probe, out } = await sandbox();
  expect(await probe("--yes", "--output", out)).toMatchObject({ code: 0 });
  const text = readFileSync(out, "utf8");
  for (const field of ["idempotency", "operations.create.identifyBy"])
    expect(text.split("\n").filter((line) => line.startsWith("#") && line.includes(` ${field}: `))).toEqual([
      expect.stringMatching(/^# {3}\S+: POST .* → \d+.*\. Without it: [^.]+\.$/),
    ]);
});

test("a probe over its own contract keeps the evidence, and adds nothing that nobody said", async () => {
  const paged: ContractInput = {
    ...deletesByQuery,
    operations: {
      ...deletesByQuery.operations,
      list: {
        path: rules,
        items: "/rules",
        lagMs: 0,
        pagination: { type: "cursor", limit: "limit", cursor: "cursor", next: "/next" },
      },
    },
  };
  const { probe, again, out } = await sandbox(0, paged);
  expect(await probe("--yes", "--output", out)).toMatchObject({ code: 0 });
  const first = readFileSync(out, "utf8");
  const listOf = (text: string): string =>
    /\n {2}list:\n(?: {4}.*\n)+/.exec(text)?.[0].replace(/rules\?\S+/g, "rules") ?? "";
  expect(listOf(first)).toMatch(/# given as --list\n {4}path: /);
  expect(listOf(first)).toMatch(/# GET .*(?:\n +# .*)*\n {4}pagination: \{ type: cursor/);
  const words = ["--yes", "--contract", out, "--output", out, "--force"];
  expect(await again(...words)).toMatchObject({ code: 0 });
  const second = readFileSync(out, "utf8");
  expect(listOf(second)).toBe(listOf(first));
  expect(second).not.toMatch(/from the contract that was given|more: null/);
});

test("of several updates the first that works is taken, and one that nobody gave is said", async () => {
  const { probe, out } = await sandbox(0, changes);
  expect(await probe("--yes", "--output", out)).toMatchObject({ code: 0 });
  expect(readFileSync(out, "utf8")).toMatch(
    /^# Not found:\n(?:#.*\n)*# {3}operations\.update: not tried: give --update\. /m,
  );
  const updates = [`PATCH ${rules}/{ruleId}`, `PUT ${rules}/{ruleId}`, `PUT ${rules}/{ruleId}/never`];
  const words = ["--yes", "--force", "--output", out, ...updates.flatMap((each) => ["--update", each])];
  expect(await probe(...words)).toMatchObject({ code: 0 });
  expect(loadContract(out).operations.update).toMatchObject({ method: "PUT", path: `${rules}/{ruleId}` });
});

test("a wrong address, a wrong request and a missing yes are wrong calls, and nothing is sent", async () => {
  const { probe, front } = await sandbox();
  for (const [words, said] of [
    [
      ["--yes", "--may-empty", "https://production.example"],
      /--may-empty says https:\/\/production\.example, and the address/,
    ],
    [["--yes", "--update", "DELETE /rules"], /allowed: PUT or PATCH or POST/],
    [["--yes", "--delete-by", "ruleId"], /allowed: query, body or header/],
    [[], /there is no terminal to ask on/],
  ] as const) {
    const { code, stderr } = await probe(...words);
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  }
  expect(front.taken()).toEqual([]);
});

test("a probe that stops says why, what to do and what is left, and fails", async () => {
  const { probe, front } = await sandbox(2);
  const { code, stderr } = await probe("--yes");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /the probe stopped: 2 rules are there already\. What to do: probe a sandbox without rules; or, .* say --may-empty http:\S+; or say --allow-existing, .* then DELETE \/api\/v1\/merchants\/rules is not tried/,
    ),
  ]);
  front.behave((request, pass) => (request.method === "DELETE" ? { status: 200, body: {} } : pass()));
  const left = await probe("--yes", "--allow-existing", "--delete", "DELETE /api/v1/merchants/rules/{ruleId}");
  expect([left.code, left.stderr.match(/^left at the service: rule "rule-1-\w+" \(id \w+\)/gm)?.length]).toEqual([
    1, 2,
  ]);
});

/** The options that an advice names. */
const advised = (stderr: string, after: string): string[] => {
  const advice = stderr.slice(stderr.indexOf(after));
  return [...advice.matchAll(/--(?:leftover|may-empty) [^\s;,]+/g)].flatMap(([words]) =>
    words.replace(/:$/, "").split(" "),
  );
};

test.each([
  ["stopped by rules that are there", [] as string[], "What to do: "],
  ["held back from the delete of a collection", ["--allow-existing"], "What to do about what is left: "],
])(
  "whoever follows what is said to a probe that was %s ends with a contract, and nothing of the probe is left",
  async (_, first, after) => {
    const { probe, service, out } = await sandbox(2);
    const before = await probe("--yes", ...first);
    expect(before.code).toBe(1);
    const words = advised(before.stderr, after);
    expect(words).toContain("--may-empty");
    if (first.length > 0) expect(before.stderr).toMatch(/was not tried, because .* or with --may-empty http:/);
    expect(await probe("--yes", "--output", out, ...words)).toMatchObject({ code: 0 });
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual(["other-1", "other-2"]);
    expect(loadContract(out).operations.delete.identifyBy).toEqual({ in: "query", name: "ruleId" });
  },
);

test("rules that an earlier probe left are named, and who names them back ends with nothing left", async () => {
  const { probe, service, front, out } = await sandbox();
  front.behave((request, pass) =>
    request.method === "DELETE" ? { status: 400, body: { error: { code: "BAD" } } } : pass(),
  );
  const refused = await probe("--yes");
  expect([refused.code, service.rules().length]).toEqual([1, 2]);
  expect(refused.stderr).toMatch(/What to do about what is left: look up how a delete names its rule/);
  front.behave();
  const stopped = await probe("--yes");
  expect(stopped.stderr).toMatch(/2 rules are there already\. What to do: if an earlier probe left them there/);
  const words = advised(stopped.stderr, "What to do: ");
  expect(words.filter((word) => word === "--leftover")).toHaveLength(2);
  expect(words).toEqual(expect.arrayContaining(advised(refused.stderr, "What to do about what is left: ")));
  const done = await probe("--yes", "--output", out, ...words);
  expect([done.code, service.rules()]).toEqual([0, []]);
  expect(loadContract(out).operations.delete.identifyBy).toEqual({ in: "query", name: "ruleId" });
});
