import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { LocalService, ServedRequest } from "pulumi-merchant-rules-local/service";
import { UsageError } from "../contract-tools/usage-error.ts";
import { variableName } from "../provider/settings/setting-names.ts";
import { liveRow } from "../report/page/rule-row.ts";
import { livePage } from "../report/page/rules-page.ts";
import { type Contract, isPreset, loadContract, loadPreset } from "../sdk/contract/index.ts";
import { expand, presentsClient } from "../sdk/contract/template.ts";
import { defined } from "../sdk/json/index.ts";
import { printable } from "../sdk/json/printable.ts";
import { shellWord } from "../stack/shell-word.ts";
import { exiting } from "./exit-code.ts";
import { localPackage } from "./local-package.ts";

interface ServeOptions {
  readonly contract?: string;
  readonly port: number;
  readonly data?: string;
  readonly param?: Readonly<Record<string, string>>;
  readonly allowDuplicates: boolean;
  readonly verbose: boolean;
}

/** Defines `merchant-rules serve`: runs the local rules service until SIGINT or SIGTERM. */
export function serveCommand(command: Command): void {
  command
    .option(
      "--contract <file>",
      `a contract's file, or a preset's name, such as seed or wiremock; \`merchant-rules help services\` lists them (default: ${ownContract} in this folder, else illustrative)`,
    )
    .option("--port <number>", "0 to 65535; 0 takes any free port", portOf, 4010)
    .option("--data <file>", "keep the rules in this SQLite file (default: in memory, gone when the service stops)")
    .option(
      "--param <name=value>",
      "a value that the contract's parameter must have; repeatable (default: any value)",
      addParameter,
      {},
    )
    .option("--allow-duplicates", "let two rules have one natural key, which is otherwise refused with 409", false)
    .option("--verbose", "print a line for every request", false)
    .addHelpText("after", help)
    .action(exiting(serve));
}

const help = `
Exit codes: 0 stopped; 1 it cannot serve (contract, port or data file); 2 called wrongly.

Example, with the rules kept in a file:
  npx --no-install merchant-rules serve --port 4010 --data rules.sqlite`;

const ownContract = "merchant-rules.contract.yaml";

interface Served {
  readonly contract: Contract;
  /** The contract in words. */
  readonly name: string;
  /** The contract as the setting that a client needs. */
  readonly setting: string;
  readonly options: ServeOptions;
}

function contractOf(given: string | undefined): Omit<Served, "options"> {
  const named = given ?? (existsSync(ownContract) ? ownContract : "illustrative");
  if (isPreset(named)) return { contract: loadPreset(named), name: `${named} contract`, setting: named };
  return { contract: loadContract(named), name: `contract ${named}`, setting: resolve(named) };
}

async function serve(options: ServeOptions): Promise<number> {
  const served = { ...contractOf(options.contract), options };
  const { contract } = served;
  const unknown = Object.keys(options.param ?? {}).find((parameter) => !Object.hasOwn(contract.parameters, parameter));
  if (unknown !== undefined) {
    const declared = Object.keys(contract.parameters).join(", ") || "none";
    throw new UsageError(`the contract declares no parameter ${unknown}; it declares: ${declared}`);
  }
  const { eventsPath, localCredentials, startLocalService } = await localPackage("service");
  const page = livePage(`Local rules service, ${served.name}`, eventsPath);
  const { port, allowDuplicates, data: dataFile, param: parameters = {} } = options;
  const service = await startLocalService({
    ...{ contract, port, parameters, allowDuplicates },
    ...defined({ dataFile, onRequest: options.verbose ? printRequest : undefined }),
    page: { ...page, row: (rule) => ({ ...liveRow(rule, contract) }) },
  });
  const stopped = stopSignal();
  for (const line of announcement(served, service, localCredentials)) console.log(line);
  await stopped;
  await service.close();
  return 0;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}

function announcement(
  served: Served,
  { url, faultsUrl, pageUrl }: Pick<LocalService, "url" | "faultsUrl" | "pageUrl">,
  credentials: Credentials,
): string[] {
  const { contract, name, setting, options } = served;
  const values = parameterValues(contract, options.param ?? {});
  const variables: [string, string][] = [
    ["BASE_URL", url],
    ["CONTRACT", setting],
    ...credentialVariables(contract, credentials),
    ...Object.entries(values).map(([parameter, value]): [string, string] => [
      `PARAM_${variableName(parameter)}`,
      value,
    ]),
  ];
  return [
    `Local rules service (${name}), rules in ${options.data === undefined ? "memory" : resolve(options.data)}`,
    `  ${url}`,
    "To use it:",
    ...variables.map(([variable, value]) => `  export MERCHANT_RULES_${variable}=${shellWord(value)}`),
    `Try: ${exampleRequest(contract, url, values, credentials)}`,
    ...(pageUrl === undefined ? [] : [`Rules and requests as they come: ${pageUrl}`]),
    `Faults on demand: curl -X PUT -H 'Content-Type: application/json' -d '{"kind":"status","status":503}' ${faultsUrl}`,
    "Stop with Ctrl-C.",
  ];
}

type Credentials = { readonly clientId: string; readonly clientSecret: string; readonly token: string };

function credentialVariables({ auth }: Contract, { clientId, clientSecret, token }: Credentials): [string, string][] {
  if (auth.present === null) return [];
  // A token operation with an address of its own is not here, and the real one must not see these credentials.
  if (!presentsClient(auth) && (auth.token === null || auth.token.baseUrl !== null)) return [["TOKEN", token]];
  return [
    ["CLIENT_ID", clientId],
    ["CLIENT_SECRET", clientSecret],
  ];
}

/** Returns a curl command that lists the rules; where the contract has no list, one that reads a rule. */
function exampleRequest(
  { operations, auth }: Contract,
  url: string,
  values: Readonly<Record<string, string>>,
  { clientId, clientSecret, token }: Credentials,
): string {
  const { get, list } = operations;
  const operation = list?.method === "POST" ? (get ?? list) : (list ?? get);
  if (operation === null) return "";
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  const path = expand(operation.path, { ...values, ruleId: "RULE_ID" }, encodeURIComponent);
  const query = new URLSearchParams(
    Object.entries(operation.query).map(([name, text]): [string, string] => [name, expand(text, values)]),
  );
  const headers = Object.entries(operation.headers).map(([name, text]) => `${name}: ${expand(text, values)}`);
  if (auth.present !== null)
    headers.push(`${auth.present.name}: ${expand(auth.present.format, { ...values, token, basic })}`);
  return [
    "curl",
    ...(operation.method === "POST" ? ["--json", "'{}'"] : []),
    ...headers.flatMap((header) => ["-H", shellWord(header)]),
    shellWord(`${url}${path}${query.size === 0 ? "" : `?${query}`}`),
  ].join(" ");
}

/** Returns a value for each parameter: the fixed one, else the contract's default, else "local", as any value will do. */
function parameterValues({ parameters }: Contract, fixed: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, parameter]) => [name, fixed[name] ?? parameter.default ?? "local"]),
  );
}

function printRequest({ operation, method, path, query, status, replayed, fault }: ServedRequest): void {
  const search = new URLSearchParams(query).toString();
  const remarks = [operation, ...(replayed === true ? ["replayed"] : []), ...(fault ? [`fault: ${fault}`] : [])];
  console.log(
    printable(
      `${new Date().toISOString()} ${status === 0 ? "---" : status} ${method} ${path}${search === "" ? "" : `?${search}`} (${remarks.join(", ")})`,
    ),
  );
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError("A port is a whole number from 0 to 65535.");
}

function addParameter(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError("Write it as name=value.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
