import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../../stack/project/stack-config.ts";
import type { Backend, StackName } from "../../../stack/state/backend.ts";
import { makeFolderDurably, writeAtomically } from "../../../stack/state/files.ts";
import type { ChangeSummary } from "../deploy/step.ts";

/** One run, as the CLI's `stack history` tells it. */
export interface Update {
  readonly kind: "update" | "refresh" | "destroy" | "resource-import";
  readonly durationMs: number;
  readonly config: Config;
  readonly ok: boolean;
  readonly changes: ChangeSummary & { readonly import?: number };
}

/**
 * Keeps what a run did, the state after it, and a backup of that state, in `history/` and `backups/` as the CLI does.
 * `PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS=true` (or `PULUMI_DISABLE_CHECKPOINT_BACKUPS`) leaves the backup out.
 */
export function keepHistory(
  backend: Backend,
  { project, name }: StackName,
  update: Update,
  env: NodeJS.ProcessEnv,
): void {
  const state = backend.stackFile({ project, name });
  if (!existsSync(state)) return;
  const { kind, durationMs, config, ok, changes } = update;
  const record = {
    kind,
    startTime: Math.floor((Date.now() - durationMs) / 1000),
    message: "",
    environment: { "exec.kind": "merchant-rules.local" },
    // Secrets as the stack file has them, encrypted.
    config: Object.fromEntries([...config].map(([key, { stored }]) => [key, stored])),
    version: 0,
    result: ok ? "succeeded" : "failed",
    endTime: Math.floor(Date.now() / 1000),
    resourceChanges: changes,
  };
  const nanoseconds = `${Date.now()}${String(process.hrtime.bigint() % 1_000_000n).padStart(6, "0")}`;
  const folderOf = (kept: "history" | "backups"): string => {
    const folder = join(backend.root, kept, project, name);
    makeFolderDurably(folder);
    return folder;
  };
  const history = join(folderOf("history"), `${name}-${nanoseconds}`);
  writeAtomically(`${history}.history.json`, JSON.stringify(record));
  copyFileSync(state, `${history}.checkpoint.json`);
  const switches = [env.PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS, env.PULUMI_DISABLE_CHECKPOINT_BACKUPS];
  if (switches.some((value) => /^(1|true)$/i.test(value ?? ""))) return;
  copyFileSync(state, join(folderOf("backups"), `${name}.${nanoseconds}.json`));
}
