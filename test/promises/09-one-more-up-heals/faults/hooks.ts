import type { Host } from "../../../support/hosts.ts";
import type { Hooks } from "./engine-model.ts";

/** The hooks of a host, as the model of the engine calls them. */
export function hooksOf(host: Host): Hooks {
  const changes = { none: false, some: true, unknown: undefined };
  return {
    async check(olds, news) {
      const { inputs, failures } = await host.check(news, olds);
      if (failures.length === 0) return inputs;
      throw new Error(failures.map(({ property, reason }) => `${property} ${reason}`).join("; "));
    },
    async diff(id, olds, news) {
      const diff = await host.diff(id, olds, news);
      return { ...diff, changes: changes[diff.changes] };
    },
    create: (news) => host.create(news),
    read: (id, props) => host.read(id, props),
    update: (id, olds, news) => host.update(id, olds, news),
    delete: (id, props) => host.delete(id, props),
  };
}

/** The same with the hooks of a Connection, which the model of the engine makes and asks like any resource's. */
export function hooksWithConnection(host: Host): Hooks {
  return { ...hooksOf(host), connection: hooksOf(host.as("connection")) };
}
