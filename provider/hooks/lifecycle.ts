import type { dynamic } from "@pulumi/pulumi";
import type { Step } from "../decide/plan.ts";
import { print } from "../host/print.ts";
import { isUnknown, type Properties } from "../host/wire.ts";
import { stackOf } from "../merchant/mark.ts";
import type { ResourceShape } from "../state/shape.ts";
import { connectionName, ownerInput } from "../state/state.ts";
import { atBoundary } from "./boundary.ts";
import { callOf, type Hooks } from "./call.ts";
import { checked } from "./check.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { diff } from "./diff.ts";
import { oddFields } from "./odd-fields.ts";
import { read } from "./read.ts";
import type { Session } from "./session.ts";
import { describeTakeOvers, hintAtTexts } from "./summary.ts";
import { update } from "./update.ts";

/**
 * The six hooks that the provider host calls, for rules by key. A MerchantRule is the set with one key; the two differ by
 * their shape alone.
 */
export class Lifecycle implements dynamic.ResourceProvider<Properties, Properties> {
  readonly #hooks: Hooks;

  constructor(shape: ResourceShape, session: Session) {
    this.#hooks = { shape, session };
  }

  // Stores before anything could be awaited: the host runs the next hook without waiting for this one.
  async configure({ config }: dynamic.ConfigureRequest): Promise<void> {
    this.#hooks.session.configure((key) => config.get(key));
  }

  check(olds: Properties, news: Properties): Promise<dynamic.CheckResult<Properties>> {
    const { shape, session } = this.#hooks;
    return this.#run("check", news, () => {
      const result = checked(shape, session, olds, news);
      if (result.failures?.length === 0) {
        this.#announce(olds, news);
        if (!shape.isRule) session.sayOnce("texts", hintAtTexts(news));
        this.#hintAtSlips(news);
      }
      return result;
    });
  }

  diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return this.#run("diff", news, () => diff(this.#hooks, id, olds, news));
  }

  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return this.#run("create", inputs, () => create(this.#hooks, inputs));
  }

  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return this.#run("read", props, () => read(this.#hooks, id, props));
  }

  update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return this.#run("update", news, () => update(this.#hooks, id, olds, news));
  }

  delete(id: string, props: Properties): Promise<void> {
    return this.#run("delete", props, () => remove(this.#hooks, id, props));
  }

  #hintAtSlips(news: Properties): void {
    if (isUnknown(news.connection)) return;
    const { shape, session } = this.#hooks;
    const { contract } = session.place(connectionName(news));
    for (const { name, sentence } of oddFields(shape, contract, news)) session.sayOnce(`field ${name}`, sentence);
  }

  /** Says which rules a resource that is about to be made takes over. */
  #announce(olds: Properties, news: Properties): void {
    if (this.#hooks.shape.field in olds || isUnknown(news.connection)) return;
    const { of, place, declared } = callOf(this.#hooks, news);
    const steps = [...declared.rules].map(([key, rule]): Step => ({ kind: "create", key, declared: rule }));
    const words = describeTakeOvers(steps, of, place);
    if (words !== undefined) print(...words);
  }

  #run<T>(hook: string, props: Properties, run: () => T | Promise<T>): Promise<T> {
    const { session } = this.#hooks;
    session.isOfStack(stackOf(ownerInput(props)));
    return atBoundary(hook, (error) => session.explain(error), run);
  }
}
