import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../local/engine/index.ts";
import { Project } from "./support.ts";

const one = `new Rule("a", { name: "a" });`;

/** The error that a run cannot begin with. */
async function refusal(run: Promise<unknown>): Promise<EngineError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EngineError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

describe.concurrent("secrets", { timeout: 120_000 }, () => {
  test("of configuration, definitions and outputs reach program and provider, and never the disk in clear", async () => {
    const project = new Project(`
      const config = new pulumi.Config();
      const secret = config.requireSecret("token");
      const rule = new Rule("a", { name: "a", token: secret, list: [pulumi.secret("in-a-list")] }, { additionalSecretOutputs: ["ruleId"] });
      exports.token = secret;
      exports.plain = rule.ruleId;
    `);
    const early = await project.run("up");
    expect(early.errors.map(({ message }) => message).join()).toMatch(
      /Missing required configuration variable 'fixture:token'/,
    );
    // The stack and its salt are there now: secrets are made with its key, as pulumi config set --secret does.
    const { openCrypter } = await import("../../../stack/state/crypter.ts");
    const salt = /encryptionsalt: (\S+)/.exec(project.read("Pulumi.dev.yaml"))?.[1] ?? "";
    const crypter = await openCrypter(project.env.PULUMI_CONFIG_PASSPHRASE ?? "", salt);
    project.write(
      "Pulumi.dev.yaml",
      `# kept\nencryptionsalt: ${salt}\nconfig:\n  fixture:token: { secure: "${crypter.encrypt("s3cret-token")}" }\n  fixture:object: { deep: { secure: "${crypter.encrypt("deep-secret")}" }, list: [1, true] }\n`,
    );

    const result = await project.ok("up");
    expect(JSON.stringify(result.outputs)).toContain("s3cret-token");
    expect(JSON.parse(project.read("config.json"))).toEqual({
      "fixture:greeting": "hello",
      "fixture:object": '{"deep":"deep-secret","list":[1,true]}',
      "fixture:token": "s3cret-token",
      "merchant-rules:contract": "rules.yaml",
    });
    const [file = ""] = project.rules();
    expect(JSON.parse(project.read(join("service", file)))).toMatchObject({
      definition: { token: "s3cret-token", list: ["in-a-list"] },
    });

    const written = project.stateText();
    for (const secret of ["s3cret-token", "in-a-list", "deep-secret"]) {
      expect(written, secret).not.toContain(secret);
    }
    expect(project.resource("a").outputs).toMatchObject({
      ruleId: { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" },
    });
    expect((await project.ok("up")).summary).toEqual({ same: 2 });
    expect(project.stateText()).toBe(written);
    expect(project.read("Pulumi.dev.yaml")).toMatch(/^# kept\n/);

    const wrong = await refusal(project.run("up", { env: { ...project.env, PULUMI_CONFIG_PASSPHRASE: "wrong" } }));
    expect(wrong).toMatchObject({ code: "PASSPHRASE", exitCode: 1 });
    const { PULUMI_CONFIG_PASSPHRASE: _none, ...without } = project.env;
    const missing = await refusal(project.run("preview", { env: without }));
    expect(missing.message).toMatch(/PULUMI_CONFIG_PASSPHRASE/);
    project.write("phrase", `${project.env.PULUMI_CONFIG_PASSPHRASE}\n`);
    expect(
      (await project.ok("preview", { env: { ...without, PULUMI_CONFIG_PASSPHRASE_FILE: "phrase" } })).summary,
    ).toEqual({ same: 2 });
  });
});

describe.concurrent("the state file", { timeout: 120_000 }, () => {
  test("keeps what this engine does not know, and the state before it", async () => {
    const project = new Project(one);
    await project.ok("up");
    const state = JSON.parse(project.stateText());
    state.checkpoint.latest.later = { kept: true };
    state.checkpoint.latest.resources.at(-1).importID = "kept-too";
    const edited = JSON.stringify(state);
    project.write(project.stateFile, edited);
    project.program(`new Rule("a", { name: "a", more: 1 });`);
    await project.ok("up");
    expect(project.state()).toMatchObject({ later: { kept: true }, metadata: {} });
    expect(project.resource("a").importID).toBe("kept-too");
    expect(project.read(`${project.stateFile}.bak`)).toBe(edited);
    expect(readdirSync(project.path(".pulumi/stacks/fixture")).sort()).toEqual(["dev.json", "dev.json.bak"]);
    expect(readdirSync(project.path(".pulumi/locks/organization/fixture/dev"))).toEqual([]);
  });

  test("is left alone when it is torn, of a newer format, or not in order", async () => {
    const project = new Project(one);
    await project.ok("up");
    const good = project.stateText();
    const { resources } = project.state();
    const broken: [string, RegExp][] = [
      [good.slice(0, -40), /dev\.json cannot be read/],
      [good.replace('"version":3', '"version":4'), /version 4 of the state format .* install the Pulumi CLI/],
      [
        good.replace(JSON.stringify(resources[0]).slice(0, 40), JSON.stringify(resources[2]).slice(0, 40)),
        /is not sound|cannot be read/,
      ],
      [good.replace('"type":"passphrase"', '"type":"cloud"'), /the secrets provider "cloud" .* install the Pulumi CLI/],
    ];
    for (const [text, message] of broken) {
      project.write(project.stateFile, text);
      expect((await refusal(project.run("up"))).message).toMatch(message);
      expect(project.stateText()).toBe(text);
    }
  });

  test("is locked as the CLI locks it, and a dead holder's lock is taken over", async () => {
    const project = new Project(one);
    const folder = project.path(".pulumi/locks/organization/fixture/dev");
    mkdirSync(folder, { recursive: true });
    const lock = (pid: number, host: string) =>
      writeFileSync(
        join(folder, "other.json"),
        JSON.stringify({ pid, username: "someone", hostname: host, timestamp: "2026-01-01T00:00:00Z" }),
      );
    lock(process.ppid, hostname());
    const held = await refusal(project.run("up"));
    expect(held.code).toBe("LOCKED");
    expect(held.message).toMatch(new RegExp(`someone@.* \\(pid ${process.ppid}\\).*other\\.json`));
    lock(1, "another-host");
    expect((await refusal(project.run("up"))).code).toBe("LOCKED");
    // A preview writes nothing, and so needs no lock.
    expect((await project.ok("preview")).summary).toEqual({ create: 2 });
    lock(2 ** 22 + 1, hostname());
    const result = await project.ok("up");
    expect(result.messages).toContainEqual(expect.stringContaining("took over the lock"));
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe.concurrent("what a run is called with", { timeout: 120_000 }, () => {
  test("chooses stack and backend as documented, and refuses what it cannot handle by name", async () => {
    const project = new Project(one);
    await project.ok("up", { stack: "organization/fixture/prod", backendUrl: "file://./elsewhere" });
    expect(project.exists("elsewhere/.pulumi/stacks/fixture/prod.json")).toBe(true);
    expect(project.read("elsewhere/.pulumi/meta.yaml")).toBe("version: 1\n");
    const elsewhere = { env: { ...project.env, PULUMI_BACKEND_URL: "file://./elsewhere" } };
    expect((await project.ok("preview", elsewhere)).stack).toBe("prod");
    await project.ok("up", { ...elsewhere, stack: "test" });
    const several = await refusal(project.run("preview", elsewhere));
    expect(several).toMatchObject({ code: "BAD_CALL", exitCode: 2, message: expect.stringContaining("prod, test") });

    expect(await refusal(project.run("refresh", { stack: "none" }))).toMatchObject({
      code: "STACK_NOT_FOUND",
      exitCode: 6,
      message: expect.stringMatching(/What to do: name one of its stacks with --stack \(it has none yet\)/),
    });
    expect((await refusal(project.run("preview", { backendUrl: "s3://bucket" }))).message).toBe(
      "the backend s3://bucket (only file:// is) is not handled by the local engine: install the Pulumi CLI",
    );
    expect((await refusal(project.run("preview", { stack: "other/fixture/dev" }))).exitCode).toBe(2);
    expect((await refusal(project.run("preview", { cwd: "/" }))).message).toMatch(/no Pulumi\.yaml was found/);

    project.write("Pulumi.prod.yaml", "secretsprovider: awskms://key\n");
    expect((await refusal(project.run("preview", { stack: "prod" }))).message).toMatch(
      /the secrets provider "awskms:\/\/key"/,
    );
    project.write("Pulumi.prod.yaml", "config: [unclosed\n");
    expect((await refusal(project.run("preview", { stack: "prod" }))).message).toMatch(
      /Pulumi\.prod\.yaml is not valid YAML/,
    );
    project.write("Pulumi.yaml", "name: fixture\nruntime: python\n");
    expect((await refusal(project.run("preview"))).message).toMatch(/the runtime "python".* install the Pulumi CLI/);
    project.write("Pulumi.yaml", "name: fixture\nruntime: bun\n");
    expect((await refusal(project.run("preview"))).message).toMatch(/the runtime "bun".* write runtime: nodejs/);
    project.write("Pulumi.yaml", "name: fixture\nruntime: nodejs\nconfig: { needed: { type: string } }\n");
    expect((await refusal(project.run("preview"))).message).toMatch(
      /missing configuration that the project requires: fixture:needed/,
    );
  });
});
