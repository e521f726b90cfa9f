import { describe, expect } from "vitest";
import { exitCodeOf, isEngineError, runEngine, TextDisplay, type Verb } from "../../../local/engine/index.ts";
import { knowledgeOfRules } from "../../../provider/hooks/look-up.ts";
import { MerchantRule, MerchantRuleSet } from "../../../provider/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { newCrypter } from "../../../stack/state/crypter.ts";
import { atEnd } from "../ends.ts";
import { startPluginHere } from "./plugin-here.ts";
import { type CommandResult, type EngineName, hasPulumi, TestProject } from "./project.ts";

type RuleArgs = {
  definition: JsonObject | string;
  adopt?: string | true;
  connection?: string;
  onDrift?: "overwrite" | "fail";
};
type SetArgs = {
  rules: Record<string, JsonObject | string>;
  adopt?: true | Record<string, string>;
  connection?: string;
  onDrift?: "overwrite" | "fail";
};
/** The arguments of a program's resources, by their names. */
export type Declared = Record<string, RuleArgs | SetArgs>;

/** Both engines, the real one where it is there. */
export function onBothEngines(tests: (engine: EngineName) => void): void {
  describe("on the local engine", () => tests("local"));
  describe.skipIf(!hasPulumi)("on Pulumi's own engine (needs the Pulumi CLI)", () => tests("pulumi"));
}

export interface StackOptions {
  /** Stack config beside address and contract. */
  readonly config?: JsonObject;
  /** Default: the token of the first merchant. */
  readonly environment?: Record<string, string>;
  /** The program, if it is not the one that {@link Stack.declare} has. A function is for the local engine alone. */
  readonly program?: string | (() => void);
}

/** A new stack of the project `lifecycle`, in a backend of its own, whose runs find their service by these settings. */
export async function makeStack(
  engine: EngineName,
  settings: JsonObject,
  credentials: Record<string, string>,
  { config = {}, environment = credentials, program }: StackOptions = {},
): Promise<Stack> {
  const lines = Object.entries({ ...settings, ...config }).map(
    ([name, value]) => `merchant-rules:${name}: ${JSON.stringify(value)}`,
  );
  const project = new TestProject(environment, lines);
  atEnd(() => project.remove());
  if (typeof program === "string") project.write("index.js", program);
  if (engine === "local") {
    const file = `Pulumi.${project.stack}.yaml`;
    project.write(file, `encryptionsalt: ${await salt()}\n${project.read(file)}`);
  }
  await project.init(engine);
  return new Stack(engine, project, program);
}

let sharedSalt: Promise<string> | undefined;

/** One for all stacks of a process: to derive its key takes half a second. */
function salt(): Promise<string> {
  sharedSalt ??= newCrypter("correct horse").then((crypter) => crypter.salt);
  return sharedSalt;
}

export interface RunChoice {
  /** Variables of this run alone. */
  readonly environment?: Record<string, string>;
  readonly refresh?: boolean;
  readonly previewOnly?: boolean;
  readonly expectNoChanges?: boolean;
  /** Shows what changes in full. */
  readonly diff?: boolean;
  /** `--target`; for the local engine alone. */
  readonly targets?: readonly string[];
  readonly parallel?: number;
}

/**
 * A stack on an engine. The local engine runs in this process, with the real hosts of provider and program; a program
 * that only declares runs here as well.
 */
export class Stack {
  readonly project: TestProject;
  readonly #engine: EngineName;
  readonly #program: StackOptions["program"];
  #declared: Declared = {};

  constructor(engine: EngineName, project: TestProject, program: StackOptions["program"]) {
    this.#engine = engine;
    this.project = project;
    this.#program = program;
  }

  /** Puts rules into the program: arguments of MerchantRule or of a set of rules, by resource name. */
  declare(declared: Declared): void {
    this.#declared = declared;
    this.project.declare(declared);
  }

  async run(verb: Verb, choice: RunChoice = {}): Promise<CommandResult> {
    if (this.#engine === "local") return this.#runHere(verb, choice);
    const { environment = {}, refresh, previewOnly, expectNoChanges, diff, parallel } = choice;
    const flags = [
      ...(refresh === true ? ["--refresh"] : []),
      ...(previewOnly === true ? ["--preview-only"] : []),
      ...(expectNoChanges === true ? ["--expect-no-changes"] : []),
      ...(diff === true ? ["--diff"] : []),
      ...(parallel === undefined ? [] : ["--parallel", String(parallel)]),
    ];
    return this.project.with(environment, () => this.project.run("pulumi", verb, ...flags));
  }

  /** A run that must end well. */
  async succeeds(verb: Verb, choice: RunChoice = {}): Promise<CommandResult> {
    const result = await this.run(verb, choice);
    expect(result.code, result.output).toBe(0);
    return result;
  }

  /** A run that must fail, and say each of these. */
  async fails(verb: Verb, choice: RunChoice, ...says: readonly RegExp[]): Promise<CommandResult> {
    const result = await this.run(verb, choice);
    expect(result.code, result.output).not.toBe(0);
    for (const each of says) expect(result.output).toMatch(each);
    return result;
  }

  /** An `up` of these declarations, that must end well. */
  up(declared: Declared, choice: RunChoice = {}): Promise<CommandResult> {
    this.declare(declared);
    return this.succeeds("up", choice);
  }

  /** An `up` of these declarations, that must fail, and say each of these. */
  upFails(declared: Declared, choice: RunChoice, ...says: readonly RegExp[]): Promise<CommandResult> {
    this.declare(declared);
    return this.fails("up", choice, ...says);
  }

  /** Gives the stack another name, as `pulumi stack rename` does. */
  rename(to: string): Promise<void> {
    return this.project.rename(this.#engine, to);
  }

  /** Nothing is to be done: the state is as the program says. */
  async isUnchanged(choice: RunChoice = {}): Promise<void> {
    await this.succeeds("preview", { ...choice, expectNoChanges: true });
  }

  /** A refresh finds everything as the state has it. */
  async hasNoDrift(): Promise<void> {
    await this.succeeds("refresh", { previewOnly: true, expectNoChanges: true });
  }

  /** The resources of a type that the state has. */
  resources(type: string): StateResource[] {
    const { resources } = JSON.parse(this.project.state()).checkpoint.latest;
    return resources.filter((each: StateResource) => each.type === `pulumi-nodejs:dynamic/merchant-rules:${type}`);
  }

  /** The program's exports, as the state has them. */
  outputs(): JsonObject {
    const { resources } = JSON.parse(this.project.state()).checkpoint.latest;
    return resources.find(({ type }: StateResource) => type === "pulumi:pulumi:Stack")?.outputs ?? {};
  }

  /** The ids of the rules that the state knows, by what follows the last `::` of their resources' URNs. */
  known(): Record<string, string> {
    return Object.fromEntries(this.resources("MerchantRule").map(({ urn, id }) => [urn.split("::").at(-1) ?? "", id]));
  }

  /** The ids of all rules that the state knows. */
  knownIds(): string[] {
    const singles = this.resources("MerchantRule").map(({ outputs }) => String(outputs.ruleId));
    const sets = this.resources("MerchantRuleSet").flatMap(({ outputs }) => Object.values(Object(outputs.ruleIds)));
    return [...singles, ...sets.map(String)];
  }

  async #runHere(verb: Verb, { environment = {}, diff = false, ...choice }: RunChoice): Promise<CommandResult> {
    const lines: string[] = [];
    const display = new TextDisplay({ verb, diff, color: false, print: (line) => lines.push(line) });
    const { folder, stack } = this.project;
    const env = { ...this.project.environment(), ...environment };
    const program = this.#program ?? (() => declareAll(this.#declared));
    const inlineProgram = typeof program === "string" ? undefined : program;
    const { expectNoChanges = false, ...options } = choice;
    const ended = await runEngine({
      ...options,
      verb,
      cwd: folder,
      stack,
      env,
      inlineProgram,
      knowledge: knowledgeOfRules,
      ...(process.env.TEST_HOOKS === "host" ? {} : { startPlugin: startPluginHere }),
      onEvent: (event) => display.onEvent(event),
    }).catch((error: unknown) => {
      if (!isEngineError(error)) throw error;
      return error;
    });
    if (isEngineError(ended)) lines.push(ended.message);
    else display.finish(ended);
    const output = lines.join("\n");
    const code = isEngineError(ended) ? ended.exitCode : exitCodeOf(ended, expectNoChanges);
    return { code, stdout: output, stderr: "", output };
  }
}

/** A resource as the state has it. */
interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id: string;
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
}

function declareAll(declared: Declared): void {
  for (const [name, args] of Object.entries(declared)) {
    if ("rules" in args) new MerchantRuleSet(name, args);
    else new MerchantRule<JsonObject | string>(name, args);
  }
}
