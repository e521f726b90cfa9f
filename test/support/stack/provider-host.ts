import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import status from "@pulumi/pulumi/proto/status_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import structMessages from "google-protobuf/google/protobuf/struct_pb.js";
import type { Session } from "../../../provider/hooks/session.ts";
import { providerSource } from "../../../provider/resources/provider-source.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { HookFailure, type HookNames, type Host, sessionOf, silently, withoutSecretMarks } from "./hosts.ts";
import { filled, filledOutputs, unfilled } from "./owners.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const script = createRequire(import.meta.url).resolve("@pulumi/pulumi/cmd/dynamic-provider");

/** The real dynamic provider host, spoken to as the engine speaks to it. It runs the compiled package. */
export class ProviderHost implements Host {
  readonly #child: ChildProcess;
  readonly #client: InstanceType<typeof provider.ResourceProviderClient>;
  readonly #hooks: HookNames;
  readonly #port: string;
  /** What its settings say, without a request: see `filled`. */
  readonly #session: Session;
  #stderr = "";

  private constructor(child: ChildProcess, port: string, hooks: HookNames, session: Session) {
    this.#session = session;
    this.#hooks = hooks;
    this.#child = child;
    this.#port = port;
    this.#client = new provider.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
      // As the engine: it takes far more than the 4 MiB that gRPC takes by itself.
      "grpc.max_receive_message_length": 400 << 20,
    });
    child.stderr?.on("data", (text: Buffer) => {
      this.#stderr += text.toString();
    });
  }

  static async start(
    config: Record<string, string>,
    environment: Record<string, string> = {},
    hooks: HookNames = "merchantRule",
    engine = "127.0.0.1:1",
  ): Promise<ProviderHost> {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("MERCHANT_RULES_"));
    const child = spawn(process.execPath, [script, engine], {
      cwd: root,
      env: { ...Object.fromEntries(own), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [port] = await once(createInterface({ input: child.stdout }), "line");
    const host = new ProviderHost(child, String(port), hooks, sessionOf(environment, config));
    const request = new messages.ConfigureRequest();
    request.setArgs(struct(config));
    await new Promise<void>((resolve, reject) =>
      host.#client.configure(request, (error) => (error ? reject(error) : resolve())),
    );
    return host;
  }

  /** The same host, called for resources of another type. */
  as(hooks: HookNames): ProviderHost {
    return new ProviderHost(this.#child, this.#port, hooks, this.#session);
  }

  get stderr(): string {
    return this.#stderr.trimEnd();
  }

  /** The code with which it ends by itself. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, "exit");
    return this.#child.exitCode;
  }

  async close(): Promise<void> {
    this.#client.close();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }

  async check(
    news: JsonObject,
    olds: JsonObject = {},
  ): Promise<{ inputs: JsonObject; failures: { property: string; reason: string }[] }> {
    const request = new messages.CheckRequest();
    request.setOlds(struct(olds));
    request.setNews(struct(this.#inputs(news, olds)));
    const response = await this.#call<InstanceType<typeof messages.CheckResponse>>((done) =>
      this.#client.check(request, done),
    );
    return {
      inputs: this.#back(response.getInputs(), news),
      failures: response
        .getFailuresList()
        .map((failure) => ({ property: failure.getProperty(), reason: failure.getReason() })),
    };
  }

  async diff(
    id: string,
    olds: JsonObject,
    news: JsonObject,
  ): Promise<{ changes: "unknown" | "none" | "some"; replaces: string[]; deleteBeforeReplace: boolean }> {
    const request = new messages.DiffRequest();
    request.setId(id);
    request.setOlds(struct(this.#outputs(olds)));
    request.setNews(struct(this.#inputs(news, olds)));
    const response = await this.#call<InstanceType<typeof messages.DiffResponse>>((done) =>
      this.#client.diff(request, done),
    );
    const changes = (["unknown", "none", "some"] as const)[response.getChanges()] ?? "unknown";
    return { changes, replaces: response.getReplacesList(), deleteBeforeReplace: response.getDeletebeforereplace() };
  }

  async create(news: JsonObject): Promise<{ id: string; outs: JsonObject }> {
    const request = new messages.CreateRequest();
    request.setProperties(struct(this.#inputs(news)));
    const response = await this.#call<InstanceType<typeof messages.CreateResponse>>((done) =>
      this.#client.create(request, done),
    );
    return { id: response.getId(), outs: plain(response.getProperties()) };
  }

  async read(id: string, props: JsonObject): Promise<{ id: string; props: JsonObject; inputs: JsonObject }> {
    const request = new messages.ReadRequest();
    request.setId(id);
    request.setProperties(struct(this.#outputs(props)));
    const response = await this.#call<InstanceType<typeof messages.ReadResponse>>((done) =>
      this.#client.read(request, done),
    );
    return {
      id: response.getId(),
      props: plain(response.getProperties()),
      inputs: this.#back(response.getInputs(), props),
    };
  }

  async update(id: string, olds: JsonObject, news: JsonObject): Promise<JsonObject> {
    const request = new messages.UpdateRequest();
    request.setId(id);
    request.setOlds(struct(this.#outputs(olds)));
    request.setNews(struct(this.#inputs(news, olds)));
    const response = await this.#call<InstanceType<typeof messages.UpdateResponse>>((done) =>
      this.#client.update(request, done),
    );
    return plain(response.getProperties());
  }

  async delete(id: string, props: JsonObject): Promise<void> {
    const request = new messages.DeleteRequest();
    request.setId(id);
    request.setProperties(struct(this.#outputs(props)));
    await this.#call((done) => this.#client.delete(request, done));
  }

  #inputs(news: JsonObject, before?: JsonObject): JsonObject {
    return this.#sent(news, () => filled(news, this.#session, before));
  }

  #outputs(olds: JsonObject): JsonObject {
    return this.#sent(olds, () => filledOutputs(olds, this.#session));
  }

  #back(seen: Struct | undefined, given: JsonObject): JsonObject {
    return this.#hasRules ? unfilled(plain(seen), given) : plain(seen);
  }

  get #hasRules(): boolean {
    return this.#hooks === "merchantRule" || this.#hooks === "merchantRuleSet";
  }

  #sent(properties: JsonObject, fill: () => JsonObject): JsonObject {
    // What the host prints itself is not printed here, too.
    const all = this.#hasRules ? silently(fill) : properties;
    return { ...all, __provider: providerSource(this.#hooks) };
  }

  async #call<Response>(
    send: (done: (error: ServiceError | null, response: Response) => void) => unknown,
  ): Promise<Response> {
    const [error, response] = await new Promise<[ServiceError | null, Response]>((resolve) => {
      send((...ended) => resolve(ended));
    });
    // What it printed before it answered has arrived, and is read in the next turns.
    for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    if (error !== null) throw failureOf(error);
    return response;
  }
}

function struct(value: JsonObject): Struct {
  return structMessages.Struct.fromJavaScript(JSON.parse(JSON.stringify(value)));
}

/** Properties as the engine would hand them back: without the code, and what it keeps as a secret in plain. */
function plain(value: Struct | undefined): JsonObject {
  const { __provider, ...properties } = value?.toJavaScript() ?? {};
  return withoutSecretMarks(JSON.parse(JSON.stringify(properties)));
}

/** A partial result travels beside the error, in its metadata. */
function failureOf({ details, metadata }: ServiceError): HookFailure {
  const [binary] = metadata.get("grpc-status-details-bin");
  if (!(binary instanceof Buffer)) return new HookFailure(details);
  const [detail] = status.Status.deserializeBinary(binary).getDetailsList();
  const failed = messages.ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() ?? new Uint8Array());
  const properties = JSON.parse(JSON.stringify(failed.getProperties()?.toJavaScript() ?? {}));
  return new HookFailure(details, failed.getId(), properties);
}
