import type { dynamic } from "@pulumi/pulumi";
import { HookError } from "../../provider/hooks/boundary.ts";
import { Session } from "../../provider/hooks/session.ts";
import { ruleShape, setShape } from "../../provider/hooks/shape.ts";
import { Lifecycle } from "../../provider/lifecycle.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { type ProviderHost, withoutSecretMarks } from "../support/provider-host.ts";

export type HookNames = "merchantRule" | "merchantRuleSet";

/** What tests call of a provider host. */
export interface Host
  extends Pick<ProviderHost, "check" | "diff" | "create" | "read" | "update" | "delete" | "stderr"> {
  as(hooks: HookNames): Host;
}

/** An error that a hook answered with, and the partial result that came with it. */
export class HookFailed extends Error {
  readonly partial: { id: string; properties: JsonObject } | undefined;

  constructor({ message, id, properties }: HookError) {
    super(message);
    if (id !== undefined && properties !== undefined) this.partial = { id, properties: withoutSecretMarks(properties) };
  }
}

/**
 * The hooks as a provider host that has just started has them, from the sources and in this process: for a quick look
 * at a change, without a build. Set TEST_HOOKS=in-process.
 */
export function hostInProcess(
  hooks: HookNames,
  environment: Readonly<Record<string, string>>,
  config: Readonly<Record<string, string>> = {},
): Host {
  const session = new Session({ config: (key) => config[key], environment, folder: process.cwd() });
  const said: string[] = [];
  const tell = console.error;
  console.error = (...words: unknown[]) => {
    said.push(words.join(" "));
    tell(...words);
  };
  return ofHooks(hooks, session, said);
}

function ofHooks(name: HookNames, session: Session, said: readonly string[]): Host {
  const hooks = new Lifecycle(name === "merchantRule" ? ruleShape : setShape, session);
  return {
    get stderr() {
      return said.join("\n");
    },
    as: (other) => ofHooks(other, session, said),
    async check(news, olds = {}) {
      const { inputs = {}, failures = [] } = await failing(hooks.check(olds, plain(news)));
      return { inputs: withoutSecretMarks(inputs), failures };
    },
    async diff(id, olds, news) {
      const {
        changes,
        replaces = [],
        deleteBeforeReplace = false,
      } = await failing(hooks.diff(id, plain(olds), plain(news)));
      return { changes: changesOf(changes), replaces, deleteBeforeReplace };
    },
    async create(news) {
      const { id, outs = {} } = await failing(hooks.create(plain(news)));
      return { id, outs: withoutSecretMarks(outs) };
    },
    async read(id, olds) {
      const { id: now = "", props = {}, inputs = {} } = await failing(hooks.read(id, plain(olds)));
      return { id: now, props: withoutSecretMarks(props), inputs: withoutSecretMarks(inputs) };
    },
    async update(id, olds, news) {
      return withoutSecretMarks((await failing(hooks.update(id, plain(olds), plain(news)))).outs ?? {});
    },
    delete: (id, props) => failing(hooks.delete(id, plain(props))),
  };
}

function changesOf(changes: dynamic.DiffResult["changes"]): "unknown" | "none" | "some" {
  if (changes === undefined) return "unknown";
  return changes ? "some" : "none";
}

function plain(properties: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(properties));
}

async function failing<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof HookError ? new HookFailed(error) : error;
  }
}
