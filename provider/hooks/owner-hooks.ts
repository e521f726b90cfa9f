import type { dynamic } from "@pulumi/pulumi";
import { leaving, type Properties, picked } from "../host/wire.ts";
import { newOwnerId } from "../merchant/identity.ts";
import { demandNames } from "../refusals/names.ts";
import { providerField } from "../state/names.ts";
import { demandVersion, stateVersion } from "../state/state.ts";
import { atBoundary } from "./boundary.ts";
import type { Session } from "./session.ts";

/** The inputs: the present names, `project/stack`, and the code. */
const fields = ["names", providerField] as const;

/**
 * The hooks of an Owner: the product's memory of whose a stack's rules are. Its id is the owner id. Nothing is asked of the
 * service, and no settings are needed.
 */
export class OwnerHooks implements dynamic.ResourceProvider<Properties, Properties> {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  // Stores before anything could be awaited: the host runs the next hook without waiting for this one.
  async configure({ config }: dynamic.ConfigureRequest): Promise<void> {
    this.#session.configure((key) => config.get(key));
  }

  check(_olds: Properties, news: Properties): Promise<dynamic.CheckResult<Properties>> {
    return this.#run("check", () => ({ inputs: news, failures: [] }));
  }

  /** Refuses a state that was last used under other names, unless the user says that these were the stack's. */
  diff(_id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return this.#run("diff", () => {
      demandVersion(olds);
      const [before, now] = [nameIn(olds), nameIn(news)];
      demandNames("this stack", before, now, this.#session.words);
      return before === now ? { changes: false } : { changes: true };
    });
  }

  /** Makes the owner id. */
  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return this.#run("create", () => ({ id: newOwnerId(), outs: outputs(inputs) }));
  }

  /** Returns what the state says: it knows no other names. */
  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return this.#run("read", () => {
      demandVersion(props);
      return { id, props: leaving(props), inputs: leaving(picked(props, fields)) };
    });
  }

  /** Takes the present names. */
  update(_id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return this.#run("update", () => {
      demandVersion(olds);
      demandNames("this stack", nameIn(olds), nameIn(news), this.#session.words);
      return { outs: outputs(news) };
    });
  }

  /** Deletes nothing: it has nothing at the service. */
  delete(_id: string, props: Properties): Promise<void> {
    return this.#run("delete", () => demandVersion(props));
  }

  #run<T>(hook: string, run: () => T | Promise<T>): Promise<T> {
    return atBoundary(hook, (error) => this.#session.explain(error), run);
  }
}

function outputs(inputs: Properties): Properties {
  return leaving({ ...picked(inputs, fields), stateVersion });
}

function nameIn({ names }: Properties): string | undefined {
  return typeof names === "string" ? names : undefined;
}
