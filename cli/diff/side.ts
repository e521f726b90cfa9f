import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../../provider/settings/project-folder.ts";
import { defaultConnection, variableName } from "../../provider/settings/setting-names.ts";
import { type SettingsSources, stacksWithFile } from "../../provider/settings/sources.ts";
import type { Environment } from "../../report/diff/compare.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { GivenCredentials } from "../given-credentials.ts";
import { Invocation } from "../invocation.ts";
import { environmentAlone, folderOf, readSettings, type StackOptions } from "../stack.ts";

/**
 * Finds the environment that a name means: a stack of the project, where it has a stack file, else a connection of the stack
 * that the options choose. `stack:` or `connection:` in front says which.
 * @param given shared by both sides
 * @throws MerchantRulesError SETTINGS_INVALID: it is neither, or both
 */
export async function sideOf(named: string, options: StackOptions, given: GivenCredentials): Promise<Environment> {
  const [, kind, name = named] = /^(stack|connection):(.+)$/s.exec(named) ?? [];
  const attempted = `find environment ${name}`;
  const isStack = kind === "stack" || (kind === undefined && hasStackFile(name, options));
  if (isStack && kind === undefined && isConnection(name, await chosen(options))) {
    throw new MerchantRulesError("SETTINGS_INVALID", `${name} is a stack of this project, and a connection as well`, {
      attempted,
      advice: `write stack:${name} or connection:${name}`,
    });
  }
  if (isStack) {
    return await reached(name, new Invocation({ ...options, stack: name }, true, given), defaultConnection);
  }
  const noFile = `there is no stack file Pulumi.${name}.yaml in the project's folder`;
  const stacks = stacksWithFile(folderOf(options));
  const there = stacks.length === 0 ? "" : ` (stacks with a file: ${stacks.join(", ")})`;
  const invocation = new Invocation(options, true, given);
  const sources = await invocation.settings().catch((cause: Error) => {
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
  return await reached(name, invocation, name);
}

async function reached(name: string, invocation: Invocation, connection: string): Promise<Environment> {
  const session = await invocation.session();
  const { client, place } = session.settings(connection);
  const { parameters, credentials, clientCertificate } = client;
  const identity = JSON.stringify([place.address, parameters, credentials, clientCertificate]);
  return { name, place: session.place(connection), prove: () => invocation.proven(connection), identity };
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
