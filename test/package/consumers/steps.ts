import { join } from "node:path";
import type { Ran } from "./command.ts";
import type { Consumer, StepName, TypeCheck } from "./consumer.ts";
import { declaredRules, editedRule } from "./programs.ts";
import type { LocalService } from "./service.ts";

/** A consumer in its folder, as its steps see it. */
export interface Workshop {
  readonly consumer: Consumer;
  /** The folder of the Pulumi project. */
  readonly project: string;
  /** The root of what is installed, the same but for workspaces. */
  readonly root: string;
  /** The service that the project's rules are at. It starts when it is first asked for. */
  service(): Promise<LocalService>;
  /** Runs a command line as it stands, in the project's folder. */
  command(words: readonly string[]): Promise<Ran>;
  /** Installs what package.json names, by the consumer's package manager. */
  install(): Promise<Ran>;
  /** Runs an engine's verb. */
  engine(verb: string, ...flags: string[]): Promise<Ran>;
}

/** Takes one step of a consumer. Gives what a reader should know, if anything; throws what went wrong. */
type Step = (workshop: Workshop) => Promise<string>;

export const steps: Readonly<Record<StepName, Step>> = {
  async install({ install }) {
    demand(await install(), { code: 0 });
    return "";
  },

  async types({ consumer, root, command }) {
    const foreign = new Set<string>();
    for (const check of consumer.typeChecks ?? []) {
      const tsc = join(root, "node_modules", check.compiler, "bin/tsc");
      const ran = await command([
        "node",
        tsc,
        "-p",
        check.project,
        "--noEmit",
        "--skipLibCheck",
        "false",
        "--pretty",
        "false",
      ]);
      for (const name of judged(check, ran)) foreign.add(`${name} (${check.project})`);
    }
    return foreign.size === 0 ? "" : `errors in types of ${[...foreign].join(", ")}; none in ours`;
  },

  async preview({ consumer, service, command, engine }) {
    await service();
    if (consumer.engine === "pulumi") demand(await command(["pulumi", "stack", "init", "dev"]), { code: 0 });
    demand(await engine("preview"), { code: 0, says: /MerchantRuleSet/ });
    return "";
  },

  async up({ consumer, service, engine }) {
    demand(await engine("up", "--yes", ...(consumer.engine === "pulumi" ? ["--skip-preview"] : [])), {
      code: 0,
      says: /ruleIds/,
    });
    await demandRules(await service(), declaredRules);
    return "";
  },

  async "drift check"({ service, engine }) {
    const check = (): Promise<Ran> => engine("refresh", "--preview-only", "--expect-no-changes", "--diff");
    demand(await check(), { code: 0 });
    await (await service()).edit(editedRule, { priority: 1 });
    demand(await check(), { code: "not 0", says: /priority/ });
    return "";
  },

  async destroy({ consumer, service, engine }) {
    demand(await engine("destroy", "--yes", ...(consumer.engine === "pulumi" ? ["--skip-preview"] : [])), { code: 0 });
    await demandRules(await service(), 0);
    return "";
  },

  async "unit tests"({ command }) {
    demand(await command(["node", "--test"]), { code: 0, says: /pass [1-9]/ });
    return "";
  },

  async automation({ service, command }) {
    const started = await service();
    demand(await command(["node", "automation.js"]), { code: 0, says: /destroyed/ });
    await demandRules(started, 0);
    return "";
  },

  async refusal({ consumer: { engine: name, refusal = /^$/ }, command, engine }) {
    if (name === "pulumi") demand(await command(["pulumi", "stack", "init", "dev"]), { code: 0 });
    const ran = await engine("preview");
    demand(ran, { code: "not 0", says: refusal });
    if (/^\s+at /m.test(ran.output)) throw new Error(`a stack trace was printed:\n${ran.output}`);
    return refusal.exec(ran.output)?.[0] ?? "";
  },
};

interface Expected {
  readonly code: number | "not 0";
  readonly says?: RegExp;
}

function demand({ code, output }: Ran, expected: Expected): void {
  const isAsExpected = expected.code === "not 0" ? code > 0 : code === expected.code;
  if (!isAsExpected) throw new Error(`the exit code should be ${expected.code}, and is ${code}:\n${output}`);
  if (expected.says !== undefined && !expected.says.test(output))
    throw new Error(`the output should have ${expected.says}:\n${output}`);
}

async function demandRules(service: Awaited<ReturnType<Workshop["service"]>>, expected: number): Promise<void> {
  const { length } = await service.rules();
  if (length !== expected) throw new Error(`the service should have ${expected} rules, and has ${length}`);
}

/** The packages of others whose types have errors. Throws for an error in ours, or in the program. */
function judged({ compiler, project, error }: TypeCheck, { code, output }: Ran): string[] {
  const call = `${compiler} -p ${project}`;
  if (error !== undefined) {
    if (!output.includes(error)) throw new Error(`${call} should say ${error}:\n${output}`);
    return [];
  }
  if (code === 0) return [];
  const files = [...output.matchAll(/^(.+?)\(\d+,\d+\): error TS/gm)].map(([, file = ""]) => file);
  const others = files
    .map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? "")
    .filter((name) => name !== "" && !name.startsWith("pulumi-merchant-rules"));
  // An error without a file is one of the call itself.
  if (files.length === 0 || others.length < files.length) throw new Error(`${call} found errors:\n${output}`);
  return others;
}
