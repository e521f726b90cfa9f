import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Session } from "../../provider/hooks/session.ts";
import { connectionSettings } from "../../provider/settings/connection-settings.ts";
import { projectFolder } from "../../provider/settings/project-folder.ts";
import { defaultConnection, variableName } from "../../provider/settings/setting-names.ts";
import type { SettingsSources } from "../../provider/settings/sources.ts";
import type { Environment } from "../../report/diff/compare.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { environmentAlone, folderOf, readSettings, type StackOptions } from "../stack.ts";

/**
 * Finds the environment that a name means: a stack of the project, where it has a stack file, else a connection of the stack
 * that the options choose. `stack:` or `connection:` in front says which.
 * @throws MerchantRulesError SETTINGS_INVALID: it is neither, or both
 */
export async function sideOf(given: string, options: StackOptions): Promise<Environment> {
  const [, kind, name = given] = /^(stack|connection):(.+)$/s.exec(given) ?? [];
  const attempted = `find environment ${name}`;
  const isStack = kind === "stack" || (kind === undefined && hasStackFile(name, options));
  if (isStack && kind === undefined && isConnection(name, await chosen(options))) {
    throw new MerchantRulesError("SETTINGS_INVALID", `${name} is a stack of this project, and a connection as well`, {
      attempted,
      advice: `write stack:${name} or connection:${name}`,
    });
  }
  if (isStack) {
    const sources = await readSettings({ ...options, stack: name });
    return reached(name, sources, defaultConnection);
  }
  const noFile = `there is no stack file Pulumi.${name}.yaml in the project's folder`;
  const stacks = stacksWithFile(options);
  const there = stacks.length === 0 ? "" : ` (stacks with a file: ${stacks.join(", ")})`;
  const sources = await readSettings(options).catch((cause: Error) => {
    if (kind === "connection" || name === defaultConnection || options.stack !== undefined) throw cause;
    // Where no stack is chosen, a misspelt stack is likelier than a connection of one.
    if (!/no stack (?:named|selected)|there is no stack|several stacks/.test(cause.message)) throw cause;
    throw new MerchantRulesError(
      "SETTINGS_INVALID",
      `${noFile}, and no stack is chosen that could have a connection ${name}`,
      {
        attempted,
        advice: `name a stack that has such a file${there}; or, with --stack, the stack whose connection it is`,
        cause,
      },
    );
  });
  if (name !== defaultConnection && !isConnection(name, sources)) {
    const where = options.stack === undefined ? "the stack" : `stack ${options.stack}`;
    throw new MerchantRulesError("SETTINGS_INVALID", `${noFile}, and ${where} has no connection ${name}`, {
      attempted,
      advice: `name a stack or a connection that exists${there}; a connection is set with \`pulumi config set --path 'merchant-rules:connections.${name}.baseUrl' <address>\`, or ${variableOf(name)}`,
    });
  }
  return reached(name, sources, name);
}

function reached(name: string, sources: SettingsSources, connection: string): Environment {
  const { client, place } = connectionSettings(sources, connection);
  const { parameters, credentials, clientCertificate } = client;
  const identity = JSON.stringify([place.address, parameters, credentials, clientCertificate]);
  return { name, place: new Session(sources).place(connection), identity };
}

/** Reads the settings of the stack that the user chose by name; of no other, as it need not be the one that is meant. */
async function chosen(options: StackOptions): Promise<SettingsSources> {
  if (options.stack !== undefined) return await readSettings(options);
  return environmentAlone(folderOf(options));
}

function hasStackFile(name: string, options: StackOptions): boolean {
  if (/[/\\]/.test(name)) return false;
  const folder = projectFolder(folderOf(options));
  return ["yaml", "yml", "json"].some((ending) => existsSync(join(folder, `Pulumi.${name}.${ending}`)));
}

function stacksWithFile(options: StackOptions): string[] {
  try {
    const names = readdirSync(projectFolder(folderOf(options)));
    return names.flatMap((name) => /^Pulumi\.(.+)\.(?:yaml|yml|json)$/.exec(name)?.[1] ?? []).sort();
  } catch {
    // They are named to help; what is wrong with the folder is said by whoever needs it.
    return [];
  }
}

function isConnection(name: string, { config, environment }: SettingsSources): boolean {
  if (environment[variableOf(name)] !== undefined) return true;
  const connections = config("merchant-rules:connections");
  if (connections === undefined || connections === "") return false;
  try {
    return Object.hasOwn(Object(JSON.parse(connections)), name);
  } catch {
    // That this is no object is said, with its key, when the connection is made.
    return true;
  }
}

function variableOf(name: string): string {
  return `MERCHANT_RULES_${variableName(name)}__BASE_URL`;
}
