import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadRules } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { run } from "../../cli/command.ts";
import { newFolder } from "../../support/folder.ts";
import { contractFileOf } from "../../support/stack/service.ts";

/** `merchant-rules export`. Gives its exit code, what it said, and the rules that it wrote, by name. */
export async function exported(url: string, token: string, contract: ContractInput) {
  const folder = newFolder({ "Pulumi.yaml": "name: existing\nruntime: nodejs\n" });
  const ran = await run(["export", "--cwd", folder, "--out", folder, "--engine", "local", "--stack", "dev"], {
    MERCHANT_RULES_BASE_URL: url,
    MERCHANT_RULES_CONTRACT: contractFileOf(contract),
    MERCHANT_RULES_TOKEN: token,
    PULUMI_BACKEND_URL: `file://${folder}`,
  });
  return { ...ran, rules: existsSync(join(folder, "rules")) ? loadRules(join(folder, "rules")) : {} };
}
