import { HookError } from "../../provider/hooks/boundary.ts";
import { Session } from "../../provider/hooks/session.ts";
import { ruleShape, setShape } from "../../provider/hooks/shape.ts";
import { Lifecycle } from "../../provider/lifecycle.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { HookFailure, ProviderHost, withoutSecretMarks } from "../support/provider-host.ts";
import { HookFailed, type Hooks } from "./engine-model.ts";

export type Resource = "MerchantRule" | "MerchantRuleSet";

/** The hooks as a provider host that has just started has them, in this process. */
export function hooksOf(
  resource: Resource,
  environment: Readonly<Record<string, string>>,
  session = new Session({ config: () => undefined, environment, folder: process.cwd() }),
): Hooks {
  const hooks = new Lifecycle(resource === "MerchantRule" ? ruleShape : setShape, session);
  return {
    async check(olds, news) {
      const { failures = [] } = await hooks.check(olds, news);
      return failures.map(({ property, reason }) => `${property} ${reason}`);
    },
    async diff(id, olds, news) {
      const { changes, replaces = [], deleteBeforeReplace = false } = await failing(hooks.diff(id, olds, news));
      return { changes, replaces, deleteBeforeReplace };
    },
    async create(news) {
      const { id, outs = {} } = await failing(hooks.create(news));
      return { id, outs };
    },
    async read(id, olds) {
      const { id: now = "", props = {}, inputs = {} } = await failing(hooks.read(id, olds));
      return { id: now, props, inputs };
    },
    async update(id, olds, news) {
      return (await failing(hooks.update(id, olds, news))).outs ?? {};
    },
    delete: (id, props) => failing(hooks.delete(id, props)),
  };
}

async function failing<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    // Anything else is a defect of a hook, which a user would see with its stack.
    if (!(error instanceof HookError)) throw error;
    const { message, id, properties } = error;
    if (id === undefined || properties === undefined) throw new HookFailed(message);
    throw new HookFailed(message, { id, properties: withoutSecretMarks(properties) });
  }
}

/** The hooks of a provider host that runs, over gRPC as the engine calls them. */
export function hooksOfHost(host: ProviderHost): Hooks {
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      throw new HookFailed(error.message, error.partial);
    }
  };
  const changes = { none: false, some: true, unknown: undefined };
  return {
    async check(olds, news) {
      const { failures } = await answered(host.check(news, olds));
      return failures.map(({ property, reason }) => `${property} ${reason}`);
    },
    async diff(id, olds, news) {
      const diff = await answered(host.diff(id, olds, news));
      return { ...diff, changes: changes[diff.changes] };
    },
    create: (news: JsonObject) => answered(host.create(news)),
    read: (id, props) => answered(host.read(id, props)),
    update: (id, olds, news) => answered(host.update(id, olds, news)),
    delete: (id, props) => answered(host.delete(id, props)),
  };
}

export function startHost(resource: Resource, environment: Record<string, string>): Promise<ProviderHost> {
  return ProviderHost.start({}, environment, resource === "MerchantRule" ? "merchantRule" : "merchantRuleSet");
}
