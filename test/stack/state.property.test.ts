import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { EngineError } from "../../local/engine/index.ts";
import { readProject } from "../../stack/project/project.ts";
import { applyConfig, readStackFile } from "../../stack/project/stack-config.ts";
import { Backend } from "../../stack/state/backend.ts";
import { formatCheckpoint, parseCheckpoint } from "../../stack/state/checkpoint.ts";
import { decodeResource } from "../../stack/state/codec.ts";
import { type Crypter, newCrypter } from "../../stack/state/crypter.ts";
import { JournalWriter } from "../../stack/state/journal.ts";
import { takeLock } from "../../stack/state/lock.ts";
import { ResourceTexts } from "../../stack/state/resource-texts.ts";
import { readStack, StateStore } from "../../stack/state/store.ts";
import { newFolder } from "../support/folder.ts";
import { extremes, foreign, mutated } from "../support/fuzz/mutations.ts";
import { check, expectReadable, timeout } from "../support/fuzz/runs.ts";
import { rule } from "../support/rules.ts";

const folder = newFolder();

const stack = { project: "fuzzed", name: "dev" };
const rest = { checkpoint: {}, latest: {} };
const projectText = `name: fuzzed
runtime: { name: nodejs, options: { typescript: false } }
description: a project
config:
  fuzzed:limit: { type: integer, default: 7 }
  greeting: hello
`;
let crypter: Crypter;
let stackText: string;
let stateText: string;
let journalText: string;
let backend: Backend;

const urn = (type: string, name: string): string => `urn:pulumi:dev::fuzzed::${type}::${name}`;
const ruleType = "pulumi-nodejs:dynamic/merchant-rules:MerchantRule";

beforeAll(async () => {
  crypter = await newCrypter("fuzzed");
  stackText = `# kept\nencryptionsalt: ${crypter.salt}\nconfig:\n  fuzzed:token: { secure: "${crypter.encrypt("s3cret")}" }\n  fuzzed:list: [1, { a: true }]\n`;
  const secret = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    ciphertext: crypter.encrypt('"s3cret"'),
  };
  const provider = `${urn("pulumi:providers:pulumi-nodejs", "default")}::provider-id`;
  const stored = [
    { urn: urn("pulumi:pulumi:Stack", "fuzzed-dev"), custom: false, type: "pulumi:pulumi:Stack" },
    {
      urn: provider.split("::").slice(0, -1).join("::"),
      custom: true,
      id: "provider-id",
      type: "pulumi:providers:pulumi-nodejs",
    },
    ...[1, 2].map((k) => ({
      urn: urn(ruleType, `rule-${k}`),
      custom: true,
      id: `id-${k}`,
      type: ruleType,
      inputs: { definition: { ...rule(k), note: secret }, __provider: "code" },
      outputs: { definition: { ...rule(k), note: secret }, ruleId: `id-${k}`, __provider: "code" },
      parent: urn("pulumi:pulumi:Stack", "fuzzed-dev"),
      dependencies: k === 2 ? [urn(ruleType, "rule-1")] : [],
      propertyDependencies: { definition: [] },
      provider,
      created: "2026-01-01T00:00:00Z",
    })),
  ];
  const checkpoint = parseCheckpoint(
    JSON.stringify({ version: 3, checkpoint: { stack: "organization/fuzzed/dev", latest: { resources: stored } } }),
    "made",
  );
  const resources = checkpoint.resources.map((resource) => decodeResource(resource, crypter));
  stateText = formatCheckpoint("organization/fuzzed/dev", { resources, pendingOperations: [] }, rest, crypter);

  const file = join(folder, "journal");
  const writer = new JournalWriter(file, new ResourceTexts(crypter));
  writer.start(createHash("sha256").update(stateText).digest("hex"));
  const [, , first, last] = resources;
  if (first === undefined || last === undefined) throw new Error("the state has no rules");
  const third = { ...first, urn: urn(ruleType, "rule-3"), id: "" };
  writer.append([
    ["same", 0],
    ["same", 1],
    ["begin", 4, "creating", third],
  ]);
  writer.append([
    ["put", 4, { ...third, id: "id-3" }],
    ["end", 4],
  ]);
  writer.append([["begin", 3, "deleting"]]);
  writer.append([
    ["drop", 3],
    ["end", 3],
  ]);
  journalText = readFileSync(file, "utf8");
  write("Pulumi.yaml", projectText);
  write("index.js", "");
  backend = await Backend.open(`file://${folder}`, folder);
});

function write(name: string, content: string | Buffer): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const stateFile = ".pulumi/stacks/fuzzed/dev.json";

/** The engine's result with these files; undefined where it refused, naming one of `files`. */
async function resultOrRefusal<T>(files: readonly string[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    expectReadable(error.message, 4000);
    expect(
      files.some((file) => error.message.includes(file)),
      error.message,
    ).toBe(true);
    expect(error.message).not.toContain("s3cret");
    return undefined;
  }
}

/** Opens the state as a preview does, which changes nothing. */
async function open(): Promise<Awaited<ReturnType<StateStore["open"]>>> {
  return await new StateStore(backend, stack, await readStack(backend, stack), crypter).open(false);
}

describe("the local engine reads what is in its files, or refuses with the name of the file", { timeout }, () => {
  test("a state file that was changed", async () => {
    let right = 0;
    await check(
      500,
      fc.oneof({ weight: 5, arbitrary: mutated(stateText, pretty(stateText)) }, foreign),
      async (content) => {
        write(stateFile, content);
        const opened = await resultOrRefusal(["dev.json", "local engine: install the Pulumi CLI"], open);
        expect(readFileSync(join(folder, stateFile)).equals(content)).toBe(true);
        if (opened === undefined) return;
        right += 1;
        // What was read can be written, and is then read as the same.
        const text = formatCheckpoint("organization/fuzzed/dev", opened.snapshot, rest, crypter);
        const again = parseCheckpoint(text, "again").resources.map((resource) => decodeResource(resource, crypter));
        // As texts, in which -0 is 0.
        expect(JSON.stringify(again)).toBe(JSON.stringify(opened.snapshot.resources));
      },
      extremes,
    );
    expect(right).toBeGreaterThan(0);
  });

  test("a journal that was changed or cut", async () => {
    write(stateFile, stateText);
    const file = `${stateFile}.journal`;
    const cut = fc.nat({ max: 4000 }).map((length) => Buffer.from(journalText).subarray(0, length));
    const anyJournal = fc.oneof({ weight: 4, arbitrary: mutated(journalText) }, cut, foreign);
    await check(300, anyJournal, async (content) => {
      write(file, content);
      const opened = await resultOrRefusal(["dev.json.journal"], open);
      expect(readFileSync(join(folder, file)).equals(content)).toBe(true);
      if (opened !== undefined)
        for (const { urn } of opened.snapshot.resources) expect(urn).toMatch(/^urn:pulumi:dev::fuzzed::/);
    });
    // A journal that was cut anywhere is one that a killed run left: whole lines count, and nothing is refused.
    const whole = Buffer.from(journalText);
    const [header] = journalText.split("\n", 1);
    for (let length = (header?.length ?? 0) + 1; length <= whole.length; length += 7) {
      write(file, whole.subarray(0, length));
      const { snapshot } = await open();
      expect(snapshot.resources.length).toBeGreaterThan(3);
    }
    rmSync(join(folder, file));
  });

  test("the state of another stack, which would have everything in it deleted", async () => {
    for (const other of ["urn:pulumi:dev::other::", "urn:pulumi:prod::fuzzed::"]) {
      write(stateFile, stateText.replaceAll("urn:pulumi:dev::fuzzed::", other));
      await expect(open()).rejects.toThrow(
        /dev\.json is not sound: urn:pulumi:.* is of another stack than fuzzed\/dev/,
      );
    }
  });

  test("Pulumi.yaml, the stack file and meta.yaml", async () => {
    write(stateFile, stateText);
    const files = ["Pulumi.yaml", "Pulumi.dev.yaml", "meta.yaml"] as const;
    const right = { "Pulumi.yaml": projectText, "Pulumi.dev.yaml": stackText, "meta.yaml": "version: 1\n" };
    const path = {
      "Pulumi.yaml": "Pulumi.yaml",
      "Pulumi.dev.yaml": "Pulumi.dev.yaml",
      "meta.yaml": ".pulumi/meta.yaml",
    };
    const reset = (): void => {
      for (const file of files) write(path[file], right[file]);
    };
    const input = fc
      .constantFrom(...files)
      .chain((file) => fc.tuple(fc.constant(file), fc.oneof({ weight: 4, arbitrary: mutated(right[file]) }, foreign)));
    const examples = files.flatMap((file) => extremes.map((content): [typeof file, Buffer] => [file, content]));
    await check(
      130,
      input,
      async ([file, content]) => {
        reset();
        write(path[file], content);
        await resultOrRefusal(
          ["Pulumi.yaml", "Pulumi.dev.yaml", "meta.yaml", "configuration", "local engine: install"],
          async () => {
            const project = await readProject(folder);
            await Backend.open(`file://${folder}`, folder);
            const config = applyConfig(project, await readStackFile(project, "dev"), "dev", crypter);
            for (const { text, shown } of config.values()) {
              expect(typeof text).toBe("string");
              expect(shown).not.toContain("s3cret");
            }
          },
        );
      },
      examples,
    );
    reset();
  });

  test("a lock, which is never taken over where its holder cannot be told", async () => {
    const lock = JSON.stringify({
      pid: process.ppid,
      username: "someone",
      hostname: hostname(),
      timestamp: "2026-01-01T00:00:00Z",
    });
    const file = ".pulumi/locks/organization/fuzzed/dev/other.json";
    const pids = ["0", "-1", "1.5", "1e400", "null", '"1"'].map((pid) =>
      Buffer.from(lock.replace(String(process.ppid), pid)),
    );
    for (const content of [...pids, Buffer.from(""), Buffer.from("{"), Buffer.from([0xff])]) {
      write(file, content);
      await expect(takeLock(backend, stack, () => undefined)).rejects.toThrow(/other\.json/);
      expect(readFileSync(join(folder, file)).equals(content)).toBe(true);
    }
  });
});

function pretty(text: string): string {
  return JSON.stringify(JSON.parse(text), null, 2);
}
