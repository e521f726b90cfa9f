import { stripVTControlCharacters } from "node:util";
import type * as grpc from "@grpc/grpc-js";
import analyzerServices from "@pulumi/pulumi/proto/analyzer_grpc_pb.js";
import type { AnalyzeDiagnostic, PolicyConfigSchema } from "@pulumi/pulumi/proto/analyzer_pb.js";
import messages from "@pulumi/pulumi/proto/analyzer_pb.js";
import emptyMessages from "google-protobuf/google/protobuf/empty_pb.js";
import structMessages from "google-protobuf/google/protobuf/struct_pb.js";
import { isJson, isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { EngineError } from "../../../stack/errors.ts";
import { type Config, secretKeysOf, textsOf } from "../../../stack/project/stack-config.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import type { PropertyMap } from "../../../stack/values/value.ts";
import { resolveSdkModule } from "../hosts/child.ts";
import { type Properties, readProperties } from "../hosts/grpc.ts";
import { Plugin } from "../hosts/plugin.ts";
import { messageOfLine } from "../hosts/program-output.ts";
import type { Severity } from "../hosts/registration.ts";
import { type Level, levels, type Violation } from "./findings.ts";
import type { Pack } from "./pack.ts";
import type { PackInfo, PolicyInfo, PolicySettings } from "./pack-info.ts";
import { described, type PolicyResource, stackResource, withoutInternal } from "./policy-messages.ts";

/** The run that a pack is asked in. Without one, as when a state is analyzed, a pack knows no stack and no configuration. */
export interface PolicyRun {
  readonly project: string;
  readonly stack: string;
  readonly config: Config;
  readonly preview: boolean;
}

interface PolicyHostOptions {
  readonly pack: Pack;
  readonly env: NodeJS.ProcessEnv;
  readonly run: PolicyRun | undefined;
  /** Gets what the pack logs and prints, once it has started. */
  readonly onOutput: (severity: Severity, message: string) => void;
}

/** The change that one policy made, or the reason why it could not. */
export type RemediationResult = Pick<Violation, "policy" | "pack" | "version"> & {
  readonly properties: PropertyMap;
  readonly problem: string;
};

const service = analyzerServices.AnalyzerService;
const { EnforcementLevel } = messages;

const levelNumbers = {
  advisory: EnforcementLevel.ADVISORY,
  mandatory: EnforcementLevel.MANDATORY,
  remediate: EnforcementLevel.REMEDIATE,
  disabled: EnforcementLevel.DISABLED,
} as const;

/** In the protocol's order. */
const severities = ["", "low", "medium", "high", "critical"];

/** The policy host of the Pulumi SDK with one pack, one process for one run. */
export class PolicyHost {
  readonly #pack: Pack;
  readonly #plugin: Plugin;
  readonly #onOutput: PolicyHostOptions["onOutput"];
  /** Output of the pack before it was ready: where it fails, the reason stands there. */
  #early: [severity: Severity, message: string][] | undefined = [];

  constructor({ pack, env, run, onOutput }: PolicyHostOptions) {
    this.#pack = pack;
    this.#onOutput = onOutput;
    const hear = (lines: readonly string[]): void => {
      for (const line of lines) this.#hear(...messageOfLine(line));
    };
    this.#plugin = new Plugin({
      script: scriptFor(pack),
      // The first word is the engine's address, which the host does not look at.
      args: ["127.0.0.1:0", pack.folder],
      cwd: pack.folder,
      env: { ...env, ...environmentOf(run) },
      onPrint: (line) => hear([line]),
      onStderr: hear,
      onEnd: () => {},
      startError: (how) => this.#startError(how),
    });
  }

  /** Resolves when the pack has started. */
  async info(): Promise<PackInfo> {
    const info = await this.#call("say what it is", service.getAnalyzerInfo, new emptyMessages.Empty());
    for (const said of this.#early ?? []) this.#onOutput(...said);
    this.#early = undefined;
    return {
      name: info.getName(),
      version: this.#pack.version ?? info.getVersion(),
      policies: info.getPoliciesList().map((policy) => ({
        name: policy.getName(),
        level: levelOf(policy.getEnforcementlevel()),
        schema: schemaOf(policy.getConfigschema()),
      })),
      settings: new Map(
        Array.from(info.getInitialconfigMap().entries(), ([name, config]) => [
          name,
          { level: levelOf(config.getEnforcementlevel()), properties: readObject(config.getProperties()) },
        ]),
      ),
    };
  }

  async configure(settings: PolicySettings, run: PolicyRun | undefined): Promise<void> {
    const request = new messages.ConfigureAnalyzerRequest();
    for (const [name, { level, properties }] of settings) {
      const config = new messages.PolicyConfig().setProperties(structMessages.Struct.fromJavaScript(properties));
      request
        .getPolicyconfigMap()
        .set(name, level === undefined ? config : config.setEnforcementlevel(levelNumbers[level]));
    }
    await this.#call("take its configuration", service.configure, request);
    if (run === undefined) return;
    const { project, stack, config, preview } = run;
    const about = new messages.AnalyzerStackConfigureRequest()
      .setOrganization("organization")
      .setProject(project)
      .setStack(stack)
      .setDryRun(preview)
      .setConfigSecretKeysList(secretKeysOf(config));
    for (const [key, { text }] of config) about.getConfigMap().set(key, text);
    await this.#call("take the stack's configuration", service.configureStack, about);
  }

  async remediate(resource: PolicyResource): Promise<RemediationResult[]> {
    const { urn } = resource.state;
    const request = described(new messages.AnalyzeRequest(), resource, resource.properties);
    const response = await this.#call(`remediate ${parseUrn(urn).name}`, service.remediate, request, urn);
    return response.getRemediationsList().map((remediation) => ({
      policy: remediation.getPolicyname(),
      pack: remediation.getPolicypackname(),
      version: this.#pack.version ?? remediation.getPolicypackversion(),
      properties: readProperties(remediation.getProperties()),
      problem: remediation.getDiagnostic(),
    }));
  }

  async analyze(resource: PolicyResource): Promise<Violation[]> {
    const { urn } = resource.state;
    const request = described(new messages.AnalyzeRequest(), resource, withoutInternal(resource.properties));
    const response = await this.#call(`analyze ${parseUrn(urn).name}`, service.analyze, request, urn);
    return response.getDiagnosticsList().map((diagnostic) => this.#violation(diagnostic, () => urn));
  }

  /** Lets policies look at the whole stack. Violations that name no resource of it are the stack's own. */
  async analyzeStack(resources: readonly PolicyResource[], stackUrn: string): Promise<Violation[]> {
    const known = new Set(resources.map(({ state }) => state.urn));
    const request = new messages.AnalyzeStackRequest().setResourcesList(resources.map(stackResource));
    const response = await this.#call("analyze the stack", service.analyzeStack, request);
    return response
      .getDiagnosticsList()
      .map((diagnostic) => this.#violation(diagnostic, (urn) => (known.has(urn) ? urn : stackUrn)));
  }

  async stop(): Promise<void> {
    await this.#plugin.stop();
  }

  kill(): void {
    this.#plugin.kill();
  }

  #hear(severity: Severity, message: string): void {
    if (this.#early === undefined) this.#onOutput(severity, message);
    else this.#early.push([severity, message]);
  }

  #startError(how: string): EngineError {
    const said = (this.#early ?? []).map(([, message]) => message).join("\n");
    // The SDK says first which program failed, and after the error where in the code.
    const reason = withoutTrace(said.replace(/^Running program '.*' failed with an unhandled exception:\s*/, ""));
    const isMissing = /Cannot find module '@pulumi\/policy'/.test(reason);
    const advice = isMissing ? `run npm install in ${this.#pack.folder}` : "fix the pack, then run this again";
    const why = reason === "" ? "it said nothing; a pack is a program that makes a PolicyPack" : reason;
    return new EngineError(
      "POLICY_PACK",
      `the policy pack in ${this.#pack.shown} ${how}: ${why}\nWhat to do: ${advice}`,
    );
  }

  #violation(diagnostic: AnalyzeDiagnostic, urnOf: (urn: string) => string): Violation {
    return {
      policy: diagnostic.getPolicyname(),
      pack: diagnostic.getPolicypackname(),
      version: this.#pack.version ?? diagnostic.getPolicypackversion(),
      urn: urnOf(diagnostic.getUrn()),
      // One that should have been remediated, and is not, is mandatory.
      level: levelOf(diagnostic.getEnforcementlevel()) === "advisory" ? "advisory" : "mandatory",
      severity: severities[diagnostic.getSeverity()] ?? "",
      message: diagnostic.getMessage().trimEnd(),
    };
  }

  async #call<Request, Response>(
    verb: string,
    method: grpc.MethodDefinition<Request, Response>,
    request: Request,
    urn?: string,
  ): Promise<Response> {
    const { shown } = this.#pack;
    return await this.#plugin.call(method, request, {
      lost: (how) =>
        new EngineError("POLICY_PACK", `the policy pack in ${shown} ended when it was to ${verb} (${how})`, { urn }),
      returned: ({ details }) =>
        new EngineError(
          "POLICY_PACK",
          `the policy pack in ${shown} failed to ${verb}: ${withoutTrace(details)}\nWhat to do: fix the policy, or disable it in the pack's configuration`,
          { urn },
        ),
    });
  }
}

function scriptFor({ folder, shown }: Pack): string {
  try {
    return resolveSdkModule("cmd/run-policy-pack", folder);
  } catch (cause) {
    throw new EngineError(
      "POLICY_PACK",
      `the policy pack in ${shown} cannot be started: @pulumi/policy is not installed for it\nWhat to do: run npm install in ${folder}`,
      { cause },
    );
  }
}

/** Returns the variables that Pulumi's language host sets for a pack. */
function environmentOf(run: PolicyRun | undefined): NodeJS.ProcessEnv {
  if (run === undefined) return {};
  return {
    PULUMI_NODEJS_ORGANIZATION: "organization",
    PULUMI_NODEJS_PROJECT: run.project,
    PULUMI_NODEJS_STACK: run.stack,
    PULUMI_NODEJS_DRY_RUN: String(run.preview),
    PULUMI_CONFIG: JSON.stringify(textsOf(run.config)),
  };
}

function levelOf(number: messages.EnforcementLevel): Level {
  const found = levels.find((level) => levelNumbers[level] === number);
  if (found === undefined) throw new EngineError("POLICY_PACK", `there is no enforcement level ${number}`);
  return found;
}

function schemaOf(schema: PolicyConfigSchema | undefined): PolicyInfo["schema"] {
  return schema && { properties: readObject(schema.getProperties()), required: schema.getRequiredList() };
}

function readObject(struct: Properties): JsonObject {
  const found: unknown = struct?.toJavaScript() ?? {};
  if (!isJson(found) || !isJsonObject(found)) throw new EngineError("POLICY_PACK", "a configuration is not JSON");
  return found;
}

/** Returns a string up to the first line of a stack trace. */
function withoutTrace(text: string): string {
  const lines = stripVTControlCharacters(text).split("\n");
  const trace = lines.findIndex((line) => /^\s+at /.test(line));
  return (trace < 0 ? lines : lines.slice(0, trace)).join("\n").trim();
}
