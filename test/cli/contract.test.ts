import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { askAll } from "../../contract-tools/answers.ts";
import { gaps } from "../../contract-tools/gaps.ts";
import { questions } from "../../contract-tools/questions.ts";
import { loadContract, presets } from "../../sdk/contract/index.ts";
import type { Json } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { command } from "./command.ts";

let file: string;
beforeEach(() => {
  file = join(newFolder(), "merchant-rules.contract.yaml");
});

const init = (...words: string[]) => command("contract", "init", "--output", file, ...words);

describe("contract init", () => {
  test("writes what it is told, with where each field comes from, and names the rest as open", async () => {
    const written = await init(
      ...["--delete-by", "/api/v1/merchants/rules/{ruleId}", "--list", "/rules", "--list-items", "root"],
      ...["--list-lag", "0", "--update", "PATCH /api/v1/merchants/rules/{ruleId}", "--natural-key", "/name"],
      ...["--owner", "/metadata/managedBy", "--token", "/token", "--idempotency", "Idempotency-Key"],
      ...["--set", "rule.secret=[/apiKey]", "--set", "limits.pageSize=50"],
    );
    expect(written).toMatchObject({ code: 0, stderr: "" });
    expect(loadContract(file)).toMatchObject({
      operations: {
        delete: { path: "/api/v1/merchants/rules/{ruleId}", identifyBy: { in: "path" } },
        list: { path: "/rules", items: "", lagMs: 0 },
        update: { method: "PATCH", path: "/api/v1/merchants/rules/{ruleId}" },
      },
      rule: { naturalKey: "/name", owner: { at: "/metadata/managedBy" }, secret: ["/apiKey"] },
      auth: { token: { path: "/token", fields: { grant_type: "client_credentials" } } },
      idempotency: { header: "Idempotency-Key" },
      limits: { pageSize: 50 },
    });
    const text = readFileSync(file, "utf8");
    expect(text).toContain("    # answered: PATCH /api/v1/merchants/rules/{ruleId}\n    method: PATCH");
    expect(text).toContain("#   operations.list.pagination: Does the list come in pages? Without it:");
    expect(text).not.toContain("#   rule.naturalKey");
    const probe = /With a sandbox, `npx --no-install merchant-rules contract probe` measures/;
    expect(written.stdout).toMatch(probe);
    expect((await command("contract", "check", file)).stdout).toMatch(probe);
  });

  test.each(presets)("takes the preset %s with its comments, as a file that says the same", async (preset) => {
    expect(await init("--preset", preset)).toMatchObject({ code: 0 });
    const own = await command("contract", "check", "--json", file);
    const shipped = await command("contract", "check", "--json", preset);
    expect(JSON.parse(own.stdout)).toEqual({ ...JSON.parse(shipped.stdout), file });
    expect(readFileSync(file, "utf8")).toContain("$schema=./node_modules/pulumi-merchant-rules/");
  });

  test.each([
    ["there is no terminal to ask on", [], /no terminal to ask on\. What to do: give answers as options/],
    ["an answer is none of those allowed", ["--delete-by", "guess"], /Allowed: query:NAME, body:NAME, header:NAME, or/],
    ["a list has no place of its rules", ["--list", "/rules"], /--list needs --list-items/],
    ["a list that is not there has one", ["--list-items", "/rules"], /--list-items says nothing without --list/],
    ["a preset is to be another", ["--preset", "kinto", "--list", "/rules"], /cannot be used with option/],
    ["a value is no YAML", ["--set", "rule.secret=[/a"], /--set rule\.secret: the value /],
    ["a field is not named", ["--set", "secret"], /Write it as field=value/],
  ])("is refused as a wrong call where %s, and writes nothing", async (_why, words, why) => {
    const ran = await init(...words);
    expect(ran.stderr).toMatch(why);
    expect(ran.code).toBe(2);
    expect(existsSync(file)).toBe(false);
  });

  test("is refused where the contract could not work, with the field, and writes nothing", async () => {
    const ran = await init("--set", "operations.lst.path=/rules");
    expect(ran.stderr).toMatch(/operations\.lst: found an unknown field; allowed: create, get, delete, update, list/);
    expect(ran.code).toBe(1);
    expect(existsSync(file)).toBe(false);
  });

  test("writes over nothing", async () => {
    writeFileSync(file, "mine");
    const ran = await init("--preset", "kinto");
    expect(ran.stderr).toContain(`there already, so nothing was written: ${file}. What to do: move it away`);
    expect(ran.code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("removes what it has written where it cannot write the rest", async () => {
    const ran = await command("contract", "init", "--preset", "kinto", "--output", "/proc/none/c.yaml");
    expect(ran.stderr).toMatch(
      /^error: write a contract failed: ENOENT.* What to do: name a folder that can be written to/,
    );
    expect(ran.code).toBe(1);
  });
});

describe("the questions on a terminal", () => {
  /** Answers in turn; then ends. */
  async function asked(answers: readonly string[], known: Json = { version: 1 }) {
    const left = [...answers];
    const seen: string[] = [];
    const given = await askAll(async (question) => {
      seen.push(question);
      return left.shift();
    }, known);
    return { given, seen: seen.join("\n") };
  }

  test("say what an open one costs, ask again after an answer that is not allowed, and leave out what does not arise", async () => {
    const { given, seen } = await asked(["guess", "query:id", "", "", "", "", "", "", ""]);
    expect(given).toEqual({ deleteBy: "query:id" });
    expect(seen).toMatch(/With a sandbox, .*contract probe` measures/);
    expect(seen).toContain("(open: nothing can be deleted or replaced)");
    expect(seen).toContain('(found "guess"; allowed: query:NAME, body:NAME, header:NAME, or a path that has {ruleId})');
    expect(seen).not.toContain("array of rules");
  });

  test("end without a contract where the user ends them", async () => {
    expect((await asked(["query:id"])).given).toBeUndefined();
  });

  test("ask for what is not known already", async () => {
    const known = { operations: { list: { path: "/r", items: "" }, delete: { identifyBy: { in: "path" } } } };
    const { given, seen } = await asked(["0", "", "", "", "", "", ""], known);
    expect(given).toEqual({ listLag: "0" });
    expect(seen).not.toMatch(/how a delete|array of rules/);
  });

  test("ask for gaps, or for what belongs to one", () => {
    for (const { gap, after } of questions)
      if (after === undefined) expect(gaps.map(({ field }) => field)).toContain(gap);
  });
});

describe("contract check", () => {
  test("says that a contract can work, what is open, and what each costs", async () => {
    const { stdout, code } = await command("contract", "check", "seed");
    expect(stdout).toMatch(
      /^preset seed can work\. Of \d+ questions, \d+ are open:\n {2}operations\.delete\.identifyBy\n/,
    );
    expect(stdout).toContain("How does a delete name its rule?\n    Without it: nothing can be deleted or replaced.");
    expect(code).toBe(0);
  });

  test.each([
    ["cannot work", "version: 1\nrul: {}\n", /:2: rul: found an unknown field; allowed: .*\n *What to do: correct/],
    ["is not YAML", "version: [", /cannot work:\n.*:1: /],
    ["is empty", "", /the contract: found .*allowed: object/],
  ])("ends with 1 where a contract %s, with the line and what is allowed", async (_what, text, why) => {
    writeFileSync(file, text);
    for (const word of ["check", "origins"]) {
      const ran = await command("contract", word, file);
      expect(ran.stderr).toMatch(why);
      expect(ran).toMatchObject({ code: 1, stdout: "" });
    }
  });

  test("names a file that is not there", async () => {
    expect((await command("contract", "check", file)).stderr).toMatch(
      /cannot be read: ENOENT.*What to do: name a file/,
    );
  });
});

describe("contract origins", () => {
  test("says of each field whether the specification, the file or nobody says it, with the file's comments", async () => {
    writeFileSync(
      file,
      `version: 1
operations:
  # measured: 201
  create: { path: /v2/rules, success: [201] }
  delete:
    # measured: that rule went
    identifyBy: { in: query }
rule:
  naturalKey: /name # from the manual
`,
    );
    const { stdout, code } = await command("contract", "origins", file);
    expect(code).toBe(0);
    expect(stdout).toContain(
      `operations.create.path: "/v2/rules"\n    the specification, section 4, says "/api/v1/merchants/rules"; the file says otherwise: measured: 201`,
    );
    expect(stdout).toContain("operations.create.success: [201]\n    the specification, section 4; the file repeats it");
    expect(stdout).toContain('operations.delete.identifyBy: {"in":"query"}\n    measured: that rule went');
    expect(stdout).toContain('rule.naturalKey: "/name"\n    from the manual');
    expect(stdout).toMatch(/operations\.list: gap\n.*names the operation \(GET, section 4\), and no path/);
    expect(stdout).not.toContain("operations.list.method");
  });
});
