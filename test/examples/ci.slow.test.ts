import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type LocalService, localCredentials } from "../../local/service/index.ts";
import { loadPreset } from "../../sdk/contract/index.ts";
import { newFolder } from "../support/folder.ts";
import { hasPulumi } from "../support/stack/project.ts";
import { namesOf, startService } from "../support/stack/service.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = join(root, "examples/ci");

const githubSchema = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      steps: z.array(z.looseObject({ run: z.string().optional(), env: z.record(z.string(), z.string()).optional() })),
    }),
  ),
});
const gitlabSchema = z.record(z.string(), z.unknown());
const gitlabJobSchema = z.object({ script: z.array(z.string()) });

/** The scripts of a workflow's one job, but for the installation. */
function githubScripts(name: string): string[] {
  const { jobs } = githubSchema.parse(
    parse(readFileSync(join(examples, "github", `payment-rules-${name}.yml`), "utf8")),
  );
  const [job] = Object.values(jobs);
  return (job?.steps ?? []).flatMap(({ run }) => (run === undefined || run === "npm ci" ? [] : [run]));
}

/** The steps of a job of the pipeline, as one script. */
function gitlabScript(name: string): string {
  const pipeline = gitlabSchema.parse(parse(readFileSync(join(examples, "gitlab/.gitlab-ci.yml"), "utf8")));
  return gitlabJobSchema.parse(pipeline[name]).script.join("\n");
}

let service: LocalService;
let folder: string;

/** The example's project as a checkout has it, whose production is the local service. */
beforeAll(async () => {
  service = await startService({ contract: loadPreset("illustrative") });
  folder = newFolder();
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

/** GitHub's own command, where it is installed. */
const realGh = spawnSync("sh", ["-c", "command -v gh"], { encoding: "utf8" }).stdout.trim();

/** Stands for GitHub's command: one issue, as a file. What asks GitHub's API is done by the real one. */
const fakeGh = `#!/bin/sh
echo "$@" >> gh.log
for last; do :; done
case "$1 $2" in
  "issue list") if [ -f issue.md ]; then echo 7; fi ;;
  "issue create" | "issue edit") cp "$last" issue.md ;;
  "issue close") rm issue.md ;;
  "api "*) exec "$REAL_GH" "$@" ;;
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
  test.skipIf(realGh === "")(
    "GitHub, pull request: one comment says which rules it would create, and no other comment is edited",
    async () => {
      const github = await fakeGithub();
      const scripts = githubScripts("pull-request");
      await runAll(scripts, github.env);
      const [marker = ""] = written("plan.md").split("\n");
      expect(marker).toBe("<!-- merchant-rules plan: stack%20production of project%20payment%2Drules -->");
      for (const name of ["large-amounts", "trusted-countries", "test-cards"])
        expect(github.comments.at(-1)?.body).toContain(name);
      expect(github.comments).toHaveLength(1);

      // Somebody quotes it, and the workflow of another stack and of another report writes after it, over two pages.
      const [own] = github.comments.splice(0);
      const others = [
        { author: "somebody", body: own?.body ?? "" },
        { author: bot, body: `> ${own?.body}` },
        { author: bot, body: marker.replace("production", "sandbox") },
        { author: bot, body: marker.replace("plan", "drift") },
        { author: bot, body: marker.replace(/ of project.*/, " of project%20another -->") },
        ...Array.from({ length: 120 }, (_, k) => ({ author: "somebody", body: `comment ${k}` })),
      ];
      github.comments.push(
        ...others,
        { author: bot, body: `${marker}\nan older plan` },
        { author: bot, body: "later" },
      );
      await runAll(scripts, github.env);
      expect(github.comments).toEqual([
        ...others,
        { author: bot, body: written("plan.md") },
        { author: bot, body: "later" },
      ]);
      expect(github.tokens).toEqual(new Set(["token ghs"]));
      expect(service.rules()).toEqual([]);
    },
  );

  test("GitHub, update: the rules are there, as production's overlay has them", async () => {
    await runAll(githubScripts("update"));
    expect(namesOf(service.rules())).toEqual(["large-amounts", "test-cards", "trusted-countries"]);
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
    expect([...gitlab.notes.values()]).toMatchObject([{ author: { id: 7 } }]);
    const [marker = ""] = written("plan.md").split("\n");
    for (const [author, body] of [
      [8, `${marker}\nquoted`],
      [7, marker.replace("production", "sandbox")],
    ] as const)
      gitlab.notes.set(gitlab.notes.size + 1, { body, author: { id: author } });
    const before = [...gitlab.notes.values()].slice(1);
    await runAll([gitlabScript("plan")], env);
    expect([...gitlab.notes.values()].slice(1)).toEqual(before);
    expect(gitlab.notes.get(1)?.body).toBe(written("plan.md"));
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

const bot = "github-actions[bot]";
const commentSchema = z.object({ body: z.string() });

/** The comments of pull request 12 at GitHub's API, as far as the job uses it. To GitHub's command it is a proxy: no other way leads from there to plain HTTP. */
async function fakeGithub() {
  const comments: { author: string; body: string }[] = [];
  const tokens = new Set<unknown>();
  const server = createServer(async (request, response) => {
    tokens.add(request.headers.authorization);
    const { method = "GET" } = request;
    const { pathname, searchParams } = new URL(request.url ?? "", "http://api.github.localhost");
    const answer = (status: number, value: unknown, headers = {}): void =>
      void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    const shown = ({ author, body }: { author: string; body: string }, index: number) => ({
      id: index + 1,
      user: { login: author },
      body,
    });
    if (method === "GET" && pathname === "/repos/shop/rules/issues/12/comments") {
      const [each, page] = [Number(searchParams.get("per_page")), Number(searchParams.get("page") ?? "1")];
      const isLast = page * each >= comments.length;
      const next = `<http://api.github.localhost${pathname}?per_page=${each}&page=${page + 1}>; rel="next"`;
      return answer(200, comments.map(shown).slice((page - 1) * each, page * each), isLast ? {} : { link: next });
    }
    const { body } = method === "GET" ? { body: "" } : commentSchema.parse(await json(request));
    if (method === "POST" && pathname === "/repos/shop/rules/issues/12/comments") {
      comments.push({ author: bot, body });
      return answer(201, { id: comments.length });
    }
    const [, id] = /^\/repos\/shop\/rules\/issues\/comments\/(\d+)$/.exec(pathname) ?? [];
    const edited = comments[Number(id) - 1];
    if (method !== "PATCH" || edited === undefined) return answer(404, { message: "Not Found" });
    if (edited.author !== bot) return answer(403, { message: "Forbidden" });
    edited.body = body;
    return answer(200, { id: Number(id) });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const env = {
    PULL_REQUEST: "12",
    AUTHOR: authorOf("pull-request"),
    GITHUB_REPOSITORY: "shop/rules",
    GH_HOST: "github.localhost",
    GH_TOKEN: "ghs",
    GH_ENTERPRISE_TOKEN: "ghs",
    REAL_GH: realGh,
    HTTP_PROXY: `http://127.0.0.1:${port}`,
    NO_PROXY: "127.0.0.1",
  };
  return { comments, tokens, env };
}

/** Whose comments a workflow takes for its own. */
function authorOf(name: string): string {
  const { jobs } = githubSchema.parse(
    parse(readFileSync(join(examples, "github", `payment-rules-${name}.yml`), "utf8")),
  );
  const authors = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ env }) => env?.AUTHOR ?? []));
  return authors.join();
}

/** GitLab's API, as far as the job uses it. */
async function fakeGitlab() {
  const notes = new Map<number, { body: string; author: { id: number } }>();
  const issues = new Map<number, { state: string; description: string }>();
  const tokens = new Set<unknown>();
  const server = createServer(async (request, response) => {
    tokens.add(request.headers["private-token"]);
    const { method = "GET", url = "" } = request;
    const { body = "", description, state_event } = method === "GET" ? {} : fieldsSchema.parse(await json(request));
    const [, what, id] = /^\/projects\/5\/(merge_requests\/3\/notes|issues)(?:\/(\d+))?(?:\?.*)?$/.exec(url) ?? [];
    const answer = (value: unknown): void => void response.end(JSON.stringify(value));
    if (url === "/user") return answer({ id: 7 });
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
    notes.set(id === undefined ? notes.size + 1 : Number(id), { body, author: { id: 7 } });
    return answer({});
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, notes, issues, tokens };
}
