import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import type { dynamic } from "@pulumi/pulumi";
import { HookError } from "../../../provider/hooks/boundary.ts";
import { ConnectionHooks } from "../../../provider/hooks/connection-hooks.ts";
import { Lifecycle } from "../../../provider/hooks/lifecycle.ts";
import { Session } from "../../../provider/hooks/session.ts";
import { markOf, markText, ownerOf } from "../../../provider/reconcile/mark.ts";
import type { HookSet } from "../../../provider/resources/provider-source.ts";
import { ruleShape, setShape } from "../../../provider/state/shape.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../sdk/json/index.ts";

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

/** The inputs of one resource of a stack: they say whose they are, as those of the resource's constructor do. */
export function resource(name: string, inputs: JsonObject): JsonObject {
  return { ...inputs, ...ownedBy(ownerOf("shop", "prod", name)) };
}

/** The inputs by which a resource says who it is, as its class adds them: its names, and the id of its connection. */
export function ownedBy(owner: string, identity = ""): JsonObject {
  return { __owner: { [owner]: null }, __connection: `${ownerIdOf(owner)}.${identity}` };
}

/** The mark that such a resource writes. */
export function markBy(owner: string, key = ""): string {
  return markText(markOf(ownerIdOf(owner), owner, key));
}

/** The owner id of a stack's connection: each stack of the tests has one of its own. */
export function ownerIdOf(owner: string): string {
  const [project, stack] = owner.split("/");
  return hash("sha256", `${project}/${stack}`).slice(0, 20);
}

export function sessionOf(
  environment: Readonly<Record<string, string>>,
  config: Readonly<Record<string, string>> = {},
): Session {
  return new Session({ config: (key) => config[key], environment, folder: process.cwd() });
}

/** The hooks, from the sources and in this process. */
export function hooksHere(name: HookNames, session: Session, said: string[] = []): Host {
  const hooks =
    name === "connection"
      ? new ConnectionHooks(session)
      : new Lifecycle(name === "merchantRule" ? ruleShape : setShape, session);
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
      const { inputs = {}, failures = [] } = await call(() => hooks.check(sent(olds), sent(news)));
      return { inputs: kept(inputs), failures };
    },
    async diff(id, olds, news) {
      const { changes, replaces, deleteBeforeReplace } = await call(() => hooks.diff(id, sent(olds), sent(news)));
      return {
        changes: changesOf(changes),
        replaces: replaces ?? [],
        deleteBeforeReplace: deleteBeforeReplace ?? false,
      };
    },
    async create(news) {
      const { id, outs = {} } = await call(() => hooks.create(sent(news)));
      return { id, outs: kept(outs) };
    },
    async read(id, olds) {
      const { id: now = "", props = {}, inputs = {} } = await call(() => hooks.read(id, sent(olds)));
      return { id: now, props: kept(props), inputs: kept(inputs) };
    },
    async update(id, olds, news) {
      return kept((await call(() => hooks.update(id, sent(olds), sent(news)))).outs ?? {});
    },
    delete: (id, props) => call(() => hooks.delete(id, sent(props))),
  };
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
