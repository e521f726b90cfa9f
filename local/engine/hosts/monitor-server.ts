import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as grpc from "@grpc/grpc-js";
import resourceServices from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import type {
  ReadResourceRequest,
  RegisterPackageRequest,
  RegisterResourceOutputsRequest,
  RegisterResourceRequest,
  ResourceCallRequest,
  ResourceInvokeRequest,
  SupportsFeatureRequest,
} from "@pulumi/pulumi/proto/resource_pb.js";
import resourceMessages from "@pulumi/pulumi/proto/resource_pb.js";
import type { SourcePosition } from "@pulumi/pulumi/proto/source_pb.js";
import emptyMessages from "google-protobuf/google/protobuf/empty_pb.js";
import { EngineError, messageOf, RunIsOver } from "../../../stack/errors.ts";
import { type UnsupportedFeature, unsupported } from "../../../stack/unsupported.ts";
import { toProgram } from "../../../stack/values/wire.ts";
import { channelOptions, readProperties, writeProperties } from "./grpc.ts";
import type { MonitorHandler, Registration } from "./registration.ts";

const { Empty } = emptyMessages;
const stackReferenceType = "pulumi:pulumi:StackReference";

/** The features of the real engine that this one has. The SDK refuses by itself what depends on others. */
const features: { readonly [id: string]: number } = {
  secrets: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_SECRETS,
  resourceReferences: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
  aliasSpecs: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
  deletedWith: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
  // The features below are refused by name when they are used, which says more than "please update the Pulumi CLI".
  replaceWith: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
  transforms: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_TRANSFORMS,
  invokeTransforms: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_INVOKE_TRANSFORMS,
  parameterization: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_PARAMETERIZATION,
  resourceHooks: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS,
  errorHooks: resourceMessages.ResourceMonitorFeature.RESOURCE_MONITOR_FEATURE_ERROR_HOOKS,
};

/** The service that a program registers its resources with: on a loopback port once it is started, or called directly. */
export class MonitorServer {
  /** By name, as gRPC has them. */
  readonly methods: grpc.UntypedServiceImplementation;
  readonly #server = new grpc.Server(channelOptions);
  readonly #handler: MonitorHandler;
  readonly #projectRoot: string;

  constructor(handler: MonitorHandler, projectRoot: string) {
    this.#handler = handler;
    this.#projectRoot = projectRoot;
    this.methods = this.#monitor();
    this.#server.addService(resourceServices.ResourceMonitorService, this.methods);
  }

  /** Gives the address. */
  async start(): Promise<string> {
    const bind = promisify(this.#server.bindAsync.bind(this.#server));
    const port = await bind("127.0.0.1:0", grpc.ServerCredentials.createInsecure());
    return `127.0.0.1:${port}`;
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #monitor(): grpc.UntypedServiceImplementation {
    const handler = this.#handler;
    const refuse = <Request>(why: (request: Request) => EngineError) =>
      unary<Request, never>(async (request) => {
        throw handler.fail(why(request));
      });
    return {
      getDeploymentInfo: unary(async () =>
        new resourceMessages.DeploymentInfo().setSupportedfeaturesList(Object.values(features)),
      ),
      supportsFeature: unary(async (request: SupportsFeatureRequest) =>
        new resourceMessages.SupportsFeatureResponse().setHassupport(Object.hasOwn(features, request.getId())),
      ),
      registerResource: unary((request: RegisterResourceRequest) => this.#register(request)),
      registerResourceOutputs: unary(async (request: RegisterResourceOutputsRequest) => {
        const outputs = this.#parsed(() => readProperties(request.getOutputs()));
        await handler.registerOutputs(request.getUrn(), outputs);
        return new Empty();
      }),
      signalAndWaitForShutdown: unary(async () => {
        handler.programDone();
        return new Empty();
      }),
      invoke: refuse((request: ResourceInvokeRequest) => unsupported("function", `the function ${request.getTok()}`)),
      call: refuse((request: ResourceCallRequest) => unsupported("method", `the method ${request.getTok()}`)),
      readResource: refuse((request: ReadResourceRequest) =>
        request.getType() === stackReferenceType
          ? unsupported("stack reference", "a stack reference")
          : unsupported("read", `reading ${request.getType()} "${request.getName()}", which exists already,`),
      ),
      existsResource: refuse(() => unsupported("read", "looking up a resource that exists already")),
      registerStackTransform: refuse(() => unsupported("transform", "a transform of the stack")),
      registerStackInvokeTransform: refuse(() => unsupported("transform", "a transform of invokes")),
      registerResourceHook: refuse(() => unsupported("hook", "a resource hook")),
      registerErrorHook: refuse(() => unsupported("hook", "an error hook")),
      registerPackage: refuse((request: RegisterPackageRequest) =>
        unsupported("package", `the package ${request.getName()}`),
      ),
    };
  }

  async #register(request: RegisterResourceRequest) {
    const registration = this.#parsed(() => this.#read(request));
    const { urn, id, outputs, isUnknown = false } = await this.#handler.register(registration);
    const response = new resourceMessages.RegisterResourceResponse()
      .setUrn(urn)
      .setId(id)
      .setObject(writeProperties(outputs, toProgram));
    // Older SDKs have no such field, and do not know that a resource was left out.
    return "setUnknown" in response ? response.setUnknown(isUnknown) : response;
  }

  /** Reads a part of a request. A part that cannot be read fails the run, not only the request. */
  #parsed<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.#handler.fail(error);
    }
  }

  #read(request: RegisterResourceRequest): Registration {
    refuseOptions(request);
    // The SDK has an entry for each property.
    const propertyDependencies = Array.from(
      request.getPropertydependenciesMap().entries(),
      ([property, urns]): [string, string[]] => [property, [...new Set(urns.getUrnsList())]],
    );
    const replaces = request.getDeletebeforereplacedefined() || request.getDeletebeforereplace();
    return {
      type: request.getType(),
      name: request.getName(),
      parent: request.getParent(),
      custom: request.getCustom(),
      provider: request.getProvider(),
      inputs: readProperties(request.getObject()),
      dependencies: [...new Set(request.getDependenciesList())],
      propertyDependencies: Object.fromEntries(propertyDependencies),
      aliases: request.getAliasesList(),
      protect: request.hasProtect() ? request.getProtect() : undefined,
      retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
      deleteBeforeReplace: replaces ? request.getDeletebeforereplace() : undefined,
      deletedWith: request.getDeletedwith(),
      ignoreChanges: request.getIgnorechangesList(),
      replaceOnChanges: request.getReplaceonchangesList(),
      additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
      customTimeouts: readTimeouts(request.getCustomtimeouts()),
      sourcePosition: this.#position(request.getSourceposition()),
    };
  }

  /** Returns the place in the program that declares the resource, relative to the project, as the CLI writes it. */
  #position(position: SourcePosition | undefined): string {
    const uri = position?.getUri() ?? "";
    if (position === undefined || !uri.startsWith("file://")) return "";
    const column = position.getColumn() === 0 ? "" : `,${position.getColumn()}`;
    const path = relative(this.#projectRoot, fileURLToPath(uri)).replaceAll("\\", "/");
    return `project:///${encodeURI(path)}#${position.getLine()}${column}`;
  }
}

/** Fails, by name, on what only the real engine handles of a registration. */
function refuseOptions(request: RegisterResourceRequest): void {
  const used: [boolean, UnsupportedFeature, string][] = [
    [request.getRemote(), "remote component", "a component of another language"],
    [request.getImportid() !== "", "option", 'the option "import"'],
    [request.getTransformsList().length > 0, "option", 'the option "transforms"'],
    [request.getReplaceWithList().length > 0, "option", 'the option "replaceWith"'],
    [request.hasReplacementTrigger(), "option", 'the option "replacementTrigger"'],
    [request.getHidediffsList().length > 0, "option", 'the option "hideDiffs"'],
    [request.getEnvvarmappingsMap().getLength() > 0, "option", 'the option "envVarMappings"'],
    // The protocol of an older SDK, which the program may have, knows no such option.
    [
      "getStateMigrationsList" in request && request.getStateMigrationsList().length > 0,
      "option",
      'the option "stateMigrations"',
    ],
    [
      Object.values(request.getHooks()?.toObject() ?? {}).some((hooks) => Array.isArray(hooks) && hooks.length > 0),
      "option",
      'the option "hooks"',
    ],
    [
      request.getVersion() !== "" || request.getPlugindownloadurl() !== "" || request.getPackageref() !== "",
      "option",
      "a plugin version",
    ],
  ];
  for (const [isUsed, feature, what] of used)
    if (isUsed) throw unsupported(feature, `${what} of ${request.getType()} "${request.getName()}"`);
}

const secondsPer: { readonly [unit: string]: number } = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  ns: 1e-9,
};

/** Reads a duration as Go writes it ("1h30m"), in seconds. */
function readDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) {
    throw new EngineError("BAD_CALL", `"${text}" is not a duration: write it like "5m" or "1h30m"`);
  }
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (secondsPer[unit ?? ""] ?? 0), 0);
}

function readTimeouts(
  message: ReturnType<RegisterResourceRequest["getCustomtimeouts"]>,
): Registration["customTimeouts"] {
  const texts = {
    create: message?.getCreate(),
    update: message?.getUpdate(),
    delete: message?.getDelete(),
    read: message?.getRead(),
  };
  const given = Object.entries(texts).flatMap(([verb, text]) => (text ? [[verb, readDuration(text)] as const] : []));
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Makes a gRPC method of a function that gives a promise. What it throws becomes a status that the SDK can handle. */
function unary<Request, Response>(
  run: (request: Request) => Promise<Response>,
): grpc.handleUnaryCall<Request, Response> {
  return (call, callback) => {
    run(call.request).then(
      (response) => callback(null, response),
      (error: unknown) => {
        const code = error instanceof RunIsOver ? grpc.status.UNAVAILABLE : grpc.status.UNKNOWN;
        callback({ code, details: messageOf(error) });
      },
    );
  };
}
