import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { shellWord } from "../../stack/shell-word.ts";

/** The installed packages that the program and the engine need. */
export interface Packages {
  /** The folder of pulumi-merchant-rules. */
  readonly product: string;
  /** The file of the command `merchant-rules`. */
  readonly merchantRules: string;
  /** The folder of \@pulumi/pulumi, the one copy that pulumi-merchant-rules has. */
  readonly pulumi: string;
}

const versionsSchema = z.record(z.string(), z.string()).optional();
const manifestSchema = z.looseObject({ dependencies: versionsSchema, devDependencies: versionsSchema });
const binSchema = z.object({ bin: z.object({ "merchant-rules": z.string() }) });

/** Finds the packages as the program's own folder does, wherever a package manager has put them. */
export function findPackages(program: string): Packages {
  const product = folderOf("pulumi-merchant-rules", program);
  const { bin } = binSchema.parse(JSON.parse(readFileSync(join(product, "package.json"), "utf8")));
  return {
    product,
    merchantRules: join(product, bin["merchant-rules"]),
    pulumi: folderOf("@pulumi/pulumi", product),
  };
}

function folderOf(name: string, from: string): string {
  try {
    return dirname(createRequire(join(from, "package.json")).resolve(`${name}/package.json`));
  } catch (cause) {
    throw new Error(`the package ${name} is not installed. What to do: npm install ${name}`, { cause });
  }
}

/** Copies the program into a new folder. Its packages are links, so that nothing is installed, and nothing written beside them. */
export function makeProject(program: string, folder: string, packages: Packages): void {
  cpSync(program, folder, { recursive: true, filter: (path) => !relative(program, path).startsWith("node_modules") });
  // Where the sources' dependencies are says nothing here: the links below are what is installed.
  const { dependencies, devDependencies, ...manifest } = manifestSchema.parse(
    JSON.parse(readFileSync(join(program, "package.json"), "utf8")),
  );
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const modules = join(folder, "node_modules");
  for (const scope of ["@pulumi", ".bin"]) mkdirSync(join(modules, scope), { recursive: true });
  symlinkSync(packages.product, join(modules, "pulumi-merchant-rules"), "junction");
  symlinkSync(packages.pulumi, join(modules, "@pulumi/pulumi"), "junction");
  symlinkSync(packages.merchantRules, join(modules, ".bin/merchant-rules"));
}

/** Returns what a user would export before the first command: the rules' address, credentials, the place of the state. */
export function settingsOf(url: string, folder: string, engine: EngineName): Record<string, string> {
  return {
    MERCHANT_RULES_BASE_URL: url,
    MERCHANT_RULES_CLIENT_ID: "local-client",
    MERCHANT_RULES_CLIENT_SECRET: "local-secret",
    PULUMI_BACKEND_URL: pathToFileURL(join(folder, "state")).href,
    PULUMI_CONFIG_PASSPHRASE: "quickstart",
    // The CLI notes there which stack is chosen, and writes a log of each run.
    ...(engine === "pulumi" && { PULUMI_HOME: join(folder, "home") }),
  };
}

/** Writes the settings as a file that a shell reads. */
export function writeSettings(file: string, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `export ${name}=${shellWord(value)}`);
  // Every engine starts "node" by its name, and the machine's own may be too old.
  const node = dirname(process.execPath);
  if (node.includes(`${sep}node_modules${sep}`)) lines.push(`export PATH=${shellWord(node)}${delimiter}"$PATH"`);
  writeFileSync(file, `${lines.join("\n")}\n`);
}

export type EngineName = "pulumi" | "local";

export interface Engine {
  readonly name: EngineName;
  /** The reason for this one, in a sentence for the user. */
  readonly why: string;
  /** The words before the verb, as a user types them. */
  readonly words: readonly string[];
}

/** Chooses the engine that is wanted, else Pulumi's own where its CLI is on the PATH. Undefined: the CLI is wanted, and is not there. */
export function chosenEngine(wanted: EngineName | undefined): Engine | undefined {
  if (wanted === "local") return localEngine("The local engine, because --engine local says so.");
  const hasCli = spawnSync("pulumi", ["version"], { stdio: "ignore" }).status === 0;
  if (hasCli) {
    const reason =
      wanted === "pulumi"
        ? "because --engine pulumi says so"
        : "because the CLI is on the PATH; --engine local takes the local one";
    return { name: "pulumi", why: `Pulumi's own, ${reason}.`, words: ["pulumi"] };
  }
  if (wanted === "pulumi") return undefined;
  return localEngine("The local engine, because the Pulumi CLI is not on the PATH; where it is, it is used.");
}

function localEngine(why: string): Engine {
  return { name: "local", why, words: ["npx", "--no-install", "merchant-rules", "local"] };
}
