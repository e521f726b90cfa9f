import { defined } from "../../../sdk/json/index.ts";
import type { Consumer, Files, TypeCheck } from "./consumer.ts";
import {
  automationProgram,
  commonJsProgram,
  everyEntry,
  mocksTest,
  moduleProgram,
  projectFile,
  typescriptProgram,
} from "./programs.ts";

const node22 = "22.23.3";
const oldestNode22 = "22.19.0";
/** As peerDependencies has it. */
const oldestSdk = "3.249.0";
const node24 = "24.21.0";
const node26 = "26.10.0";
const compilerReleases = { "5.9": "5.9.3", "6.0": "6.0.3" } as const;
const compiler = { typescript: compilerReleases["6.0"], "@types/node": "22.19.1" };

const whole = ["preview", "up", "drift check", "destroy"] as const;
const commonJs = { main: "index.js" };
const modules = { type: "module", main: "index.js" };
const typescriptModules = { type: "module", main: "index.ts" };
const noTypescript = "  options: { typescript: false }\n";

const plainModules = { package: modules, files: { ...projectFile(), ...moduleProgram }, steps: whole } as const;
const plainCommonJs = { package: commonJs, files: { ...projectFile(), ...commonJsProgram }, steps: whole } as const;
/** As `pulumi new typescript` makes it. */
const typescriptCommonJs = {
  package: { main: "index.ts" },
  files: { ...projectFile(), ...typescriptProgram, ...tsconfig("nodenext", "nodenext") },
  steps: whole,
} as const;
const strippedTypes = {
  package: typescriptModules,
  files: { ...projectFile(noTypescript), ...typescriptProgram },
  steps: whole,
} as const;
const local = { manager: "npm", node: node24, engine: "local" } as const;
const pulumi = { ...local, engine: "pulumi" } as const;

const compilerVersions = ["5.9", "6.0"] as const;

/** Two compilers side by side. */
const compilers = {
  "@types/node": compiler["@types/node"],
  "@pulumi/policy": "1.21.0",
  "typescript-5.9": `npm:typescript@${compilerReleases["5.9"]}`,
  "typescript-6.0": `npm:typescript@${compilerReleases["6.0"]}`,
} as const;

/** Every kind of project into which the product is installed. */
export const consumers: readonly Consumer[] = [
  {
    name: "JavaScript, CommonJS",
    ...local,
    ...plainCommonJs,
    files: { ...plainCommonJs.files, ...mocksTest("commonjs") },
    steps: ["unit tests", ...whole],
  },
  {
    name: "JavaScript, ES modules",
    ...local,
    ...plainModules,
    files: { ...plainModules.files, ...mocksTest("module") },
    steps: ["unit tests", ...whole],
  },
  { name: "TypeScript 6.0, CommonJS", ...local, ...typescriptCommonJs, devDependencies: compiler },
  {
    name: "TypeScript 5.9, CommonJS",
    ...local,
    ...typescriptCommonJs,
    devDependencies: { ...compiler, typescript: compilerReleases["5.9"] },
  },
  {
    name: "TypeScript, ES modules, ts-node of its own",
    ...local,
    ...typescriptCommonJs,
    package: typescriptModules,
    devDependencies: { ...compiler, "ts-node": "10.9.2" },
  },
  { name: "TypeScript, ES modules, no compiler", ...local, ...strippedTypes },

  { name: "pnpm, nothing hoisted, JavaScript", ...local, manager: "pnpm", ...plainModules },
  {
    name: "pnpm, nothing hoisted, TypeScript",
    ...local,
    manager: "pnpm",
    ...typescriptCommonJs,
    devDependencies: compiler,
  },
  { name: "Yarn 1", ...local, manager: "yarn 1", ...plainModules },
  { name: "Yarn 4, node_modules", ...local, manager: "yarn 4", ...plainModules },
  { name: "Yarn 4, Plug'n'Play", ...local, manager: "yarn 4, Plug'n'Play", ...plainModules },
  { name: "npm workspace below the root", ...local, workspace: "packages/rules", ...plainModules },

  { name: "Node 22.19", ...local, node: oldestNode22, ...plainModules },
  { name: "Node 22, TypeScript without a compiler", ...local, node: node22, ...strippedTypes },
  { name: "Node 26", ...local, node: node26, ...plainModules },
  { name: "the oldest Pulumi SDK that is allowed", ...local, sdk: oldestSdk, ...plainModules },

  { name: "Pulumi CLI, JavaScript, CommonJS", ...pulumi, ...plainCommonJs },
  { name: "Pulumi CLI, Yarn 4, Plug'n'Play", ...pulumi, manager: "yarn 4, Plug'n'Play", ...plainModules },
  { name: "Pulumi CLI, TypeScript, CommonJS", ...pulumi, ...typescriptCommonJs, devDependencies: compiler },
  { name: "Pulumi CLI, pnpm, TypeScript without a compiler", ...pulumi, manager: "pnpm", ...strippedTypes },
  {
    name: "Pulumi CLI, Node 22.19, npm workspace",
    ...pulumi,
    node: oldestNode22,
    workspace: "packages/rules",
    ...plainModules,
  },
  {
    name: "Pulumi CLI, Automation API with an inline program",
    ...pulumi,
    package: modules,
    files: automationProgram,
    steps: ["automation"],
  },
  {
    name: "Pulumi CLI, Node 20",
    ...pulumi,
    node: "20.20.2",
    ...plainModules,
    steps: ["refusal"],
    refusal: /the program runs under Node 20\.20\.2, and needs Node 22\.19 or newer\. What to do: .*/,
  },
  {
    name: "local engine, Node 20",
    ...local,
    node: "20.20.2",
    ...plainModules,
    steps: ["refusal"],
    refusal: /needs Node 22\.19 or newer; this is Node 20\.20\.2/,
  },

  typeChecked("types, CommonJS", {}, [
    { module: "commonjs", moduleResolution: "node10" },
    { module: "nodenext", moduleResolution: "nodenext" },
    { module: "node16", moduleResolution: "node16", error: "TS1479" },
  ]),
  typeChecked("types, ES modules", { type: "module" }, [
    { module: "node16", moduleResolution: "node16" },
    { module: "nodenext", moduleResolution: "nodenext" },
    { module: "esnext", moduleResolution: "bundler" },
  ]),
];

/** The one that `npm test` runs, by the Node that runs it. */
export const quickest: Consumer = {
  name: "npm, JavaScript, ES modules, the oldest Pulumi SDK that is allowed",
  ...local,
  node: "own",
  sdk: oldestSdk,
  ...plainModules,
  steps: ["preview", "up", "destroy"],
};

/** The one that `npm run test:all` runs. */
export const strictest: Consumer = {
  name: "pnpm, nothing hoisted, TypeScript, types under 5.9 and 6.0, the oldest Node that is allowed",
  ...local,
  node: oldestNode22,
  manager: "pnpm",
  ...typescriptCommonJs,
  devDependencies: { ...compilers, typescript: compiler.typescript },
  steps: ["types", "preview", "up"],
  typeChecks: compilerVersions.map((version) => ({ compiler: `typescript-${version}`, project: "tsconfig.json" })),
};

interface Resolution {
  readonly module: string;
  readonly moduleResolution: string;
  readonly error?: string;
}

/** A program that each compiler checks under each way of resolving modules. */
function typeChecked(name: string, packageFields: object, resolutions: readonly Resolution[]): Consumer {
  const calls = resolutions.flatMap((resolution) =>
    compilerVersions.map((version) => {
      const file = `tsconfig.${resolution.moduleResolution}.${version}.json`;
      return { version, file, ...resolution };
    }),
  );
  const configurations = calls.map(({ file, version, module, moduleResolution }) =>
    tsconfig(module, moduleResolution, file, ignored(moduleResolution, version)),
  );
  const typeChecks = calls.map(
    ({ version, file, error }): TypeCheck => defined({ compiler: `typescript-${version}`, project: file, error }),
  );
  return {
    name,
    ...local,
    package: { main: "index.ts", ...packageFields },
    devDependencies: compilers,
    files: Object.assign({}, typescriptProgram, everyEntry, ...configurations),
    steps: ["types"],
    typeChecks,
  };
}

/** TypeScript 6.0 calls node10 deprecated, and goes on when it is told so. */
function ignored(moduleResolution: string, version: string): object {
  return moduleResolution === "node10" && version === "6.0" ? { ignoreDeprecations: "6.0" } : {};
}

function tsconfig(module: string, moduleResolution: string, file = "tsconfig.json", more: object = {}): Files {
  const compilerOptions = { strict: true, target: "es2022", module, moduleResolution, types: ["node"], ...more };
  return { [file]: JSON.stringify({ compilerOptions, include: ["*.ts"] }, undefined, 2) };
}
