import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Packed, pack, root } from "../packed.ts";
import { type Ran, runCommand } from "./command.ts";

/** The versions of the package managers that npm brings. npm itself is the machine's own. */
const managerPackages = { pnpm: "12.21.0", yarn: "1.22.22", "@yarnpkg/cli-dist": "4.18.1" } as const;

/** The folders of the packages that a user installs. The first is a dependency, the others are for development. */
const packedFolders = [root, join(root, "local")];

/** The means of an installation, in a temporary folder: tarballs, package managers, versions of Node. */
export class Tools {
  readonly folder = mkdtempSync(join(tmpdir(), "consumers-"));
  readonly tarballs: readonly Packed[] = packedFolders.map((each) => pack(each, this.folder));
  /** The environment of everything that is run, without what this process got from npm, and without settings of Pulumi. */
  readonly environment: NodeJS.ProcessEnv;
  readonly #nodes = new Map<string, Promise<string>>();
  #managers: Promise<void> | undefined;

  constructor() {
    const inherited = Object.entries(process.env).filter(([name]) => !ofThisRun.test(name));
    const path = (process.env.PATH ?? "").split(delimiter).filter((each) => !/node_modules|node-gyp-bin/.test(each));
    this.environment = {
      ...Object.fromEntries(inherited),
      PATH: path.join(delimiter),
      NO_COLOR: "1",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_HOME: join(this.folder, "pulumi-home"),
      YARN_GLOBAL_FOLDER: this.manager("yarn-4-cache"),
      YARN_ENABLE_TELEMETRY: "0",
      YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
    };
  }

  /** A file of the package managers. */
  manager(name: string): string {
    return join(this.folder, "managers", name);
  }

  /** A new folder for a consumer, with nothing above it that it could find. */
  project(): string {
    return mkdtempSync(join(this.folder, "consumer-"));
  }

  /** The folder of a Node of this version. */
  node(version: string): Promise<string> {
    if (version === "own" || version === process.versions.node) return Promise.resolve(dirname(process.execPath));
    const known = this.#nodes.get(version);
    if (known !== undefined) return known;
    const installing = this.#installNode(version);
    this.#nodes.set(version, installing);
    return installing;
  }

  /** Has the package managers that npm brings. */
  managers(): Promise<void> {
    this.#managers ??= this.#installManagers();
    return this.#managers;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #installNode(version: string): Promise<string> {
    const folder = join(this.folder, `node-${version}`);
    await this.#install(folder, { node: version });
    const bin = join(folder, "node_modules/node/bin");
    if (!existsSync(bin)) throw new Error(`the npm package node@${version} brought no Node for this machine`);
    return bin;
  }

  async #installManagers(): Promise<void> {
    await this.#install(this.manager(""), managerPackages);
    const registry = await this.#npm(["config", "get", "registry"], this.manager(""));
    // Yarn 4 does not read npm's settings.
    this.environment.YARN_NPM_REGISTRY_SERVER = registry.stdout.trim();
  }

  async #install(folder: string, dependencies: Readonly<Record<string, string>>): Promise<void> {
    mkdirSync(folder, { recursive: true });
    const allowScripts = Object.fromEntries(Object.keys(dependencies).map((name) => [name, true]));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies, allowScripts }));
    await this.#npm(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"], folder);
  }

  async #npm(words: readonly string[], cwd: string): Promise<Ran> {
    const node = dirname(process.execPath);
    const env = { ...this.environment, PATH: [node, this.environment.PATH].join(delimiter) };
    const ran = await runCommand(["npm", ...words], { cwd, env });
    if (ran.code !== 0) throw new Error(`npm ${words.join(" ")} failed; is the registry within reach?\n${ran.output}`);
    return ran;
  }
}

/** The version of a package that this repository is developed with. */
export function developedWith(name: string): string {
  return JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
}

/** Variables that npm and vitest set for the commands that they run, and those that the product and the engine read. */
const ofThisRun =
  /^(MERCHANT_RULES_|PULUMI_|VITEST|NODE_ENV$|NODE_OPTIONS$|NODE_PATH$|INIT_CWD$|npm_(package|lifecycle|command|execpath|node_execpath|config_(local_prefix|user_agent|loglevel)))/;
