import { type ConnectionSettings, connectionSettings } from "../../provider/settings/connection-settings.ts";
import { projectFolderAbove } from "../../provider/settings/project-folder.ts";
import type { SettingsSources } from "../../provider/settings/sources.ts";
import type { Checkup } from "../../report/doctor.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { entryPointFault } from "../../stack/project/entry-point.ts";
import { readProject } from "../../stack/project/project.ts";
import type { OnProgress } from "../progress.ts";
import {
  engineOf,
  environmentAlone,
  folderOf,
  readStackSettings,
  readState,
  type Stack,
  type StackOptions,
} from "../stack.ts";
import { lookAtAddress } from "./address.ts";
import { Diagnosis } from "./diagnosis.ts";
import { lookAtPlace } from "./place.ts";
import { lookAtService } from "./service.ts";
import { lookAtContract, lookAtSettings } from "./settings.ts";
import { lookAtVersions } from "./versions.ts";

/**
 * Looks at all that a run needs, and goes on after what is broken as far as that makes sense. Nothing is written.
 * @param step hears how many rules were listed so far
 */
export async function diagnose(
  options: StackOptions & { readonly connection?: string },
  step: OnProgress,
): Promise<readonly Checkup[]> {
  const findings = new Diagnosis();
  const folder = folderOf(options);
  const project = projectFolderAbove(folder);
  const isPulumi = project !== undefined && engineOf(options) === "pulumi";
  await lookAtVersions(project ?? folder, isPulumi, findings);
  if (project === undefined)
    findings.warning(
      "project",
      `there is no Pulumi.yaml in ${folder} or above it, so the environment alone has settings`,
      "run this in the project's folder, or name it with --cwd; `npx --no-install merchant-rules init` makes one",
    );
  else await lookAtProject(project, findings);
  const { sources, stack } = await lookAtStack(options, project, findings);
  lookAtSettings(sources, options.connection, findings);
  const isReadable = lookAtContract(sources, options.connection, findings);
  const settings = isReadable ? settingsIn(sources, options.connection, findings) : undefined;
  if (settings === undefined) return findings.all;
  if (await lookAtAddress(settings.client, findings)) await lookAtService(settings, findings, step);
  else findings.skipped(["token", "list", "get"], "the address does not answer");
  await lookAtPlace(settings.place, stack, findings);
  return findings.all;
}

/** Checks whether there is a program to run. What is wrong with Pulumi.yaml itself is said of the stack. */
async function lookAtProject(folder: string, findings: Diagnosis): Promise<void> {
  findings.ok("project", folder);
  const project = await readProject(folder).catch(() => undefined);
  const fault = project === undefined ? undefined : entryPointFault(project);
  if (fault !== undefined) findings.failed("project", fault.reason, fault.advice);
}

/** Reads the settings of the stack, else of the environment alone; and its state, where there is one that can be read. */
async function lookAtStack(options: StackOptions, project: string | undefined, findings: Diagnosis) {
  let sources = environmentAlone(project ?? folderOf(options));
  let stack: Stack | undefined;
  if (project === undefined && options.stack === undefined) return { sources, stack };
  try {
    const { sources: found, identity } = await readStackSettings(options);
    sources = found;
    if (identity === undefined) return { sources, stack };
    findings.ok(
      "stack",
      `${identity.stack}, kept by ${engineOf(options) === "pulumi" ? "Pulumi" : "the local engine"}`,
    );
    if (identity.isFirst) {
      findings.skipped("state", "there is none yet; the first `up` makes it");
      return { sources, stack };
    }
  } catch (error) {
    findings.error("stack", error);
    return { sources, stack };
  }
  try {
    stack = await readState(options);
    findings.ok("state", `it can be read; resources: ${stack.resources.length}`);
    if (stack.undecrypted.length > 0)
      findings.warning(
        "state",
        `secrets in it cannot be decrypted here: ${stack.undecrypted.join(", ")}`,
        "set PULUMI_CONFIG_PASSPHRASE, or give these settings by the environment",
      );
  } catch (error) {
    findings.error("state", error);
  }
  return { sources, stack };
}

function settingsIn(
  sources: SettingsSources,
  connection: string | undefined,
  findings: Diagnosis,
): ConnectionSettings | undefined {
  try {
    return connectionSettings({ ...sources, checksDefinitions: false }, connection);
  } catch (error) {
    findings.error(isMerchantRulesError(error) && error.code === "CONTRACT_INVALID" ? "contract" : "settings", error);
    return undefined;
  }
}
