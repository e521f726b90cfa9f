import { AsyncLocalStorage } from "node:async_hooks";
import type { dynamic } from "@pulumi/pulumi";
import { HookError } from "../../../provider/hooks/boundary.ts";
import { ConnectionHooks } from "../../../provider/hooks/connection-hooks.ts";
import { Lifecycle } from "../../../provider/hooks/lifecycle.ts";
import { OwnerHooks } from "../../../provider/hooks/owner-hooks.ts";
import { Session } from "../../../provider/hooks/session.ts";
import type { HookSet } from "../../../provider/resources/provider-source.ts";
import { ruleShape, setShape } from "../../../provider/state/shape.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../sdk/json/index.ts";
import { filled, filledOutputs, unfilled } from "./owners.ts";

export { markBy, othersMarkBy, ownedBy, ownerIdOf, resource, withoutBits } from "./owners.ts";

export type HookNames = HookSet;

/** A provider host, called as the engine calls it. Properties come back as the engine hands them to the next hook. */
export interface Host {
  check(
    news: JsonObject,
    olds?: JsonObject,
  ): Promise<{ inputs: JsonObject; failures: { property: string; reason: string }[] }>;
  diff(
    id: string,
    olds: JsonObject,
    news: JsonObject,
  ): Promise<{ changes: "unknown" | "none" | "some"; replaces: string[]; deleteBeforeReplace: boolean }>;
  create(news: JsonObject): Promise<{ id: string; outs: JsonObject }>;
  read(id: string, props: JsonObject): Promise<{ id: string; props: JsonObject; inputs: JsonObject }>;
  update(id: string, olds: JsonObject, news: JsonObject): Promise<JsonObject>;
  delete(id: string, props: JsonObject): Promise<void>;
  /** The same host, called for resources of another type. */
  as(hooks: HookNames): Host;
  /** The lines that it printed. */
  readonly stderr: string;
  close(): Promise<void>;
}

/** The part that a failed hook has done. */
export interface PartialResult {
  readonly id: string;
  readonly properties: JsonObject;
  /** Those of them that the engine keeps as secrets. */
  readonly secrets?: readonly Json[];
  readonly hasProvider?: boolean;
}

/** An error that a hook answered with, and the partial result that came with it. */
export class HookFailure extends Error {
  readonly partial: PartialResult | undefined;

  constructor(message: string, id?: string, properties?: JsonObject) {
    super(message);
    if (id === undefined || properties === undefined) return;
    this.partial = {
      id,
      properties: withoutSecretMarks(properties),
      secrets: secretsIn(properties),
      hasProvider: "__provider" in properties,
    };
  }
}

/** The failure of a hook that must fail. */
export async function failureOf(promise: Promise<unknown>): Promise<HookFailure> {
  const outcome = await promise.then(
    (value) => `it succeeded with ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  if (outcome instanceof HookFailure) return outcome;
  throw new Error(`it did not fail as expected: ${outcome}`);
}

/**
 * The lines that a host printed, but for the sentence that nothing shows whose the place is. A create that knows no rule
 * says it once a run, where the connection is not of that run.
 */
export function saidBy({ stderr }: Host): string[] {
  return stderr.split("\n").filter((line) => line !== "" && !line.includes(": could not check that its credentials"));
}

export function sessionOf(
  environment: Readonly<Record<string, string>>,
  config: Readonly<Record<string, string>> = {},
): Session {
  return new Session({ config: (key) => config[key], environment, folder: process.cwd() });
}

/** The hooks, from the sources and in this process. Where a test says nothing of Owner and Connection: see `filled`. */
export function hooksHere(name: HookNames, session: Session, said: string[] = []): Host {
  const hooks = hooksOf(name, session);
  const hasRules = name === "merchantRule" || name === "merchantRuleSet";
  const inputs = (news: JsonObject, before?: JsonObject) => sent(hasRules ? filled(news, session, before) : news);
  const outputs = (olds: JsonObject) => sent(hasRules ? filledOutputs(olds, session) : olds);
  const back = (seen: JsonObject = {}, given: JsonObject) => (hasRules ? unfilled(kept(seen), given) : kept(seen));
  const call = <T>(run: () => Promise<T>): Promise<T> =>
    heardBy(
      (_, text) => void said.push(text),
      () => failing(run()),
    );
  return {
    get stderr() {
      return said.join("\n");
    },
    as: (other) => hooksHere(other, session, said),
    close: () => Promise.resolve(),
    async check(news, olds = {}) {
      const result = await call(() => hooks.check(sent(olds), inputs(news, olds)));
      return { inputs: back(result.inputs, news), failures: result.failures ?? [] };
    },
    async diff(id, olds, news) {
      const { changes, replaces, deleteBeforeReplace } = await call(() =>
        hooks.diff(id, outputs(olds), inputs(news, olds)),
      );
      return {
        changes: changesOf(changes),
        replaces: replaces ?? [],
        deleteBeforeReplace: deleteBeforeReplace ?? false,
      };
    },
    async create(news) {
      const { id, outs = {} } = await call(() => hooks.create(inputs(news)));
      return { id, outs: kept(outs) };
    },
    async read(id, olds) {
      const { id: now = "", props = {}, inputs: seen = {} } = await call(() => hooks.read(id, outputs(olds)));
      return { id: now, props: kept(props), inputs: back(seen, olds) };
    },
    async update(id, olds, news) {
      return kept((await call(() => hooks.update(id, outputs(olds), inputs(news, olds)))).outs ?? {});
    },
    delete: (id, props) => call(() => hooks.delete(id, outputs(props))),
  };
}

function hooksOf(name: HookNames, session: Session) {
  if (name === "owner") return new OwnerHooks(session);
  if (name === "connection") return new ConnectionHooks(session);
  return new Lifecycle(name === "merchantRule" ? ruleShape : setShape, session);
}

/** The engine keeps secrets as such, and hands them to hooks in plain. */
export function withoutSecretMarks(properties: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(properties), (_, each: Json) => (isSecret(each) ? each.value : each));
}

/** Hears a message of a hook: a fact, or what a person should look at. */
type Tell = (severity: "info" | "warning", text: string) => void;
const heard = new AsyncLocalStorage<Tell>();
const print = console.error;
console.error = (...words: unknown[]) => {
  const tell = heard.getStore();
  if (tell === undefined) print(...words);
  else tell("warning", words.join(" "));
};
// Where the provider looks for it: see provider/host/print.ts.
Reflect.set(globalThis, Symbol.for("pulumi-merchant-rules:inform"), (text: string) => {
  const tell = heard.getStore();
  if (tell === undefined) console.error(text);
  else tell("info", text);
});

/** Runs hooks in this process so that `tell` hears what they print. */
export function heardBy<T>(tell: Tell, run: () => Promise<T>): Promise<T> {
  return heard.run(tell, run);
}

/** Runs something without what it prints. */
export function silently<T>(run: () => T): T {
  return heard.run(() => undefined, run);
}

function sent(properties: JsonObject): JsonObject {
  return { ...JSON.parse(JSON.stringify(properties)), __provider: "the code of the hooks" };
}

function kept({ __provider, ...properties }: JsonObject): JsonObject {
  return withoutSecretMarks(properties);
}

function changesOf(changes: dynamic.DiffResult["changes"]): "unknown" | "none" | "some" {
  if (changes === undefined) return "unknown";
  return changes ? "some" : "none";
}

async function failing<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    // Anything else is a defect of a hook, which a user would see with its stack.
    if (!(error instanceof HookError)) throw error;
    throw new HookFailure(error.message, error.id, error.properties && JSON.parse(JSON.stringify(error.properties)));
  }
}

function isSecret(value: Json): value is JsonObject & { value: Json } {
  return isJsonObject(value) && value["4dabf18193072939515e22adb298388d"] === "1b47061264138c4ac30d75fd1eb44270";
}

function secretsIn(value: Json): Json[] {
  if (isSecret(value)) return [value.value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}
