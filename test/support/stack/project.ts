import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { newFolder } from "../folder.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export type EngineName = "local" | "pulumi";
export const hasPulumi = spawnSync("pulumi", ["version"], { stdio: "ignore" }).status === 0;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, as a person sees them. */
  readonly output: string;
}

const program = `
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { MerchantRule, MerchantRuleSet } from "pulumi-merchant-rules";

const secret = new pulumi.Config().getSecret("secret");
const rules = JSON.parse(readFileSync(new URL("rules.json", import.meta.url), "utf8"), (key, value) => (value === "(secret)" ? secret : value));
export const ruleIds = {};
for (const [name, args] of Object.entries(rules)) {
  const Resource = "rules" in args ? MerchantRuleSet : MerchantRule;
  const resource = new Resource(name, args);
  ruleIds[name] = "rules" in args ? resource.ruleIds : resource.ruleId;
}
`;

/** A Pulumi project in a folder of its own, whose program declares the rules that a file beside it holds. */
export class TestProject {
  readonly folder: string;
  readonly backend: string;
  stack = "test";
  readonly #environment: Record<string, string>;
  readonly #running = new Set<ChildProcess>();

  constructor(environment: Record<string, string>, config: readonly string[] = []) {
    this.folder = newFolder();
    this.backend = newFolder();
    this.#environment = {
      ...environment,
      PULUMI_CONFIG_PASSPHRASE: "correct horse",
      PULUMI_BACKEND_URL: pathToFileURL(this.backend).href,
    };
    this.write("Pulumi.yaml", "name: lifecycle\nruntime:\n  name: nodejs\n  options: { typescript: false }\n");
    this.write("package.json", '{ "name": "lifecycle", "type": "module", "main": "index.js" }');
    this.write("index.js", program);
    if (config.length > 0)
      this.write(`Pulumi.${this.stack}.yaml`, ["config:", ...config.map((line) => `  ${line}`), ""].join("\n"));
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
    this.declare({});
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Puts rules into the program: arguments of MerchantRule or of a set of rules, by resource name. "(secret)" becomes the stack's secret. */
  declare(rules: Record<string, JsonObject>): void {
    this.write("rules.json", JSON.stringify(rules));
  }

  /** Sets variables for the runs that come. */
  set(variables: Record<string, string>): void {
    Object.assign(this.#environment, variables);
  }

  /** Runs something with variables of its own. */
  async with<T>(variables: Record<string, string>, work: () => Promise<T>): Promise<T> {
    const before = { ...this.#environment };
    this.set(variables);
    try {
      return await work();
    } finally {
      for (const name of Object.keys(variables)) delete this.#environment[name];
      this.set(before);
    }
  }

  /** Runs an engine's verb as a user does. */
  run(engine: EngineName, verb: string, ...flags: string[]): Promise<CommandResult> {
    const common = ["--stack", this.stack, ...flags];
    const interactive = verb === "preview" || flags.includes("--preview-only") ? [] : ["--yes"];
    if (engine === "local") return this.merchantRules("local", verb, ...common, ...interactive);
    const skip = interactive.length > 0 && verb !== "refresh" ? ["--skip-preview"] : [];
    return this.command("pulumi", [verb, ...common, ...interactive, ...skip, "--non-interactive", "--color", "never"]);
  }

  /** Runs the command of this package. */
  merchantRules(...words: string[]): Promise<CommandResult> {
    return this.command(process.execPath, [join(root, "bin/merchant-rules.js"), ...words]);
  }

  async pulumi(...words: string[]): Promise<CommandResult> {
    return this.command("pulumi", [...words, "--non-interactive", "--color", "never"]);
  }

  /** The stack must exist before the CLI does anything with it; the local engine makes it by itself. */
  async init(engine: EngineName): Promise<void> {
    if (engine === "local") return;
    const { code, output } = await this.pulumi("stack", "init", this.stack);
    if (code !== 0) throw new Error(output);
  }

  /** The environment of a run: this process's, without anything that the product reads, and what the project needs. */
  environment(): Record<string, string | undefined> {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith("MERCHANT_RULES_") && !name.startsWith("PULUMI_CONFIG") && name !== "PULUMI_STACK",
    );
    return { ...Object.fromEntries(inherited), ...this.#environment, PULUMI_SKIP_UPDATE_CHECK: "true", NO_COLOR: "1" };
  }

  /** Those variables of a run that the product and Pulumi read, for a command in this process. */
  variables(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.environment()).flatMap(([name, value = ""]) =>
        /^(MERCHANT_RULES|PULUMI)_|^PWD$/.test(name) ? [[name, value]] : [],
      ),
    );
  }

  command(file: string, args: readonly string[]): Promise<CommandResult> {
    const env = this.environment();
    return new Promise((resolve) => {
      const child = execFile(file, args, { cwd: this.folder, env, maxBuffer: 256 << 20 }, (error, stdout, stderr) => {
        this.#running.delete(child);
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, stdout, stderr, output: stdout + stderr });
      });
      this.#running.add(child);
    });
  }

  /** Asks what runs to end. */
  end(): void {
    for (const child of this.#running) child.kill();
  }

  /** Gives the stack another name, as `pulumi stack rename` does. */
  async rename(engine: EngineName, to: string): Promise<void> {
    const from = this.stack;
    this.stack = to;
    if (engine === "pulumi") {
      const { code, output } = await this.pulumi("stack", "rename", to, "--stack", from);
      if (code !== 0) throw new Error(output);
      return;
    }
    const stacks = join(this.backend, ".pulumi/stacks/lifecycle");
    const state = readFileSync(join(stacks, `${from}.json`), "utf8")
      .replaceAll(`urn:pulumi:${from}::`, `urn:pulumi:${to}::`)
      .replaceAll(`pulumi:pulumi:Stack::lifecycle-${from}`, `pulumi:pulumi:Stack::lifecycle-${to}`)
      .replaceAll(`organization/lifecycle/${from}"`, `organization/lifecycle/${to}"`);
    writeFileSync(join(stacks, `${to}.json`), state);
    rmSync(join(stacks, `${from}.json`));
    renameSync(join(this.folder, `Pulumi.${from}.yaml`), join(this.folder, `Pulumi.${to}.yaml`));
  }

  /** The state file as it stands on the disk. */
  state(): string {
    return readFileSync(this.#stateFile, "utf8");
  }

  /** Puts an earlier state file back: what a run did after it is forgotten, as after a kill. */
  restore(state: string): void {
    writeFileSync(this.#stateFile, state);
  }

  get #stateFile(): string {
    return join(this.backend, ".pulumi/stacks/lifecycle", `${this.stack}.json`);
  }

  /** Everything that any run left on the disk: state, backups, history, stack file, program. */
  everythingOnDisk(): string {
    const own = readdirSync(this.folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    const kept = readdirSync(this.backend, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
    return [...own, ...kept].map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
    rmSync(this.backend, { recursive: true });
  }
}
