import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { CommandResult } from "../support/stack/project.ts";
import type { StepName } from "./steps.ts";

const providerName = "terraform-provider-restapi";
const providerFolder = (process.env.PATH ?? "")
  .split(delimiter)
  .find((folder) => existsSync(join(folder, providerName)));

/** True where OpenTofu and its generic provider for REST services (Mastercard/restapi) are on the PATH. */
export const hasOpenTofu =
  providerFolder !== undefined && spawnSync("tofu", ["version"], { stdio: "ignore" }).status === 0;

type TofuStep = Exclude<StepName, "merchant-rules drift">;

const commands: Readonly<Record<TofuStep, readonly string[]>> = {
  create: ["apply", "-auto-approve"],
  preview: ["plan", "-detailed-exitcode"],
  "drift check": ["plan", "-refresh-only", "-detailed-exitcode"],
  "update all": ["apply", "-auto-approve"],
  "update every tenth": ["apply", "-auto-approve"],
  destroy: ["destroy", "-auto-approve"],
};

/** A project of somebody without this package: OpenTofu, with one generic REST object a rule. */
export class OpenTofuProject {
  readonly #folder = mkdtempSync(join(tmpdir(), "tofu-"));
  readonly #environment: Record<string, string | undefined>;
  #running: ChildProcess | undefined;

  constructor(url: string, token: string) {
    const config = join(this.#folder, "tofu.rc");
    writeFileSync(
      config,
      `provider_installation {\n  dev_overrides {\n    "Mastercard/restapi" = "${providerFolder}"\n  }\n  direct {}\n}\n`,
    );
    this.#write("main.tf", program);
    this.#environment = {
      ...process.env,
      TF_CLI_CONFIG_FILE: config,
      TF_VAR_url: url,
      TF_VAR_token: token,
      CHECKPOINT_DISABLE: "1",
    };
  }

  declare(rules: Record<string, JsonObject>): void {
    const blocks = Object.entries(rules).map(([name, rule]) => [name, { ...block, data: JSON.stringify(rule) }]);
    this.#write("rules.tf.json", JSON.stringify({ resource: { restapi_object: Object.fromEntries(blocks) } }));
  }

  run(step: TofuStep): Promise<CommandResult> {
    const words = [...commands[step], "-no-color", "-parallelism=16"];
    return new Promise((resolve) => {
      this.#running = execFile(
        "tofu",
        words,
        { cwd: this.#folder, env: this.#environment, maxBuffer: 256 << 20 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
          resolve({ code, stdout, stderr, output: stdout + stderr });
        },
      );
    });
  }

  state(): string {
    return readFileSync(join(this.#folder, "terraform.tfstate"), "utf8");
  }

  end(): void {
    this.#running?.kill();
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }
}

const program = `terraform {
  required_providers {
    restapi = { source = "Mastercard/restapi" }
  }
}
variable "url" {}
variable "token" { sensitive = true }
provider "restapi" {
  uri                  = var.url
  headers              = { Authorization = "Bearer \${var.token}", "Content-Type" = "application/json" }
  write_returns_object = true
  id_attribute         = "id"
}
`;

// What OpenTofu is fastest with: over a map of all rules (for_each) every step takes twice the time.
const block = {
  path: "/api/v1/merchants/rules",
  destroy_path: "/api/v1/merchants/rules?ruleId={id}",
  ignore_server_additions: true,
};
