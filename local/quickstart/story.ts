import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../../stack/shell-word.ts";
import { type Engine, EngineRuns } from "./engine.ts";
import type { Interrupts } from "./interrupt.ts";
import type { Narrator } from "./narrator.ts";
import { makeProject, type Packages, settingsOf, writeSettings } from "./project.ts";
import { QuickstartRules } from "./service.ts";

export interface Scene {
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

/** The story: rules that are declared in a program appear in a service, drift, heal, and go away. Throws where one step does not go as told. */
export async function tellStory(scene: Scene): Promise<void> {
  const { narrator, interrupts, engine, folder, url } = scene;
  const rules = new QuickstartRules(url, narrator, interrupts.interrupted);
  const runs = openProject(scene);
  const yes = engine.name === "pulumi" ? ["--yes", "--skip-preview"] : ["--yes"];
  if (engine.name === "pulumi") await runs.run({ code: 0 }, "stack", "init", "quickstart");

  narrator.step("Preview", "What the program would change, with the fields of each rule. Nothing is done yet.");
  const fields = [/name/, /priority/, /conditions/, /actions/];
  const preview = await runs.run({ code: 0, says: fields }, "preview", ...stack, "--diff");
  const toCreate = preview.split("\n").filter((line) => /MerchantRule/.test(line) && /create/.test(line)).length;
  expect(toCreate === 3, `the preview should have 3 rules to create, and has ${toCreate}`);
  narrator.say("So there are 3 rules to create, besides the stack and its connection.");

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
