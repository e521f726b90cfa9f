import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { localCredentials } from "../../local/service/index.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { contractOf, identity, otherToken, twoMerchants } from "../support/stack/contracts.ts";
import { openPlace, type Place } from "../support/stack/place.ts";
import type { TestProject } from "../support/stack/project.ts";
import { startService } from "../support/stack/service.ts";
import { run } from "./command.ts";

const asking = { ...contractOf({ auth: { identity } }), semantics: "illustrative" };
const telling = { ...contractOf(), semantics: "illustrative" };

/** A command that reads live rules: its words, and the lists that it reads. */
type Reading = readonly [command: string, words: (files: Files) => readonly string[], lists: number];

interface Files {
  readonly payments: string;
  readonly payment: string;
  readonly cases: string;
  readonly preview: string;
  readonly out: string;
}

const reads: readonly Reading[] = [
  ["drift", () => ["drift"], 1],
  ["pull", () => ["pull", "--unmanaged", "*"], 1],
  ["catalog", ({ out }) => ["catalog", "--output", join(out, "rules.html")], 1],
  ["export", ({ out }) => ["export", "--out", out], 1],
  ["plan --refresh", ({ preview }) => ["plan", preview, "--refresh"], 1],
  ["plan --payments", ({ preview, payments }) => ["plan", preview, "--payments", payments], 1],
  ["plan --refresh --payments", ({ preview, payments }) => ["plan", preview, "--refresh", "--payments", payments], 1],
  ["simulate", ({ preview, payments }) => ["simulate", "--preview", preview, "--payments", payments], 1],
  ["explain", ({ payment }) => ["explain", payment, "--side", "before"], 1],
  ["verify", ({ cases }) => ["verify", cases, "--side", "before"], 1],
  ["lint", ({ preview }) => ["lint", "--preview", preview], 1],
  ["lint --side before", () => ["lint", "--side", "before"], 1],
];

interface World {
  readonly place: Place;
  readonly project: TestProject;
  readonly files: Files;
}

const accepting = { conditions: [], actions: [{ type: "accept" }] };

/** A stack of two rules at the first of two merchants, who have rules by the same ids. */
async function open(contract: typeof asking): Promise<World> {
  const place = await openPlace({ contract, ...twoMerchants });
  const stack = await place.stack("local");
  await stack.up({ all: { rules: { a: rule(1, accepting), b: rule(2, accepting) } } });
  const folder = newFolder();
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const payment = JSON.stringify({ amount: 5, currency: "EUR", country: "DE" });
  const { project } = stack;
  const previewed = await project.run("local", "preview", "--json");
  expect(previewed.code, previewed.stderr).toBe(0);
  const files = {
    payments: write("payments.ndjson", `${payment}\n`),
    payment: write("payment.json", payment),
    cases: write(
      "cases.yaml",
      `version: 1\ncases:\n  - { name: one, payment: ${payment}, expect: { outcome: accept } }\n`,
    ),
    preview: write("preview.json", previewed.stdout),
    out: newFolder(),
  };
  return { place, project, files };
}

function worded({ project, files }: World, words: Reading[1]): string[] {
  return [...words(files), "--cwd", project.folder, "--stack", project.stack, "--engine", "local"];
}

describe("a service that tells who the credentials are", () => {
  let world: World;
  beforeAll(async () => {
    world = await open(asking);
  });

  test.each(reads)("%s asks it once, reads the list once, and says whose rules it read", async (_, words, lists) => {
    world.place.counted();
    const { code, stdout, stderr } = await run(worded(world, words), world.project.variables());
    expect([0, 7], stderr + stdout).toContain(code);
    const { identity: asked, list } = world.place.counted();
    expect({ asked, list }).toEqual({ asked: 1, list: lists });
    if (!/^(?:pull|catalog|export)/.test(words(world.files)[0] ?? ""))
      expect(stdout).toMatch(/merchant acme at 127\.0\.0\.1:\d+, read \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  });

  test.each(reads)(
    "%s refuses another merchant's credentials, as `up` does, before it reads a rule",
    async (_, words) => {
      world.place.counted();
      const { code, stdout, stderr } = await run(worded(world, words), { ...world.project.variables(), ...otherToken });
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(
        'its credentials are those of "globex", another merchant than that of this stack\'s rules',
      );
      expect(world.place.counted()).toEqual({ identity: 1 });
    },
  );
});

describe("a service that does not", () => {
  let world: World;
  beforeAll(async () => {
    world = await open(telling);
  });

  test.each(reads)("%s refuses credentials by which no rule of the state is seen", async (_, words) => {
    const { code, stdout, stderr } = await run(worded(world, words), { ...world.project.variables(), ...otherToken });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/is the merchant of this stack's rules|may be another merchant's/);
  });
});

describe("a stack of the Pulumi CLI", () => {
  let world: World;
  beforeAll(async () => {
    world = await open(telling);
  });

  /** Puts a `pulumi` on the PATH that answers with what the stack has, and writes down what it is asked. */
  function withCli({ project, files }: World): { asked: () => string[]; environment: Record<string, string> } {
    const folder = newFolder();
    const state = JSON.parse(
      readFileSync(join(project.backend, ".pulumi/stacks/lifecycle", `${project.stack}.json`), "utf8"),
    );
    const exported = join(folder, "export.json");
    writeFileSync(exported, JSON.stringify({ version: 3, deployment: state.checkpoint.latest }));
    const { config: settings } = parse(project.read(`Pulumi.${project.stack}.yaml`));
    const config = join(folder, "config.json");
    writeFileSync(
      config,
      JSON.stringify(Object.fromEntries(Object.entries(settings).map(([k, value]) => [k, { value }]))),
    );
    const log = join(folder, "asked");
    const script = [
      "#!/bin/sh",
      `echo "$1 $2" >> ${log}`,
      'case "$1 $2" in',
      `"preview --json") cat ${files.preview} ;;`,
      `"stack export") cat ${exported} ;;`,
      `"stack --show-name") echo ${project.stack} ;;`,
      `"config --json") cat ${config} ;;`,
      "*) exit 1 ;;",
      "esac",
    ];
    writeFileSync(join(folder, "pulumi"), `${script.join("\n")}\n`, { mode: 0o755 });
    const asked = (): string[] => {
      const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
      rmSync(log, { force: true });
      return lines.sort();
    };
    return { asked, environment: { ...project.variables(), PATH: [folder, process.env.PATH].join(delimiter) } };
  }

  /** A command, its words, and what it may ask the CLI: its own preview among them where no file is given. */
  const asks: readonly (readonly [string, Reading[1], readonly string[]])[] = [
    ["drift", () => ["drift"], ["stack export"]],
    ["pull", () => ["pull", "--unmanaged", "*"], ["stack export"]],
    ["catalog", ({ out }) => ["catalog", "--output", join(out, "rules.html")], ["stack export"]],
    ["plan", () => ["plan"], ["preview --json"]],
    ["plan of a file", ({ preview }) => ["plan", preview], []],
    ["plan --refresh", () => ["plan", "--refresh"], ["config --json", "preview --json", "stack export"]],
    [
      "plan --refresh --payments",
      ({ payments }) => ["plan", "--refresh", "--payments", payments],
      ["config --json", "preview --json", "stack export"],
    ],
    [
      "simulate",
      ({ payments }) => ["simulate", "--payments", payments],
      ["config --json", "preview --json", "stack export"],
    ],
    [
      "explain --side before",
      ({ payment }) => ["explain", payment, "--side", "before"],
      ["config --json", "stack export"],
    ],
    ["verify --side before", ({ cases }) => ["verify", cases, "--side", "before"], ["config --json", "stack export"]],
    ["lint", () => ["lint"], ["config --json", "preview --json", "stack export"]],
    ["lint --side before", () => ["lint", "--side", "before"], ["config --json", "stack export"]],
  ];

  test.each(asks)("%s asks it for settings, state and a preview at most once", async (_, words, expected) => {
    const { asked, environment } = withCli(world);
    const argv = [...words(world.files), "--cwd", world.project.folder, "--stack", world.project.stack];
    const { code, stdout, stderr } = await run([...argv, "--engine", "pulumi"], environment);
    expect([0, 7], stderr + stdout).toContain(code);
    expect(asked()).toEqual(expected);
  });
});

describe("two environments", () => {
  /** Two services, each with a stack of a rule, and no credentials in the stacks' config. */
  async function both(): Promise<{ folder: string; urls: Record<string, string>; tokens: () => unknown[] }> {
    const services = await Promise.all(
      ["sandbox", "shop-nl"].map((name) =>
        startService({ contract: defineContract(telling), merchants: [{ name, token: `token-${name}` }] }),
      ),
    );
    const folder = newFolder();
    const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
    write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    write("merchant-rules.contract.yaml", JSON.stringify(telling));
    const [one = "", other = ""] = services.map(({ url }) => url);
    const urls = { sandbox: one, "shop-nl": other };
    for (const [name, url] of Object.entries(urls))
      write(`Pulumi.${name}.yaml`, `config:\n  merchant-rules:baseUrl: ${url}\n`);
    return { folder, urls, tokens: () => services.flatMap(({ requests }) => requests) };
  }
  const diff = ["diff", "--from", "sandbox", "--to", "shop-nl", "--engine", "local"];

  test("each get their own credentials by variables of their stacks, in one job", async () => {
    const { folder } = await both();
    const { code, stderr } = await run([...diff, "--cwd", folder], {
      MERCHANT_RULES_TOKEN: "of nobody",
      MERCHANT_RULES__STACK__SANDBOX__TOKEN: "token-sandbox",
      MERCHANT_RULES__STACK__SHOP_NL__TOKEN: "token-shop-nl",
    });
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("never get one variable's credentials both: the second is refused with both addresses, and what it names leads on", async () => {
    const { folder, urls, tokens } = await both();
    const given = { MERCHANT_RULES_TOKEN: "token-sandbox" };
    const { code, stderr } = await run([...diff, "--cwd", folder], given);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `MERCHANT_RULES_TOKEN is used for ${urls.sandbox} in this run, and would be sent to ${urls["shop-nl"]}, too`,
    );
    const [, variable = ""] = /credentials: (\S+) for/.exec(stderr) ?? [];
    expect(variable).toBe("MERCHANT_RULES__STACK__SHOP_NL__TOKEN");
    expect(tokens()).toEqual([]);
    expect(await run([...diff, "--cwd", folder], { ...given, [variable]: "token-shop-nl" })).toMatchObject({ code: 0 });
  });

  test("whose names make one variable are refused with both names", async () => {
    const { folder } = await both();
    writeFileSync(join(folder, "Pulumi.shop_nl.yaml"), "config: {}\n");
    const { code, stderr } = await run([...diff, "--cwd", folder], {
      MERCHANT_RULES_TOKEN: "token-sandbox",
      MERCHANT_RULES__STACK__SHOP_NL__TOKEN: "token-shop-nl",
    });
    expect(code).toBe(1);
    expect(stderr).toContain(
      'MERCHANT_RULES__STACK__SHOP_NL__TOKEN may be of the stack "shop-nl" or of the stack "shop_nl"',
    );
  });
});

test("a run of a stack takes its own variables before those that all stacks share, for a named connection, too", async () => {
  const place = await openPlace({ contract: telling });
  const stack = await place.stack("local");
  const { MERCHANT_RULES_TOKEN: token = "" } = stack.project.variables();
  const own = (name: string): string =>
    `MERCHANT_RULES__STACK__${stack.project.stack.toUpperCase().replaceAll("-", "_")}__${name}`;
  const environment = {
    MERCHANT_RULES_TOKEN: "of nobody",
    [own("TOKEN")]: token,
    [own("SIDE__TOKEN")]: token,
    MERCHANT_RULES_SIDE__BASE_URL: place.front.url,
  };
  const declared = { a: { definition: rule(1) }, b: { definition: rule(2), connection: "side" } };
  await stack.up(declared, { environment });
  expect(place.names()).toEqual(["rule-1", "rule-2"]);
  await stack.succeeds("refresh", { environment, expectNoChanges: true });
  await stack.succeeds("destroy", { environment });
  expect(place.names()).toEqual([]);
});

describe("drift of several stacks", () => {
  test("is one report with one exit code: what cannot be told stands before drift", async () => {
    const place = await openPlace({ contract: telling });
    const stack = await place.stack("local");
    await stack.up({ all: { rules: { a: rule(1), b: rule(2) } } });
    const { project } = stack;
    const drift = (...words: string[]) =>
      run(["drift", "--cwd", project.folder, "--engine", "local", ...words], project.variables());
    expect((await drift("--all-stacks")).code).toBe(0);
    place.edit("rule-2", { priority: 9 });
    const { code, stdout } = await drift("--all-stacks", "--json");
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({
      subject: `stacks ${project.stack}`,
      counts: { changed: 1 },
      findings: [{ change: "changed", name: "rule-2", stack: project.stack }],
    });
    for (const [condition, exit] of [
      ["missing", 0],
      ["changed>50%", 0],
      ["missing,changed>1", 0],
      ["changed>40%", 7],
      ["any", 7],
      ["flips", 2],
      ["changes", 2],
    ] as const)
      expect((await drift("--all-stacks", "--fail-on", condition)).code, condition).toBe(exit);
    const lacking = await drift("--stack", project.stack, "--stack", "gone");
    expect(lacking.code).toBe(1);
    expect(lacking.stdout).toContain("stack gone: there is no stack gone");
    expect(lacking.stdout).toContain(`stack ${project.stack}`);
  });
});

test.each(["lint", "explain", "simulate"])("%s reads what rules mean before it runs a preview", async (name) => {
  const place = await openPlace({ contract: contractOf() });
  const stack = await place.stack("local");
  await stack.up({ a: { definition: rule(1) } });
  const { project } = stack;
  const payments = join(newFolder(), "payments.ndjson");
  writeFileSync(payments, '{"amount":5}\n');
  // A program that would fail.
  writeFileSync(join(project.folder, "index.ts"), "throw new Error('the program has run');\n");
  const words = { lint: [], explain: [payments], simulate: ["--payments", payments] }[name] ?? [];
  const { code, stderr } = await run(
    [name, ...words, "--cwd", project.folder, "--engine", "local"],
    project.variables(),
  );
  expect(code).toBe(1);
  expect(stderr).toContain("the contract does not say what its rules mean");
  expect(stderr).not.toContain("the program has run");
});

test("the first export of a stack that has never run takes the stack's own variables, too", async () => {
  const { service } = await openPlace({ contract: telling });
  service.put(undefined, rule(1));
  const folder = newFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(join(folder, "merchant-rules.contract.yaml"), JSON.stringify(telling));
  const { code, stderr } = await run(
    ["export", "--cwd", folder, "--out", folder, "--stack", "prod", "--engine", "local"],
    {
      PULUMI_BACKEND_URL: `file://${newFolder()}`,
      MERCHANT_RULES_BASE_URL: service.url,
      MERCHANT_RULES_TOKEN: "of nobody",
      MERCHANT_RULES__STACK__PROD__TOKEN: localCredentials.token,
    },
  );
  expect([code, stderr]).toEqual([0, ""]);
});
