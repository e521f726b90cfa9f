import { createRequire } from "node:module";
import { join } from "node:path";
import { packageVersion } from "../../sdk/version.ts";
import { runPulumi } from "../stack.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Checks whether the packages of a project fit one another. @param folder the project's; @param hasCli whether the Pulumi CLI keeps the stack */
export async function lookAtVersions(folder: string, hasCli: boolean, findings: Diagnosis): Promise<void> {
  const own = packageVersion();
  findings.ok("versions", `merchant-rules ${own}, Node ${process.versions.node}`);
  const installed = (name: string): string | undefined => versionIn(folder, name);
  const inProject = installed("pulumi-merchant-rules");
  if (inProject !== undefined && inProject !== own)
    findings.failed(
      "versions",
      `the project has pulumi-merchant-rules ${inProject}, and this command is ${own}`,
      "run the project's own: npx --no-install merchant-rules doctor",
    );
  const local = installed("pulumi-merchant-rules-local");
  if (local !== undefined && local !== own)
    findings.failed(
      "versions",
      `pulumi-merchant-rules-local is ${local}, and pulumi-merchant-rules ${own}`,
      `install both in one version: npm install --save-dev pulumi-merchant-rules-local@${own}`,
    );
  lookAtSdk(installed("@pulumi/pulumi"), findings);
  if (!hasCli) return;
  const { stdout, failure } = await runPulumi(["version"], {}, folder);
  if (failure === undefined) findings.ok("versions", `Pulumi CLI ${stdout.trim()}`);
  else findings.error("versions", failure);
}

function lookAtSdk(version: string | undefined, findings: Diagnosis): void {
  const range = peerRange();
  if (version === undefined)
    findings.warning(
      "versions",
      "@pulumi/pulumi is not installed here",
      "npm install @pulumi/pulumi, in the project's folder",
    );
  else if (fits(version, range)) findings.ok("versions", `@pulumi/pulumi ${version}`);
  else
    findings.failed(
      "versions",
      `@pulumi/pulumi is ${version}, and ${range} is needed`,
      `npm install "@pulumi/pulumi@${range}"`,
    );
}

function versionIn(folder: string, name: string): string | undefined {
  const require = createRequire(join(folder, "package.json"));
  try {
    const described: unknown = require(`${name}/package.json`);
    const { version } = Object(described);
    return typeof version === "string" ? version : undefined;
  } catch {
    // It is not installed, or is of another kind.
    return undefined;
  }
}

function peerRange(): string {
  const described: unknown = createRequire(import.meta.url)("pulumi-merchant-rules/package.json");
  return String(Object(Object(described).peerDependencies)["@pulumi/pulumi"]);
}

/** Decides whether a version is in a range such as `>=3.249.0 <4`. */
function fits(version: string, range: string): boolean {
  return range.split(" ").every((bound) => {
    const order = version.localeCompare(bound.replace(/^[<>=]+/, ""), "en", { numeric: true });
    return bound.startsWith(">=") ? order >= 0 : bound.startsWith("<") && order < 0;
  });
}
