import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { localCredentials } from "../../local/service/index.ts";
import type { CommandResult } from "../support/stack/project.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const command = join(root, "bin/merchant-rules.js");

/** A copy of an example, as a user has it after `npm install`; it goes away with the test. */
export function copyExample(name: string) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, "examples", name), folder, {
    recursive: true,
    filter: (path) => basename(path) !== "node_modules",
  });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

  /** Runs Node there, with this process's environment but for what the product reads. */
  function node(words: readonly string[], variables: Record<string, string> = {}): Promise<CommandResult> {
    const inherited = Object.entries(process.env).filter(
      ([key]) => !/^(MERCHANT_RULES_|PULUMI_|VITEST|TEST$)/.test(key),
    );
    const env = {
      ...Object.fromEntries(inherited),
      PATH: [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
      PULUMI_BACKEND_URL: pathToFileURL(folder).href,
      PULUMI_HOME: join(folder, "pulumi-home"),
      PULUMI_CONFIG_PASSPHRASE: "try",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      MERCHANT_RULES_CLIENT_ID: localCredentials.clientId,
      MERCHANT_RULES_CLIENT_SECRET: localCredentials.clientSecret,
      NO_COLOR: "1",
      ...variables,
    };
    return new Promise((resolve) => {
      execFile(process.execPath, words, { cwd: folder, env }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, stdout, stderr, output: stdout + stderr });
      });
    });
  }

  return {
    folder,
    node,
    /** Runs `merchant-rules` there. */
    merchantRules: (words: readonly string[], variables?: Record<string, string>) =>
      node([command, ...words], variables),
  };
}
