// The quickstart's story: rules that are declared in a program appear in a rules service, drift, heal and go away.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { styleText } from "node:util";
import { Command, CommanderError, Option } from "commander";
import { z } from "zod";

const root = fileURLToPath(new URL("..", import.meta.url));
const stack = "quickstart";
const stackFile = join(root, `Pulumi.${stack}.yaml`);
const rulesPath = "/api/v1/merchants/rules";
const token = "local-token";
let step = 0;

interface Engine {
  readonly name: "pulumi" | "local";
  readonly why: string;
  /** The words of a command line, as a user types them. */
  command(...words: string[]): string[];
}

const ruleSchema = z.looseObject({ id: z.string(), name: z.string(), priority: z.number() });
const listSchema = z.object({ rules: z.array(z.looseObject({ id: z.string() })) });
type Rule = z.infer<typeof ruleSchema>;

let isInterrupted = false;
// The story ends at its next step, and then tidies up as after any failure.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    isInterrupted = true;
  });

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const options = parsedOptions(argv);
  if (typeof options === "number") return options;
  const engine = chosenEngine(options.engine);
  if (engine === undefined) {
    console.error("error: --engine pulumi needs the Pulumi CLI on the PATH; install it, or use --engine local.");
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), "merchant-rules-quickstart-"));
  rmSync(stackFile, { force: true });
  let service: Service | undefined;
  let kept = false;
  try {
    title("The engine", engine.why);
    service = await startService(folder);
    await tellStory(engine, service, folder, options.keep === true);
    kept = options.keep === true;
    return 0;
  } catch (error) {
    console.error(`\nThe quickstart failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    if (!kept) {
      await service?.stop();
      rmSync(folder, { recursive: true, force: true });
      rmSync(stackFile, { force: true });
    }
  }
}

async function tellStory(engine: Engine, service: Service, folder: string, keep: boolean): Promise<void> {
  const environment = environmentOf(service.url, folder);
  title("The settings", "Where the rules are, as whom, and where the engine keeps its state");
  for (const [name, value] of Object.entries(environment)) show(`export ${name}=${value}`);
  mkdirSync(join(folder, "state"));
  const run = (what: Expected, ...words: string[]): string => runCommand(engine.command(...words), environment, what);

  if (engine.name === "pulumi") run({ code: 0 }, "stack", "init", stack);

  title("Preview", "What the program in examples/quickstart would change: three rules to create");
  const preview = run({ code: 0 }, "preview", "--stack", stack);
  const toCreate = preview.split("\n").filter((line) => /MerchantRule/.test(line) && /create/.test(line)).length;
  expect(toCreate === 3, `the preview should have 3 rules to create, and has ${toCreate}`);
  console.log(`   So there are ${toCreate} to create, besides the stack itself.`);

  title("Up", "The rules are created");
  run({ code: 0 }, "up", "--stack", stack, "--yes", ...(engine.name === "pulumi" ? ["--skip-preview"] : []));

  title("Read them back", "The service itself says what it has");
  const rules = await readRules(service.url);
  expect(rules.length === 3, `the service should have 3 rules, and has ${rules.length}`);
  const rule = rules.find(({ name }) => name === "large-amounts");
  if (rule === undefined) throw new Error("the rule large-amounts is not at the service");

  title("Preview again", "Nothing has changed, so there is nothing to do");
  run({ code: 0 }, "preview", "--stack", stack, "--expect-no-changes");

  title("Somebody edits a rule at the service", "By hand, past the program: priority 100 becomes 1");
  await editRule(service.url, { ...rule, priority: 1 });

  title("Drift check", "The engine reads every rule, names the path that differs, and exits with 7");
  run(
    { code: engine.name === "pulumi" ? "not 0" : 7, says: /definition\.priority|priority/ },
    "refresh",
    "--stack",
    stack,
    "--preview-only",
    "--expect-no-changes",
    "--diff",
  );

  title("Up heals", "The rule becomes again what the program declares");
  run(
    { code: 0 },
    "up",
    "--stack",
    stack,
    "--refresh",
    "--yes",
    ...(engine.name === "pulumi" ? ["--skip-preview"] : []),
  );
  const healed = await readRules(service.url);
  expect(
    healed.find(({ id }) => id === rule.id)?.priority === 100,
    "the rule large-amounts should have priority 100 again",
  );

  if (keep) {
    sayWhatToTry(engine, service, environment);
    return;
  }

  title("Destroy", "The rules go away");
  run({ code: 0 }, "destroy", "--stack", stack, "--yes", ...(engine.name === "pulumi" ? ["--skip-preview"] : []));
  const left = await readRules(service.url);
  expect(left.length === 0, `no rule should be left, and ${left.length} are`);
  title("Done", 'Declared, previewed, applied, watched, healed and gone. Next: README.md, "Your own service".');
}

function sayWhatToTry(engine: Engine, service: Service, environment: Readonly<Record<string, string>>): void {
  title("Yours to try", `The service goes on at ${service.url}, with the three rules in it`);
  // Pulumi starts "node" by its name, and the machine's own may be too old.
  if (engine.name === "pulumi" && process.execPath.startsWith(root))
    show(`export PATH=${dirname(process.execPath)}:$PATH`);
  for (const [name, value] of Object.entries(environment)) show(`export ${name}=${value}`);
  show(`${engine.command("preview", "--stack", stack).join(" ")}    # after a change in examples/quickstart/index.ts`);
  show(`${engine.command("up", "--stack", stack).join(" ")}`);
  show(`${curl(`${service.url}${rulesPath}`)}    # what the service has`);
  show(`${engine.command("destroy", "--stack", stack).join(" ")}`);
  show(`kill ${service.pid}    # stops the service`);
}

interface Service {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

async function startService(folder: string): Promise<Service> {
  title("The service", "A local rules service that speaks the illustrative contract");
  const words = ["serve", "--contract", "illustrative", "--port", "0", "--data", join(folder, "rules.sqlite")];
  show(["npx", "merchant-rules", ...words].join(" "));
  // Its output goes to a file: with --keep it outlives this process, and a pipe would not.
  const log = join(folder, "service.log");
  const output = openSync(log, "w");
  const child = spawn(process.execPath, [join(root, "bin", "merchant-rules.js"), ...words], {
    cwd: root,
    detached: true,
    stdio: ["ignore", output, output],
  });
  child.unref();
  for (let tries = 0; tries < 300; tries++) {
    const text = readFileSync(log, "utf8");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    if (url !== undefined && child.pid !== undefined) {
      indented(text.split("\n").slice(0, 2).join("\n"));
      return { url, pid: child.pid, stop: () => stopped(child) };
    }
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${text}`);
    await sleep(50);
  }
  await stopped(child);
  throw new Error("the service did not print its address within 15 seconds");
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.ref();
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
}

function environmentOf(url: string, folder: string): Record<string, string> {
  return {
    MERCHANT_RULES_BASE_URL: url,
    MERCHANT_RULES_CLIENT_ID: "local-client",
    MERCHANT_RULES_CLIENT_SECRET: "local-secret",
    PULUMI_BACKEND_URL: pathToFileURL(join(folder, "state")).href,
    PULUMI_CONFIG_PASSPHRASE: "quickstart",
  };
}

async function readRules(url: string): Promise<Rule[]> {
  show(curl(`${url}${rulesPath}`));
  const response = await fetch(`${url}${rulesPath}`, { headers: { authorization: `Bearer ${token}` } });
  const answer = listSchema.parse(await response.json());
  const rules = await Promise.all(
    answer.rules.map(async ({ id }): Promise<Rule> => {
      const read = await fetch(`${url}${rulesPath}/${id}`, { headers: { authorization: `Bearer ${token}` } });
      expect(read.status === 200, `GET ${rulesPath}/${id} should answer 200, and answered ${read.status}`);
      return ruleSchema.parse(await read.json());
    }),
  );
  if (rules.length === 0) indented("(no rules)");
  for (const { id, name, priority } of rules) indented(`${id}  ${name.padEnd(15)} priority ${priority}`);
  return rules;
}

async function editRule(url: string, { id, ...rule }: Rule): Promise<void> {
  const fields = Object.entries(rule).filter(([key]) => key !== "createdAt" && key !== "updatedAt");
  const body = JSON.stringify(Object.fromEntries(fields));
  show(`${curl(`${url}${rulesPath}/${id}`)} -X PUT -H 'Content-Type: application/json' -d '${body}'`);
  const response = await fetch(`${url}${rulesPath}/${id}`, {
    method: "PUT",
    body,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  });
  expect(response.ok, `the edit should succeed, and the service answered ${response.status}`);
}

interface Expected {
  readonly code: number | "not 0";
  readonly says?: RegExp;
}

function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  { code, says }: Expected,
): string {
  show(words.join(" "));
  const [program, args] =
    words[0] === "npx"
      ? [process.execPath, [join(root, "bin", "merchant-rules.js"), ...words.slice(2)]]
      : ["pulumi", words.slice(1)];
  const env = {
    ...inherited(),
    ...environment,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_OPTION_NON_INTERACTIVE: "true",
  };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    env,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (error !== undefined) throw error;
  indented(stdout);
  indented(stderr);
  const asExpected = code === "not 0" ? status !== 0 && status !== null : status === code;
  expect(asExpected, `\`${words.join(" ")}\` should exit with ${code}, and exited with ${status}`);
  expect(says === undefined || says.test(stdout + stderr), `\`${words.join(" ")}\` should say ${says}`);
  return stdout + stderr;
}

/** Settings of a real service have no business here. */
function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MERCHANT_RULES_")));
}

function chosenEngine(wanted: "pulumi" | "local" | undefined): Engine | undefined {
  const local = (why: string): Engine => ({
    name: "local",
    why,
    command: (...words) => ["npx", "merchant-rules", "local", ...words],
  });
  if (wanted === "local") return local("The local engine, because --engine local says so");
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .some((folder) => folder !== dirname(process.execPath) && isPulumi(join(folder, "pulumi")));
  if (!onPath)
    return wanted === "pulumi"
      ? undefined
      : local("The local engine, because the Pulumi CLI is not on the PATH; where it is, it is used");
  const why = `Pulumi's own, ${wanted === "pulumi" ? "because --engine pulumi says so" : "because the CLI is on the PATH; --engine local takes the local one"}`;
  return { name: "pulumi", why, command: (...words) => ["pulumi", ...words] };
}

function isPulumi(file: string): boolean {
  return spawnSync(file, ["version"], { stdio: "ignore" }).status === 0;
}

function parsedOptions(argv: readonly string[]): { keep?: true; engine?: "pulumi" | "local" } | number {
  const command = new Command("quickstart")
    .option("--keep", "leave the rules and the service there, and say what to try next")
    .addOption(
      new Option("--engine <name>", "the engine; default: pulumi where it is on the PATH, else local").choices([
        "pulumi",
        "local",
      ]),
    )
    .exitOverride();
  try {
    return command.parse(argv, { from: "user" }).opts();
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

function title(text: string, explained: string): void {
  step++;
  console.log(`\n${styleText("bold", `${step}. ${text}`)}\n   ${explained}.`.replace(/\.\.$/, "."));
}

function show(command: string): void {
  if (isInterrupted) throw new Error("it was interrupted");
  console.log(styleText("cyan", `   $ ${command}`));
}

function indented(text: string): void {
  const lines = text.trimEnd();
  if (lines.trim() !== "") console.log(lines.replaceAll(/^/gm, "   | "));
}

function curl(url: string): string {
  return `curl -s -H 'Authorization: Bearer ${token}' ${url}`;
}

function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}
