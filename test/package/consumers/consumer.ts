import type { EngineName } from "../../support/stack/project.ts";

export type ManagerName = "npm" | "pnpm" | "yarn 1" | "yarn 4" | "yarn 4, Plug'n'Play";

/** The text of each file, by its path from the consumer's folder. */
export type Files = Readonly<Record<string, string>>;

export type StepName =
  | "install"
  | "types"
  | "preview"
  | "up"
  | "drift check"
  | "destroy"
  | "unit tests"
  | "automation"
  | "refusal";

/** One project of a user, in a folder of its own: what is in it, by what it is installed, and what it does. */
export interface Consumer {
  /** Its purpose, in words. Every consumer has another. */
  readonly name: string;
  readonly manager: ManagerName;
  /** The version of Node, or `own`: the one that runs this. */
  readonly node: string;
  /** Who runs the program. The steps of `pulumi` are skipped where the Pulumi CLI is not on the PATH. */
  readonly engine: EngineName;
  /** The rest of its package.json, besides its name, this product and the Pulumi SDK. */
  readonly package: Readonly<Record<string, unknown>>;
  /** Packages for its development, by exact version. */
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** The version of the Pulumi SDK. Default: the one that this repository is developed with. */
  readonly sdk?: string;
  /** The project's folder, where that is a workspace below the root. Default: the root itself. */
  readonly workspace?: string;
  readonly files: Files;
  /** In this order, until one fails. `install` comes first by itself. */
  readonly steps: readonly StepName[];
  /** Compiler calls of the step `types`. */
  readonly typeChecks?: readonly TypeCheck[];
  /** The message of the step `refusal`, which prints nothing of a stack trace. */
  readonly refusal?: RegExp;
}

/** One call of a TypeScript compiler with `skipLibCheck: false`. */
export interface TypeCheck {
  /** The package of the compiler, as the consumer's devDependencies name it. */
  readonly compiler: string;
  /** The tsconfig.json of the call, a file of the consumer. */
  readonly project: string;
  /** The error that must be found, where this way of resolving modules cannot work. */
  readonly error?: string;
}
