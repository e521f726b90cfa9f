import { Metadata, status } from "@grpc/grpc-js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import statusMessages from "@pulumi/pulumi/proto/status_pb.js";
import anyMessages from "google-protobuf/google/protobuf/any_pb.js";
import structMessages from "google-protobuf/google/protobuf/struct_pb.js";
import type { StartPlugin } from "../../../local/engine/hosts/provider-host.ts";
import { ConnectionHooks } from "../../../provider/hooks/connection-hooks.ts";
import { Lifecycle } from "../../../provider/hooks/lifecycle.ts";
import { OwnerHooks } from "../../../provider/hooks/owner-hooks.ts";
import { Session } from "../../../provider/hooks/session.ts";
import { ruleShape, setShape } from "../../../provider/state/shape.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { heardBy } from "./hosts.ts";

const { DIFF_UNKNOWN, DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;

/**
 * Starts the hooks from the sources and in this process, in place of Pulumi's provider host, which costs a third of a second.
 * They are called and answer as there, by the messages of the protocol.
 */
export const startPluginHere: StartPlugin = ({ env, cwd, onStderr, onEnd }) => {
  let config: JsonObject = {};
  const session = new Session({ config: (key) => config[key]?.toString(), environment: env, folder: cwd });
  const hooks = {
    merchantRule: new Lifecycle(ruleShape, session),
    merchantRuleSet: new Lifecycle(setShape, session),
    connection: new ConnectionHooks(session),
    owner: new OwnerHooks(session),
  };
  /** The hooks that the code in a resource's properties names. */
  const hooksOf = ({ __provider }: JsonObject) => {
    const [, name] = /\.(\w+)$/.exec(String(__provider)) ?? [];
    return hooks[isHookSet(name) ? name : "connection"];
  };
  const isHookSet = (name: string | undefined): name is keyof typeof hooks => name !== undefined && name in hooks;
  const methods: Record<string, (request: never) => Promise<unknown>> = {
    async configure(request: InstanceType<typeof messages.ConfigureRequest>) {
      config = Object.fromEntries(
        Object.entries(jsonOf(request.getArgs())).map(([key, value]) => [key, Object(value).value ?? value]),
      );
      return new messages.ConfigureResponse();
    },
    async check(request: InstanceType<typeof messages.CheckRequest>) {
      const news = jsonOf(request.getNews());
      const { inputs = news, failures = [] } = await hooksOf(news).check(jsonOf(request.getOlds()), news);
      return new messages.CheckResponse()
        .setInputs(structOf(inputs, news))
        .setFailuresList(
          failures.map(({ property, reason }) => new messages.CheckFailure().setProperty(property).setReason(reason)),
        );
    },
    async diff(request: InstanceType<typeof messages.DiffRequest>) {
      const [olds, news] = [jsonOf(request.getOlds()), jsonOf(request.getNews())];
      const {
        changes,
        replaces = [],
        deleteBeforeReplace = false,
      } = await hooksOf(news).diff(request.getId(), olds, news);
      return new messages.DiffResponse()
        .setChanges(changes === undefined ? DIFF_UNKNOWN : changes ? DIFF_SOME : DIFF_NONE)
        .setReplacesList(replaces)
        .setDeletebeforereplace(deleteBeforeReplace);
    },
    async create(request: InstanceType<typeof messages.CreateRequest>) {
      const props = jsonOf(request.getProperties());
      const { id, outs } = await hooksOf(props).create(props);
      return new messages.CreateResponse().setId(id).setProperties(structOf(outs, props));
    },
    async read(request: InstanceType<typeof messages.ReadRequest>) {
      const props = jsonOf(request.getProperties());
      const seen = await hooksOf(props).read(request.getId(), props);
      const response = new messages.ReadResponse().setId(seen.id ?? "").setProperties(structOf(seen.props, props));
      return seen.inputs === undefined ? response : response.setInputs(structOf(seen.inputs, props));
    },
    async update(request: InstanceType<typeof messages.UpdateRequest>) {
      const [olds, news] = [jsonOf(request.getOlds()), jsonOf(request.getNews())];
      const { outs } = await hooksOf(news).update(request.getId(), olds, news);
      return new messages.UpdateResponse().setProperties(structOf(outs, news));
    },
    async delete(request: InstanceType<typeof messages.DeleteRequest>) {
      const props = jsonOf(request.getProperties());
      await hooksOf(props).delete(request.getId(), props);
    },
  };
  return {
    async call(method, request, { returned }) {
      const name = method.path.split("/").at(-1)?.toLowerCase() ?? "";
      const urn = String(Object(request).getUrn?.() ?? "");
      try {
        // The messages are those of the method, by its name.
        return (await heardBy(
          (severity, text) => onStderr([`\u001e${JSON.stringify({ severity, text, urn })}`], true),
          async () => methods[name]?.(request as never),
        )) as never;
      } catch (error) {
        throw returned(serviceError(error));
      }
    },
    stop: async () => onEnd(),
    kill: () => {},
  };
};

function jsonOf(struct: { toJavaScript(): object } | undefined): JsonObject {
  return JSON.parse(JSON.stringify(struct?.toJavaScript() ?? {}));
}

function structOf(properties: JsonObject | undefined, { __provider }: JsonObject) {
  return structMessages.Struct.fromJavaScript({ ...properties, __provider: __provider ?? null });
}

/** An error as the host answers with it, with the partial result that it may carry. */
function serviceError(error: unknown) {
  const { id, properties, reasons }: { id?: string; properties?: JsonObject; reasons?: string[] } = Object(error);
  const message = error instanceof Error ? error.message : String(error);
  const metadata = new Metadata();
  if (id !== undefined) {
    const detail = new messages.ErrorResourceInitFailed()
      .setId(id)
      .setProperties(structMessages.Struct.fromJavaScript(properties ?? {}))
      .setReasonsList(reasons ?? []);
    const any = new anyMessages.Any();
    any.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const failed = new statusMessages.Status().setCode(status.UNKNOWN).setMessage(message);
    failed.addDetails(any);
    metadata.add("grpc-status-details-bin", Buffer.from(failed.serializeBinary()));
  }
  return Object.assign(new Error(message), { code: status.UNKNOWN, details: message, metadata });
}
