import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { styleText } from "node:util";
import { z } from "zod";
import { shellWord } from "../../stack/shell-word.ts";
import { EngineRuns, type Interrupts } from "./processes.ts";
import { type Engine, makeProject, type Packages, settingsOf, writeSettings } from "./project.ts";

interface Scene {
  readonly narrator: Narrator;
  readonly interrupts: Interrupts;
  readonly engine: Engine;
  readonly packages: Packages;
  /** The folder of the program that is copied. */
  readonly program: string;
  /** The quickstart's own folder: everything that is written is in it. */
  readonly folder: string;
  /** The address of the rules service. */
  readonly url: string;
  readonly keep: boolean;
}

const stack = ["--stack", "quickstart"];

/** Tells the story: rules that a program declares appear in a service, drift, heal, and go away. Throws where a step does not go as told. */
export async function tellStory(scene: Scene): Promise<void> {
  const { narrator, interrupts, engine, folder, url } = scene;
  const rules = rulesByHand(url, narrator, interrupts.interrupted);
  const runs = openProject(scene);
  const yes = engine.name === "pulumi" ? ["--yes", "--skip-preview"] : ["--yes"];
  if (engine.name === "pulumi") await runs.run({ code: 0 }, "stack", "init", "quickstart");

  narrator.step("Preview", "What the program would change, with the fields of each rule. Nothing is done yet.");
  const fields = [/name/, /priority/, /conditions/, /actions/];
  const preview = await runs.run({ code: 0, says: fields }, "preview", ...stack, "--diff");
  const toCreate = preview.split("\n").filter((line) => /MerchantRule/.test(line) && /create/.test(line)).length;
  expect(toCreate === 3, `the preview should have 3 rules to create, and has ${toCreate}`);
  narrator.say("So there are 3 rules to create, besides the stack, its owner and its connection.");

  narrator.step("Up", "The rules are created.");
  await runs.run({ code: 0 }, "up", ...stack, ...yes);

  narrator.step("Read them back", "The service itself says what it has.");
  const made = await rules.read();
  expect(made.length === 3, `the service should have 3 rules, and has ${made.length}`);
  const rule = made.find(({ name }) => name === "large-amounts");
  if (rule === undefined) throw new Error("the rule large-amounts is not at the service");

  narrator.step("Preview again", "Nothing has changed, so there is nothing to do.");
  await runs.run({ code: 0 }, "preview", ...stack, "--expect-no-changes");

  narrator.step("Somebody edits a rule at the service", "By hand, past the program: priority 100 becomes 1.");
  await rules.edit({ ...rule, priority: 1 });

  narrator.step("Drift check", "The engine reads every rule, names the path that differs, and fails, as CI needs it.");
  const drifted = { code: engine.name === "pulumi" ? "not 0" : 7, says: [/priority: 100 => 1/] } as const;
  await runs.run(drifted, "refresh", ...stack, "--preview-only", "--expect-no-changes", "--diff");

  narrator.step("Up heals", "The rule becomes again what the program declares.");
  await runs.run({ code: 0 }, "up", ...stack, "--refresh", ...yes);
  const healed = (await rules.read()).find(({ id }) => id === rule.id);
  expect(healed?.priority === 100, "the rule large-amounts should have priority 100 again");

  if (scene.keep) {
    narrator.step("Yours to try", `The service goes on at ${url}, with the three rules in it.`);
    narrator.example(`cd ${shellWord(join(folder, "project"))} && . ../settings.sh`);
    narrator.example(`${runs.line("preview", ...stack, "--diff")}    # after a change in index.ts`);
    narrator.example(runs.line("up", ...stack));
    narrator.example(`${rules.listing}    # what the service has`);
    return;
  }
  narrator.step("Destroy", "The rules go away.");
  await runs.run({ code: 0 }, "destroy", ...stack, ...yes);
  const left = await rules.read();
  expect(left.length === 0, `no rule should be left, and there are ${left.length}`);
}

function openProject({ narrator, interrupts, engine, packages, program, folder, url }: Scene): EngineRuns {
  const project = join(folder, "project");
  const settings = settingsOf(url, folder, engine.name);
  makeProject(program, project, packages);
  mkdirSync(join(folder, "state"));
  writeSettings(join(folder, "settings.sh"), settings);
  narrator.step("The project", "A copy of a small program with three rules; and the settings: where the rules are,");
  narrator.say("as whom, and where the engine keeps its state.");
  narrator.command(`cd ${shellWord(project)}`);
  for (const [name, value] of Object.entries(settings)) narrator.command(`export ${name}=${shellWord(value)}`);
  const { merchantRules } = packages;
  return new EngineRuns({ engine, narrator, interrupts, cwd: project, environment: settings, merchantRules });
}

function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}

/** Says what to do next on one's own service: each line is a command. */
export function sayWhatIsNext(narrator: Narrator): void {
  narrator.step("Next", "The same on your own service. The first three commands print pages of the documentation:");
  for (const [command, why] of commands) narrator.example(`${command.padEnd(width)}  # ${why}`);
}

const commands = [
  ["npx --no-install merchant-rules help getting-started", "from an empty folder to your first rule"],
  ["npx --no-install merchant-rules help contract", "how to say how your service speaks"],
  ["npx --no-install merchant-rules help existing-rules", "rules that exist already, as code"],
  ["export MERCHANT_RULES_BASE_URL=https://rules.example.com", "or merchant-rules:baseUrl in the stack's config"],
  ["export MERCHANT_RULES_TOKEN=...", "from the environment it never gets into the state"],
  ["npx --no-install merchant-rules export --stack dev", "rules that exist already, as code"],
  ["npx --no-install merchant-rules plan --stack dev", "in CI, on a pull request: what would change"],
  ["npx --no-install merchant-rules drift --stack dev", "in CI, every hour: what was changed by hand"],
] as const;

const width = Math.max(...commands.map(([command]) => command.length));

/** Tells the story on the standard output: numbered steps, the commands of each as a user types them, and what they print. */
export class Narrator {
  readonly #interrupted: AbortSignal;
  #step = 0;

  constructor(interrupted: AbortSignal) {
    this.#interrupted = interrupted;
  }

  step(title: string, explained: string): void {
    this.#step++;
    console.log(`\n${styleText("bold", `${this.#step}. ${title}`)}\n   ${explained}`);
  }

  /** Shows a command that is about to be carried out. Throws when the story is interrupted. */
  command(line: string): void {
    this.#interrupted.throwIfAborted();
    this.example(line);
  }

  /** Shows a command that the user may type. */
  example(line: string): void {
    console.log(styleText("cyan", `   $ ${line}`));
  }

  output(line: string): void {
    if (line.trim() !== "") console.log(`   | ${line.trimEnd()}`);
  }

  say(line: string): void {
    console.log(`   ${line}`);
  }
}

const rulesPath = "/api/v1/merchants/rules";
const token = "local-token";

const ruleSchema = z.looseObject({ id: z.string(), name: z.string(), priority: z.number() });
const listSchema = z.object({ rules: z.array(z.looseObject({ id: z.string() })) });
type Rule = z.infer<typeof ruleSchema>;

/** Reads and edits the rules at the service, as anybody can there, past the engine. Shows each request as a command. */
function rulesByHand(url: string, narrator: Narrator, interrupted: AbortSignal) {
  const listing = curl(`${url}${rulesPath}`);
  const send = async (method: "GET" | "PUT", path: string, body: string | null = null): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method, headers, signal: interrupted, body });
    if (!response.ok) throw new Error(`${method} ${path} should succeed, and the service answered ${response.status}`);
    return await response.json();
  };
  const read = async (): Promise<Rule[]> => {
    narrator.command(listing);
    const { rules } = listSchema.parse(await send("GET", rulesPath));
    const all = await Promise.all(
      rules.map(async ({ id }) => ruleSchema.parse(await send("GET", `${rulesPath}/${id}`))),
    );
    if (all.length === 0) narrator.output("(no rules)");
    for (const { id, name, priority } of all) narrator.output(`${id}  ${name.padEnd(15)} priority ${priority}`);
    return all;
  };
  const edit = async ({ id, createdAt, updatedAt, ...rule }: Rule): Promise<void> => {
    const body = JSON.stringify(rule);
    const path = `${rulesPath}/${id}`;
    narrator.command(`${curl(`${url}${path}`)} -X PUT -H 'Content-Type: application/json' -d '${body}'`);
    await send("PUT", path, body);
  };
  return { listing, read, edit };
}

function curl(url: string): string {
  return `curl -s -H 'Authorization: Bearer ${token}' ${url}`;
}
