import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseDocument } from "yaml";
import { z } from "zod";
import { describeIssues, EngineError, messageOf } from "../errors.ts";
import type { Crypter } from "../state/crypter.ts";
import { readIfThere, writeAtomically } from "../state/files.ts";
import { unsupported } from "../unsupported.ts";
import { mapValues } from "../values/value.ts";
import { parseYaml } from "../yaml-file.ts";
import type { Project } from "./project.ts";

/** A Pulumi.<stack>.yaml as it was read; nothing is decrypted yet. */
export interface StackFile {
  readonly file: string;
  readonly text: string | undefined;
  readonly encryptionSalt: string | undefined;
  /** True where each secret has a placeholder's value, and no key is needed. */
  readonly withoutSecrets: boolean;
  readonly config: { readonly [key: string]: unknown };
}

/** One value as programs and providers get it: a string, JSON for anything with parts. */
export interface ConfigValue {
  readonly text: string;
  readonly secret: boolean;
  /** The text as people may see it. */
  readonly shown: string;
  /** As the stack file or Pulumi.yaml has it: a secret is encrypted. */
  readonly stored: unknown;
}

/** All configuration of a stack, by full key `<namespace>:<name>`, keys in order. */
export type Config = ReadonlyMap<string, ConfigValue>;

/** Returns the values of a configuration as strings by key, secrets plain. */
export function textsOf(config: Config): { [key: string]: string } {
  return Object.fromEntries([...config].map(([key, { text }]) => [key, text]));
}

export function secretKeysOf(config: Config): string[] {
  return [...config].filter(([, { secret }]) => secret).map(([key]) => key);
}

const stackSchema = z.looseObject({
  secretsprovider: z.string().optional(),
  encryptedkey: z.string().optional(),
  encryptionsalt: z.string().optional(),
  config: z.record(z.string(), z.unknown()).nullish(),
  environment: z.unknown().optional(),
});

/**
 * Reads the file of a stack.
 * @param withoutSecrets gives each secret the value of a placeholder, whatever encrypts it
 * @throws EngineError: it is no stack file, or has secrets that the local engine cannot decrypt
 */
export async function readStackFile(project: Project, stack: string, withoutSecrets = false): Promise<StackFile> {
  const file = stackFileOf(project, stack);
  const text = await readIfThere(file);
  if (text === undefined) return { file, text, encryptionSalt: undefined, withoutSecrets, config: {} };
  const { secretsprovider, encryptedkey, encryptionsalt, config, environment } = parsed(text, file);
  if (environment !== undefined && environment !== null)
    throw unsupported("environment", `a Pulumi ESC environment (${file})`);
  if (withoutSecrets) return { file, text, encryptionSalt: undefined, withoutSecrets, config: config ?? {} };
  if ((secretsprovider ?? "passphrase") !== "passphrase" && secretsprovider !== "")
    throw unsupported("secrets provider", `the secrets provider "${secretsprovider}" (${file})`);
  if (encryptedkey !== undefined && encryptedkey !== "")
    throw unsupported("secrets provider", `a secrets provider with an encrypted key (${file})`);
  const encryptionSalt = encryptionsalt === "" ? undefined : encryptionsalt;
  return { file, text, encryptionSalt, withoutSecrets, config: config ?? {} };
}

function parsed(text: string, file: string): z.output<typeof stackSchema> {
  const result = stackSchema.safeParse(parseYaml(text, file) ?? {});
  if (result.success) return result.data;
  throw new EngineError("PROJECT_INVALID", `${file} is not a stack file: ${describeIssues(result.error)}`);
}

/**
 * Reads a value of a stack's config that is no secret, as it is written: of its stack file, else of Pulumi.yaml. It needs
 * no engine, no state and no key, and takes the stack files of every secrets provider.
 * @param stack its name. Default: Pulumi.yaml alone
 * @returns undefined where neither has the key
 */
export async function plainSetting(project: Project, stack: string | undefined, key: string): Promise<unknown> {
  const file = stack === undefined ? undefined : stackFileOf(project, stack);
  const text = file === undefined ? undefined : await readIfThere(file);
  const config = text === undefined || file === undefined ? undefined : parsed(text, file).config;
  return new Map(Object.entries(config ?? {})).get(key) ?? project.config.get(key)?.value;
}

function stackFileOf(project: Project, stack: string): string {
  const yaml = join(project.stackConfigFolder, `Pulumi.${stack}.yaml`);
  const json = join(project.stackConfigFolder, `Pulumi.${stack}.json`);
  return !existsSync(yaml) && existsSync(json) ? json : yaml;
}

/** Adds the salt of a new stack to its file, leaving everything else in it as it is. */
export function writeEncryptionSalt(stack: StackFile, salt: string): void {
  const document = parseDocument(stack.text ?? "");
  if (document.contents === null) {
    const kept = stack.text?.trim() ?? "";
    mkdirSync(dirname(stack.file), { recursive: true });
    writeAtomically(stack.file, `${kept === "" ? "" : `${kept}\n`}encryptionsalt: ${salt}\n`);
    return;
  }
  document.set("encryptionsalt", salt);
  writeAtomically(stack.file, document.toString({ lineWidth: 0 }));
}

/**
 * Returns the stack's configuration as the CLI applies it: the stack's own values, then what Pulumi.yaml gives for keys that
 * the stack does not set. Fails on a required key that has no value, and on a value of another type than declared.
 */
export function applyConfig(
  project: Project,
  stack: StackFile,
  stackName: string,
  crypter: Crypter | undefined,
): Config {
  const config = new Map<string, ConfigValue>();
  for (const [name, raw] of Object.entries(stack.config)) {
    const key = fullKey(name, project.name);
    let secret = false;
    const shown = withoutSecrets(raw, () => {
      secret = true;
      return "[secret]";
    });
    const value = withoutSecrets(raw, (encrypted) =>
      stack.withoutSecrets ? "placeholder" : open(encrypted, key, stack.file, crypter),
    );
    checkType(project, key, value, secret, stackName);
    config.set(key, { text: configText(value), secret, shown: configText(shown), stored: raw });
  }
  const missing: string[] = [];
  for (const [key, { value }] of project.config) {
    if (config.has(key)) continue;
    if (value === undefined) missing.push(key);
    else config.set(key, { text: configText(value), secret: false, shown: configText(value), stored: value });
  }
  if (missing.length > 0) {
    throw new EngineError(
      "PROJECT_INVALID",
      `stack ${stackName} is missing configuration that the project requires: ${missing.join(", ")}. Add it under config: in ${stack.file}`,
    );
  }
  return new Map([...config].sort(byKey));
}

/** Returns the key with its namespace: `<ns>:<name>`, also of `<ns>:config:<name>`, the form of long ago. */
function fullKey(name: string, project: string): string {
  const [first = "", second, third] = name.split(":");
  if (third !== undefined && second === "config") return `${first}:${third}`;
  return second === undefined ? `${project}:${first}` : name;
}

const secretSchema = z.strictObject({ secure: z.string() });

/** Returns a value with each secret in it replaced, given its encrypted text. */
function withoutSecrets(value: unknown, replace: (encrypted: string) => string): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => withoutSecrets(element, replace));
  const { data } = secretSchema.safeParse(value);
  return data === undefined
    ? mapValues({ ...value }, (element: unknown) => withoutSecrets(element, replace))
    : replace(data.secure);
}

function open(encrypted: string, key: string, file: string, crypter: Crypter | undefined): string {
  if (crypter === undefined)
    throw new EngineError(
      "PASSPHRASE",
      `${file} holds the secret ${key}, but no encryptionsalt: the secret cannot be decrypted`,
    );
  try {
    return crypter.decrypt(encrypted);
  } catch (error) {
    throw new EngineError("PASSPHRASE", `${file}: the secret ${key} cannot be decrypted: ${messageOf(error)}`);
  }
}

/** Writes a string as it is, everything else as JSON. Keys in order and `<>&` escaped: the CLI stores this very text in state. */
function configText(value: unknown): string {
  if (typeof value === "string") return value;
  const text = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(byKey))
      : part,
  );
  return text.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function checkType(project: Project, key: string, value: unknown, secret: boolean, stackName: string): void {
  const declared = project.config.get(key);
  if (declared?.secret === true && !secret) {
    throw new EngineError(
      "PROJECT_INVALID",
      `stack ${stackName}: configuration ${key} is declared as a secret, and must be encrypted`,
    );
  }
  const { type } = declared ?? {};
  const fits =
    type === undefined ||
    (type === "string" && (typeof value !== "object" || value === null)) ||
    (type === "integer" && /^-?\d+$/.test(String(value))) ||
    (type === "number" && !Number.isNaN(Number(value))) ||
    (type === "boolean" && /^(true|false)$/.test(String(value))) ||
    (type === "array" && Array.isArray(value)) ||
    (type === "object" && typeof value === "object" && value !== null && !Array.isArray(value));
  if (!fits)
    throw new EngineError("PROJECT_INVALID", `stack ${stackName}: configuration ${key} must be of type ${type}`);
}
