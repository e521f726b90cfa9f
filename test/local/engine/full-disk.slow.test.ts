import { rmSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { Project, stepNames } from "./support.ts";

/** The files that the disk has no room for, and the writes that it refused. */
const disk = vi.hoisted(() => ({ state: false, journal: false, refused: 0 }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const refuse = (): never => {
    disk.refused += 1;
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  return {
    ...fs,
    openSync: (path: string, ...rest: [string]) =>
      disk.state && /[/]dev\.json\.[^/]*\.tmp$/.test(path) ? refuse() : fs.openSync(path, ...rest),
    writeSync: (...args: Parameters<typeof fs.writeSync>) => (disk.journal ? refuse() : fs.writeSync(...args)),
  };
});

const program = `
  const slow = new Rule("slow", { name: "slow", pause: true });
  new Rule("quick", { name: "quick" });
  new Rule("after", { name: "after" }, { dependsOn: [slow] });
`;

/** An `up` whose disk is full from the moment at which a create is under way; `onRefused` is called once it has said so. */
async function upOnFullDisk(isJournalFull: boolean, onRefused = (): void => {}) {
  disk.refused = 0;
  const project = new Project(program);
  const running = project.run("up");
  await project.until(() => project.exists("waiting") && project.takeCalls().includes("create quick"));
  disk.state = true;
  disk.journal = isJournalFull;
  await project.until(() => disk.refused > 0);
  onRefused();
  project.write("go", "");
  const result = await running;
  disk.state = false;
  disk.journal = false;
  return { project, ok: result.ok, messages: result.errors.map(({ message }) => message) };
}

test("on a full disk what is under way ends, nothing more begins, and with room again the next run does the rest once", async () => {
  const { project, ok, messages } = await upOnFullDisk(false);
  expect(ok).toBe(false);
  expect(messages.at(-1)).toMatch(
    /dev\.json cannot be written: ENOSPC.*\. .*holds what this run did\. What to do: make room, and run again/,
  );
  expect(project.rules()).toHaveLength(2);
  // As the message says.
  expect(stepNames(await project.ok("up"))).toEqual(["create after"]);
  expect(project.rules()).toHaveLength(3);
  expect((await project.ok("up")).summary).toEqual({ same: 4 });
});

test("with room again at the end of the run, the state is written whole", async () => {
  const { project, messages } = await upOnFullDisk(true, () => {
    disk.state = false;
  });
  expect(messages.join("\n")).toMatch(/ENOSPC/);
  expect(stepNames(await project.ok("up"))).toEqual(["create after"]);
  expect(project.rules()).toHaveLength(3);
});

test("where not even the journal has room, what was made is named with its id; deleted by it, it is made once by the next run", async () => {
  const { project, messages } = await upOnFullDisk(true);
  const message = messages.at(-1) ?? "";
  expect(message).toMatch(/This was made, and is in no file:\n/);
  const named = [...message.matchAll(/\* \S+::(\S+), whose id is (\S+)$/gm)].map(([, name = "", id = ""]) => ({
    name,
    id,
  }));
  expect(named.map(({ name }) => name)).toContain("slow");
  // As the message says.
  for (const { id } of named) rmSync(project.path(`service/${id}.json`));
  await project.ok("refresh", { clearPendingCreates: true });
  await project.ok("up");
  expect(project.rules()).toHaveLength(3);
  expect((await project.ok("up")).messages).toEqual([]);
});
