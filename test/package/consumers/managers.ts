import type { Files, ManagerName } from "./consumer.ts";
import type { Tools } from "./tools.ts";

type CommandLine = readonly [file: string, ...words: string[]];

/** A package manager's commands. */
interface Manager {
  install(tools: Tools): CommandLine;
  /** Runs a command of an installed package. */
  run(tools: Tools, words: readonly string[]): CommandLine;
  /** Runs any other command, where what it starts must be told by the package manager how to find packages. */
  wrap?(tools: Tools, words: readonly string[]): CommandLine;
  /** Its settings beside package.json. */
  readonly files: Files;
}

const yarn1 = "node_modules/yarn/bin/yarn.js";
const yarn4 = "node_modules/@yarnpkg/cli-dist/bin/yarn.js";

export const managers: Readonly<Record<ManagerName, Manager>> = {
  npm: {
    install: () => ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"],
    run: (_, words) => ["npx", "--no-install", ...words],
    files: {},
  },
  pnpm: {
    install: (tools) => [
      tools.manager("node_modules/.bin/pnpm"),
      "install",
      "--store-dir",
      tools.manager("pnpm-store"),
    ],
    run: (tools, words) => [tools.manager("node_modules/.bin/pnpm"), "exec", ...words],
    // Nothing is hoisted: a package sees what it names, and nothing else.
    files: { "pnpm-workspace.yaml": "hoist: false\nallowBuilds: { protobufjs: false }\n" },
  },
  "yarn 1": {
    install: (tools) => ["node", tools.manager(yarn1), "install", "--cache-folder", tools.manager("yarn-1-cache")],
    run: (tools, words) => ["node", tools.manager(yarn1), "--silent", "run", ...words],
    files: {},
  },
  "yarn 4": {
    install: (tools) => ["node", tools.manager(yarn4), "install"],
    run: (tools, words) => ["node", tools.manager(yarn4), "run", ...words],
    files: { ".yarnrc.yml": "nodeLinker: node-modules\n", "yarn.lock": "" },
  },
  "yarn 4, Plug'n'Play": {
    install: (tools) => ["node", tools.manager(yarn4), "install"],
    run: (tools, words) => ["node", tools.manager(yarn4), "run", ...words],
    wrap: (tools, words) => ["node", tools.manager(yarn4), "exec", ...words],
    files: { ".yarnrc.yml": "nodeLinker: pnp\n", "yarn.lock": "" },
  },
};
