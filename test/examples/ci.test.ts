import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type LocalService, localCredentials, startLocalService } from "../../local/service/index.ts";
import { loadPreset } from "../../sdk/contract/index.ts";
import { hasPulumi } from "../support/project.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = join(root, "examples/ci");

const githubSchema = z.object({
  jobs: z.record(z.string(), z.object({ steps: z.array(z.looseObject({ run: z.string().optional() })) })),
});
const gitlabSchema = z.record(z.string(), z.unknown());
const gitlabJobSchema = z.object({ script: z.array(z.string()) });

/** What a workflow's one job runs, but for the installation; each is a script of its own. */
function githubScripts(name: string): string[] {
  const { jobs } = githubSchema.parse(
    parse(readFileSync(join(examples, "github", `payment-rules-${name}.yml`), "utf8")),
  );
  const [job] = Object.values(jobs);
  return (job?.steps ?? []).flatMap(({ run }) => (run === undefined || run === "npm ci" ? [] : [run]));
}

/** What a job of the pipeline runs, as one script. */
function gitlabScript(name: string): string {
  const pipeline = gitlabSchema.parse(parse(readFileSync(join(examples, "gitlab/.gitlab-ci.yml"), "utf8")));
  return gitlabJobSchema.parse(pipeline[name]).script.join("\n");
}

let service: LocalService;
let folder: string;

/** The example's project as a checkout has it, whose production is the local service. */
beforeAll(async () => {
  service = await startLocalService({ contract: loadPreset("illustrative") });
  folder = mkdtempSync(join(tmpdir(), "ci-"));
  cpSync(join(root, "examples/environments"), folder, {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  cpSync(join(examples, "gitlab/gitlab-report.mjs"), join(folder, "gitlab-report.mjs"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  writeFileSync(join(folder, "Pulumi.production.yaml"), `config:\n  merchant-rules:baseUrl: ${service.url}\n`);
  writeFileSync(join(folder, "gh"), fakeGh);
  chmodSync(join(folder, "gh"), 0o755);
  if (hasPulumi) await run("pulumi stack init production");
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Stands for GitHub's command: one comment, and one issue, as files. */
const fakeGh = `#!/bin/sh
echo "$@" >> gh.log
for last; do :; done
case "$1 $2" in
  "issue list") if [ -f issue.md ]; then echo 7; fi ;;
  "issue create" | "issue edit") cp "$last" issue.md ;;
  "issue close") rm issue.md ;;
  "pr comment") cp "$last" comment.md ;;
  "label create") ;;
  *) exit 1 ;;
esac
`;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a script as a job does. Where there is no Pulumi CLI the local engine stands in for it. */
async function run(script: string, env: Record<string, string> = {}): Promise<Ended> {
  const words = hasPulumi ? script : script.replaceAll("pulumi up", "npx --no-install merchant-rules local up");
  const child = spawn("bash", ["-e", "-c", words], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: [folder, join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
      PULUMI_BACKEND_URL: `file://${folder}`,
      PULUMI_HOME: join(folder, "pulumi-home"),
      PULUMI_CONFIG_PASSPHRASE: "ci",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      MERCHANT_RULES_CLIENT_ID: localCredentials.clientId,
      MERCHANT_RULES_CLIENT_SECRET: localCredentials.clientSecret,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, output };
}

async function runAll(scripts: readonly string[], env?: Record<string, string>): Promise<void> {
  for (const script of scripts) {
    const { code, output } = await run(script, env);
    expect(output, script).not.toContain(localCredentials.clientSecret);
    if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${output}`);
  }
}

const written = (file: string): string => readFileSync(join(folder, file), "utf8");
const isThere = (file: string): boolean => existsSync(join(folder, file));

describe("the jobs of examples/ci, one after the other", { timeout: 300_000 }, () => {
  test("GitHub, pull request: one comment says which rules it would create", async () => {
    await runAll(githubScripts("pull-request"), { PULL_REQUEST: "12" });
    for (const name of ["large-amounts", "trusted-countries", "test-cards"])
      expect(written("comment.md")).toContain(name);
    expect(written("gh.log")).toContain("pr comment 12 --edit-last --create-if-none");
    expect(service.rules()).toEqual([]);
  });

  test("GitHub, update: the rules are there, as production's overlay has them", async () => {
    await runAll(githubScripts("update"));
    expect(
      service
        .rules()
        .map(({ rule }) => rule.name)
        .sort(),
    ).toEqual(["large-amounts", "test-cards", "trusted-countries"]);
    expect(service.rules().find(({ rule }) => rule.name === "test-cards")?.rule.actions).toEqual([{ type: "decline" }]);
  });

  test("GitHub, drift: nothing while all is in sync, one issue while it is not, and it is closed again", async () => {
    const drift = githubScripts("drift");
    await runAll(drift);
    expect(isThere("issue.md")).toBe(false);
    const [first] = service.rules();
    if (first === undefined) throw new Error("there is no rule");
    service.put(first.ruleId, { ...first.rule, priority: 99 });
    await runAll(drift);
    await runAll(drift);
    expect(written("issue.md")).toContain("priority");
    expect(written("gh.log").match(/issue create/g)).toHaveLength(1);
    expect(written("gh.log").match(/issue edit 7/g)).toHaveLength(1);
    service.put(first.ruleId, first.rule);
    await runAll(drift);
    expect(isThere("issue.md")).toBe(false);
  });

  test("GitHub, drift: an error is no drift, and touches no issue", async () => {
    const [script = ""] = githubScripts("drift");
    const { code, output } = await run(script, { MERCHANT_RULES_CLIENT_SECRET: "wrong" });
    expect(code).toBe(1);
    expect(output).toContain("UNAUTHENTICATED");
    expect(isThere("issue.md")).toBe(false);
  });

  test("GitLab: the merge request's note, the update, and the issue about drift", async () => {
    const gitlab = await fakeGitlab();
    const env = { CI_API_V4_URL: gitlab.url, CI_PROJECT_ID: "5", CI_MERGE_REQUEST_IID: "3", GITLAB_API_TOKEN: "glpat" };
    await runAll([gitlabScript("plan"), gitlabScript("plan"), gitlabScript("update"), gitlabScript("drift")], env);
    expect(gitlab.notes.size).toBe(1);
    expect(gitlab.issues.size).toBe(0);
    const stray = service.put(undefined, { name: "by hand", priority: 3 });
    await runAll([gitlabScript("drift"), gitlabScript("drift")], env);
    expect([...gitlab.issues.values()]).toEqual([{ state: "opened", description: expect.stringContaining("by hand") }]);
    service.remove(stray);
    await runAll([gitlabScript("drift")], env);
    expect([...gitlab.issues.values()]).toMatchObject([{ state: "closed" }]);
    expect(gitlab.tokens).toEqual(new Set(["glpat"]));
  });
});

test("every job of the examples is run here", () => {
  expect(readdirSync(join(examples, "github")).sort()).toEqual([
    "payment-rules-drift.yml",
    "payment-rules-pull-request.yml",
    "payment-rules-update.yml",
  ]);
  const pipeline = gitlabSchema.parse(parse(readFileSync(join(examples, "gitlab/.gitlab-ci.yml"), "utf8")));
  const jobs = Object.keys(pipeline).filter((name) => gitlabJobSchema.safeParse(pipeline[name]).success);
  expect(jobs).toEqual(["plan", "update", "drift"]);
});

const fieldsSchema = z.object({ body: z.string(), description: z.string(), state_event: z.string() }).partial();

/** GitLab's API, as far as the job uses it. */
async function fakeGitlab() {
  const notes = new Map<number, { body: string }>();
  const issues = new Map<number, { state: string; description: string }>();
  const tokens = new Set<unknown>();
  const server = createServer(async (request, response) => {
    tokens.add(request.headers["private-token"]);
    const { method = "GET", url = "" } = request;
    const { body = "", description, state_event } = method === "GET" ? {} : fieldsSchema.parse(await json(request));
    const [, what, id] = /^\/projects\/5\/(merge_requests\/3\/notes|issues)(?:\/(\d+))?(?:\?.*)?$/.exec(url) ?? [];
    const answer = (value: unknown): void => void response.end(JSON.stringify(value));
    if (what === undefined) {
      response.statusCode = 404;
      return answer({ url });
    }
    if (what === "issues") {
      if (method === "GET")
        return answer(
          [...issues].filter(([, { state }]) => state === "opened").map(([iid, issue]) => ({ iid, ...issue })),
        );
      const iid = id === undefined ? issues.size + 1 : Number(id);
      const before = issues.get(iid) ?? { state: "opened", description: "" };
      issues.set(iid, {
        state: state_event === "close" ? "closed" : before.state,
        description: description ?? before.description,
      });
      return answer({ iid });
    }
    if (method === "GET") return answer([...notes].map(([note, text]) => ({ id: note, ...text })));
    notes.set(id === undefined ? notes.size + 1 : Number(id), { body });
    return answer({});
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, notes, issues, tokens };
}
