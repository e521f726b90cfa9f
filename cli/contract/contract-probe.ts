import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { draftContract } from "../../contract-tools/draft.ts";
import { gaps as allGaps } from "../../contract-tools/gaps.ts";
import { contractFacts } from "../../contract-tools/probe/contract-facts.ts";
import { type Given, planOf, type Told } from "../../contract-tools/probe/known.ts";
import { planLines } from "../../contract-tools/probe/plan-lines.ts";
import { type Probed, probe } from "../../contract-tools/probe/probe.ts";
import { UsageError } from "../../contract-tools/usage-error.ts";
import { readWritten } from "../../contract-tools/written.ts";
import { connectionOf, connectionSettings } from "../../provider/settings/connection-settings.ts";
import { contractSource } from "../../provider/settings/contract-source.ts";
import type { SettingsSources } from "../../provider/settings/sources.ts";
import { type IdentifyBy, isPreset, presetFile } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { readTextFile, YamlDocument } from "../../sdk/files/yaml-document.ts";
import { isJsonObject, isPointer, type JsonObject, type Pointer } from "../../sdk/json/index.ts";
import { findNotJson, reasonOf } from "../../sdk/json/json.ts";
import { printable } from "../../sdk/json/printable.ts";
import { ask } from "../confirm.ts";
import { exiting } from "../exit-code.ts";
import { interruptible } from "../interrupt.ts";
import { readSettings, type StackOptions, withStackOptions } from "../stack.ts";

interface ProbeCommandOptions extends StackOptions {
  readonly definition: string;
  readonly contract?: string;
  readonly connection?: string;
  readonly create?: Given;
  readonly get?: Given;
  readonly list?: Given;
  readonly update?: readonly Given[];
  readonly delete?: readonly Given[];
  readonly deleteBy?: readonly IdentifyBy[];
  readonly nameAt?: Pointer;
  readonly markAt?: Pointer;
  readonly wait: number;
  readonly allowExisting?: boolean;
  readonly mayEmpty?: string;
  readonly leftover?: readonly string[];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly verbose?: boolean;
  readonly output?: string;
  readonly force?: boolean;
}

/** Defines `merchant-rules contract probe`: measures on a sandbox what its contract must say. */
export function contractProbeCommand(command: Command): void {
  command
    .description("Find out on a sandbox how a service speaks: make rules of a definition, look, and delete them again")
    .requiredOption("--definition <file>", "a definition that the service takes, as YAML or JSON; rules are made of it")
    .option(
      "--contract <file>",
      "what is known so far: a file or a preset (default: the setting, else the specification)",
    )
    .option("--connection <name>", "the connection to probe (default: the default one)")
    .option("--create <request>", 'in place of the contract\'s: "POST /path"', asRequest(["POST", "PUT"]))
    .option("--get <request>", '"GET /path/{ruleId}"', asRequest(["GET"]))
    .option("--list <request>", '"GET /path"', asRequest(["GET", "POST"]))
    .option(
      "--update <request>",
      '"PUT /path/{ruleId}"; may be given several times: the first that works is taken',
      andRequest(["PUT", "PATCH", "POST"]),
    )
    .option(
      "--delete <request>",
      '"DELETE /path/{ruleId}", tried beside the contract\'s; may be given several times',
      andRequest(["DELETE", "POST"]),
    )
    .option(
      "--delete-by <place>",
      "how a delete may name the rule: query:id, body:id or header:Name; may be given several times",
      andPlace,
    )
    .option("--name-at <pointer>", "where a definition has its name (default: rule.naturalKey, else /name)", asPointer)
    .option(
      "--mark-at <pointer>",
      "where a mark of its owner is tried (default: rule.owner, else /metadata/managedBy)",
      asPointer,
    )
    .option("--wait <seconds>", "how long the service may take to show what was written", asSeconds, 3)
    .option("--allow-existing", "probe also where rules are; they are counted and compared before and after each try")
    .option("--may-empty <base URL>", "every rule at this address may go; it must be the address that is probed")
    .option(
      "--leftover <id>",
      "a rule that an earlier probe of this definition left there: it counts as its own, and is deleted at the end; may be given several times",
      (id: string, before: readonly string[] = []) => [...before, id],
    )
    .option("--dry-run", "print every request that it would make, and send none")
    .option("-y, --yes", "begin without a question; needed where there is no terminal")
    .option("--verbose", "print each request with its status")
    .option("--output <file>", "write the contract to a file (default: standard output)")
    .option("--force", "write over a file that exists");
  withStackOptions(command)
    .addHelpText(
      "after",
      `
Probe a sandbox, never a service with rules that count. It changes and deletes only rules that it made. Before and after
each try it counts and compares all others, and it stops where anything else changed. Without a list by which that can be
seen, say --may-empty. A delete whose path does not name the rule is tried last, and only where nothing else is there.
Paths and methods come from the contract and from options; it makes up none.

Exit codes: 0 done, and all that it made is deleted; 1 it stopped, or something is left (and what); 2 called wrongly
Example: npx --no-install merchant-rules contract probe --definition rules/limit.yaml --list "GET /api/v1/merchants/rules" --dry-run`,
    )
    .action(exiting(runProbe));
}

async function runProbe(options: ProbeCommandOptions): Promise<number> {
  const { definition, output: out, force = false, dryRun = false } = options;
  const sources = withContract(await readSettings(options), options.contract);
  const settings = connectionSettings(sources, options.connection);
  const { address } = settings.place;
  const mayEmpty = options.mayEmpty?.replace(/\/+$/, "");
  if (mayEmpty !== undefined && mayEmpty !== address)
    throw new UsageError(
      `--may-empty says ${printable(mayEmpty, 200)}, and the address that is probed is ${address}; nothing was sent. What to do: type the address whose rules may go`,
    );
  if (out !== undefined && existsSync(out) && !force && !dryRun)
    throw new UsageError(
      `${printable(out, 200)} exists already; nothing was sent. What to do: give another file with --output, or --force`,
    );
  const connection = dryRun
    ? { ...settings.client, credentials: { kind: "none" as const } }
    : connectionOf(settings.client);
  const { found } = contractSource(sources, options.connection);
  const told: Told = {
    ...options,
    connection,
    file: readWritten("file" in found ? found.file : presetFile(found.preset)),
    definition: readDefinition(definition),
    mayEmpty: mayEmpty !== undefined,
  };
  const plan = planOf(told);
  const words = [`The probe of ${address} sends these requests, and no others:`, ...planLines(told, plan)];
  if (dryRun) {
    console.log([...words, "Nothing was sent."].join("\n"));
    return 0;
  }
  for (const line of words) say(line);
  if (options.yes !== true) {
    if (process.stdin.isTTY !== true)
      throw new UsageError("there is no terminal to ask on; nothing was sent. What to do: say --yes, or --dry-run");
    if (!(await ask("Begin? (yes/no) "))) {
      say("nothing was sent");
      return 1;
    }
  }
  const probed = await interruptible(({ signal }) =>
    probe(told, {
      say,
      signal,
      waitMs: options.wait * 1000,
      ...(options.verbose === true ? { sent: (line: string) => say(`  ${line}`) } : {}),
    }),
  );
  await write(told, probed, address, out);
  return report(probed);
}

/** Writes the contract, where enough was found for one. */
async function write(told: Told, probed: Probed, address: string, out: string | undefined): Promise<void> {
  if (probed.facts.length === 0) return;
  const costs = new Map(allGaps.map(({ field, without }) => [field, ` Without it: ${without}.`]));
  const gaps = probed.gaps.map(({ at, why }) => {
    const field = at.slice(1).replaceAll("/", ".");
    return `  ${field}: ${why}.${costs.get(field) ?? ""}`;
  });
  const title = [
    `Measured by merchant-rules contract probe at ${address} on ${new Date().toISOString().slice(0, 10)}.`,
    ...(probed.stopped === undefined ? [] : [`It stopped before its end: ${probed.stopped.reason}`]),
    ...(gaps.length === 0 ? [] : ["Not found:", ...gaps]),
  ];
  const named = probed.gaps.map(({ at }) => at);
  const { text } = draftContract(contractFacts(told, probed), title, named);
  if (out === undefined) {
    console.log(text.trimEnd());
    return;
  }
  try {
    writeFileSync(out, text);
  } catch (cause) {
    console.log(text.trimEnd());
    throw new MerchantRulesError("SETTINGS_INVALID", reasonOf(cause), {
      attempted: `write ${out}`,
      advice: "give a file that can be written with --output; the contract was printed instead",
      cause,
    });
  }
  say(`the contract was written to ${out}`);
}

/** Says how the probe ended. @returns the exit code */
function report({ stopped, left, leftAdvice, requests }: Probed): number {
  if (stopped !== undefined) {
    const advice = stopped.advice === undefined ? "" : `. What to do: ${stopped.advice}`;
    say(`error: the probe stopped: ${stopped.reason}${advice}`);
  }
  for (const each of left) say(`left at the service: ${each}`);
  if (leftAdvice !== undefined) say(`What to do about what is left: ${leftAdvice}`);
  if (left.length === 0)
    say(`${requests} ${requests === 1 ? "request" : "requests"}; nothing that the probe made is left`);
  return stopped === undefined && left.length === 0 ? 0 : 1;
}

/** Prints progress on standard error: standard output is for the contract. */
function say(line: string): void {
  console.error(printable(line));
}

function withContract(sources: SettingsSources, given: string | undefined): SettingsSources {
  if (given === undefined) return sources;
  const contract = isPreset(given) ? given : resolve(given);
  return { ...sources, config: (key) => (key === "merchant-rules:contract" ? contract : sources.config(key)) };
}

/** Reads the rule in a file of YAML or JSON. @throws MerchantRulesError RULE_INVALID: the file has no JSON object */
function readDefinition(file: string): JsonObject {
  const refuse = (why: string): never => {
    throw new MerchantRulesError("RULE_INVALID", `${file} ${why}`, {
      attempted: "read the definition",
      advice: "give a file with one rule, as the service takes it, in YAML or JSON",
    });
  };
  const read = readTextFile(file);
  if ("fault" in read) return refuse(read.fault.what);
  const parsed = new YamlDocument(read.text).read();
  if ("fault" in parsed) return refuse(`${parsed.fault.what}, in line ${parsed.fault.line}`);
  const { value } = parsed;
  const notJson = findNotJson(value);
  if (notJson !== undefined) return refuse(`holds ${notJson.found}`);
  const { $schema: _, ...definition } = Object(value);
  return isJsonObject(definition) && typeof value === "object" && !Array.isArray(value) && value !== null
    ? definition
    : refuse("holds no object");
}

function asRequest(methods: readonly string[]): (text: string) => Given {
  return (text) => {
    const [, method = "", path = "", query] = /^([A-Z]+) (\/[^\s?#\\]*)(?:\?(\S*))?$/.exec(text.trim()) ?? [];
    if (!methods.includes(method) || path.split("/").some((segment) => segment === "." || segment === ".."))
      throw new InvalidArgumentError(
        `allowed: ${methods.join(" or ")}, a blank, and a path, such as "${methods[0]} /path"`,
      );
    return { method, path, query: Object.fromEntries(new URLSearchParams(query ?? "")) };
  };
}

function andRequest(methods: readonly string[]): (text: string, before?: readonly Given[]) => Given[] {
  return (text, before = []) => [...before, asRequest(methods)(text)];
}

function andPlace(text: string, before: readonly IdentifyBy[] = []): IdentifyBy[] {
  const [, part, name] = /^(query|body|header):(\S+)$/.exec(text) ?? [];
  const place = (["query", "body", "header"] as const).find((each) => each === part);
  if (place === undefined || name === undefined)
    throw new InvalidArgumentError("allowed: query, body or header, a colon, and a name, such as query:ruleId");
  return [...before, { in: place, name }];
}

function asPointer(text: string): Pointer {
  if (text !== "" && isPointer(text)) return text;
  throw new InvalidArgumentError("allowed: a JSON Pointer (RFC 6901), such as /name");
}

function asSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds <= 600) return seconds;
  throw new InvalidArgumentError("allowed: a number of seconds, at most 600");
}
