import { EngineError } from "./errors.ts";

type When = "before the run" | "before the first write" | "when it is met";

/** Features that the local engine leaves to the Pulumi CLI, and when. docs/local-engine.md prints this table. */
export const unsupportedFeatures = {
  "command line": ["an option that only the CLI has, such as `--replace`", "before the run"],
  runtime: ["a program, or a policy pack, in another language than JavaScript or TypeScript", "before the run"],
  backend: ["a backend other than `file://`", "before the run"],
  "backend layout": ["a backend folder of another version than the CLI writes today", "before the run"],
  "compressed state": ["a state file that is compressed (`.gz`, `.zst`)", "before the run"],
  "state version": ["a state file of another version than 3", "before the run"],
  "secrets provider": ["a secrets provider other than the passphrase", "before the run"],
  "import file": [
    "anything in an import file but `resources` with `type`, `name`, `id`, `inputs`, `outputs`, `parent` and `protect`",
    "before the run",
  ],
  environment: [
    "a Pulumi ESC environment (`environment` in the stack file, `environments` in the configuration of a policy pack)",
    "before the run",
  ],
  "resource in state": ["a resource in state that is neither dynamic nor a component", "before the run"],
  "value in state": ["an asset, an archive or another special value in state", "before the run"],
  "resource type": ["a resource of a provider package, such as `aws:s3/bucket:Bucket`", "before the first write"],
  provider: ["an explicit provider of a provider package, such as `pulumi:providers:aws`", "before the first write"],
  option: [
    "the options `import`, `transforms`, `replaceWith`, `replacementTrigger`, `hideDiffs`, `envVarMappings`, `stateMigrations`, `hooks`, `version` and `pluginDownloadURL`",
    "before the first write",
  ],
  "remote component": ["a component of another language or package", "before the first write"],
  transform: ["a transform of the stack or of invokes (`registerStackTransform`)", "before the first write"],
  hook: ["a resource hook or an error hook", "before the first write"],
  package: ["a parameterized package", "before the first write"],
  asset: ["an asset or an archive in a property", "before the first write"],
  "stack reference": ["a stack reference", "when it is met"],
  read: ["reading a resource that exists already (`.get`)", "when it is met"],
  function: ["a function of a provider package (`invoke`)", "when it is met"],
  method: ["a method of a component (`call`)", "when it is met"],
} as const satisfies { readonly [feature: string]: readonly [what: string, when: When] };

export type UnsupportedFeature = keyof typeof unsupportedFeatures;

/** Makes the refusal of something that the local engine leaves to the real one. `what` names what was met, and where. */
export function unsupported(_feature: UnsupportedFeature, what: string, urn?: string): EngineError {
  return new EngineError("UNSUPPORTED", `${what} is not handled by the local engine: install the Pulumi CLI`, { urn });
}

export function unsupportedTable(): string {
  const rows = Object.values(unsupportedFeatures).map(([what, when]) => `| ${what} | ${when} |`);
  return ["| What | Refused |", "|---|---|", ...rows, ""].join("\n");
}
