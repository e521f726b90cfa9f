// Keeps one note in a merge request, or one issue about drift, up to date, by GitLab's REST API.
//   node gitlab-report.mjs note plan.md      the merge request's note
//   node gitlab-report.mjs drifted drift.md  the issue is there, and says what drifted
//   node gitlab-report.mjs in-sync           the issue is closed
import { readFileSync } from "node:fs";

const { CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, GITLAB_API_TOKEN } = process.env;
const label = "payment-rules-drift";

async function call(method, path, fields) {
  return await callAt(method, `projects/${CI_PROJECT_ID}/${path}`, fields);
}

async function callAt(method, path, fields) {
  const response = await fetch(`${CI_API_V4_URL}/${path}`, {
    method,
    headers: { "private-token": GITLAB_API_TOKEN ?? "", "content-type": "application/json" },
    ...(fields === undefined ? {} : { body: JSON.stringify(fields) }),
  });
  if (!response.ok) throw new Error(`GitLab answered ${response.status} to ${method} ${path}`);
  return await response.json();
}

async function note(file) {
  const body = readFileSync(file, "utf8");
  // The report's first line is hidden. It says report, stack and project: by it the note is found again, and no other one.
  const [mark = ""] = body.split("\n");
  const me = await callAt("GET", "user");
  const notes = `merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
  for (let page = 1; ; page += 1) {
    const found = await call("GET", `${notes}?per_page=100&page=${page}`);
    const own = found.find((each) => each.author.id === me.id && each.body.startsWith(mark));
    if (own !== undefined) return await call("PUT", `${notes}/${own.id}`, { body });
    if (found.length < 100) return await call("POST", notes, { body });
  }
}

async function openIssue() {
  const [issue] = await call("GET", `issues?labels=${label}&state=opened&per_page=1`);
  return issue;
}

async function drifted(file) {
  const description = readFileSync(file, "utf8");
  const issue = await openIssue();
  if (issue !== undefined) return await call("PUT", `issues/${issue.iid}`, { description });
  return await call("POST", "issues", { title: "Payment rules have drifted", labels: label, description });
}

async function inSync() {
  const issue = await openIssue();
  if (issue !== undefined) await call("PUT", `issues/${issue.iid}`, { state_event: "close" });
}

const [what, file = ""] = process.argv.slice(2);
const work = { note, drifted, "in-sync": inSync }[what];
if (work === undefined) throw new Error("usage: node gitlab-report.mjs note FILE | drifted FILE | in-sync");
await work(file);
