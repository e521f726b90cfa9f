import type {
  EnforcementLevel,
  PolicyConfigSchema,
  ResourceValidation,
  ResourceValidationPolicy,
  Severity,
  StackValidationPolicy,
} from "@pulumi/policy";
import { z } from "zod";
import { inPlainWords } from "../../sdk/files/described-file.ts";
import {
  isAtOrBelow,
  type Json,
  mapJson,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
} from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import { type AnalyzedResource, type AnalyzedRule, declaresRules, rulesOf } from "./analyzed-rule.ts";
import { pointers, strict } from "./configuration.ts";
import { plainError } from "./host.ts";
import { isSecretAt } from "./secrets.ts";

/** A finding about the one rule that was asked about. The message reads: `key: /pointer: found X, allowed Y`. */
export type RuleFinding = {
  /** The place in the definition; "" for the rule as a whole. */
  readonly pointer: Pointer;
  /** The allowed values, in words. */
  readonly allowed: string;
} & (
  | FoundValue
  | {
      /** The value, in words that do not hold it. */
      readonly found: string;
    }
);

interface FoundValue {
  /** The value that is there. It is shown as JSON, unless the configuration says that it is secret. */
  readonly value: Json;
  /** Words that follow it: `found X, which rule "other" has too, allowed Y`. */
  readonly remark?: string;
}

/** A fault of a rule. */
export type PolicyFinding = RuleFinding & {
  /** The rule; in words where the stack declares none. It is shown at the rule's resource, or at the stack. */
  readonly rule: AnalyzedRule | string;
};

/** Returns a finding that is shown at the stack. */
export function ofStack(found: string, allowed: string, rule = "the stack"): PolicyFinding {
  return { rule, pointer: "", found, allowed };
}

export interface PolicyOptions<Shape extends z.core.$ZodLooseShape> {
  /** Lower case with hyphens; the name by which it is configured. */
  readonly name: string;
  /** One sentence; it stands above every violation. */
  readonly description: string;
  /** Default: mandatory. */
  readonly enforcementLevel?: EnforcementLevel;
  readonly severity?: Severity;
  /** The options of a team, by zod. Every field needs a default and a description. */
  readonly config: Shape;
  /** The reason why a configuration leaves nothing to check; undefined when there is something. */
  readonly idle?: (config: PolicyConfig<Shape>) => string | undefined;
  /** The conflict of fields that are right one by one; undefined when there is none. */
  readonly conflict?: (config: PolicyConfig<Shape>) => string | undefined;
  /** Takes what nobody may read out of the names in messages: keys, resources, and fields on the way to a value. */
  readonly redact?: (name: string) => string;
}

/** The fields of a policy's own configuration. */
export type PolicyConfig<Shape extends z.core.$ZodLooseShape> = z.infer<ReturnType<typeof strict<Shape>>>;

/** Returns a policy that checks one rule at a time. The engine runs it before it does anything with the resource. */
export function rulePolicy<Shape extends z.core.$ZodLooseShape>(
  policy: PolicyOptions<Shape> & {
    readonly check: (rule: AnalyzedRule, config: PolicyConfig<Shape>) => Iterable<RuleFinding>;
  },
): ResourceValidationPolicy & { readonly validateResource: ResourceValidation } {
  return resourcePolicy({
    ...policy,
    check: (rules, config) =>
      rules.flatMap((rule) => [...policy.check(rule, config)].map((found) => ({ ...found, rule }))),
  });
}

/** Returns a policy that checks all rules of one resource together. The engine runs it before it does anything with the resource. */
export function resourcePolicy<Shape extends z.core.$ZodLooseShape>(
  policy: PolicyOptions<Shape> & {
    readonly check: (rules: readonly AnalyzedRule[], config: PolicyConfig<Shape>) => Iterable<PolicyFinding>;
  },
): ResourceValidationPolicy & { readonly validateResource: ResourceValidation } {
  const { parse, redact, ...description } = described(policy);
  return {
    ...description,
    validateResource(args, report) {
      if (!declaresRules(args)) return args.notApplicable("it is about rules");
      const { config, secret } = parse(args.getConfig());
      const reason = policy.idle?.(config);
      if (reason !== undefined) return args.notApplicable(reason);
      const rules = rulesOf(args);
      reportAll([...policy.check(rules, config)], secret, redact, (message) => report(message));
      noteUnknown(rules, redact);
    },
  };
}

/**
 * Returns a policy that checks all rules of the stack together. The engine runs it at the end of a preview, and of an `up`
 * when everything is done: so it stops an `up` only by the preview before.
 */
export function stackPolicy<Shape extends z.core.$ZodLooseShape>(
  policy: PolicyOptions<Shape> & {
    readonly check: (
      rules: readonly AnalyzedRule[],
      config: PolicyConfig<Shape>,
      /** The resources that declare them, those without any rule too. */
      resources: readonly AnalyzedResource[],
      /** Pointers to values that messages leave out. */
      secret: readonly Pointer[],
    ) => Iterable<PolicyFinding> | AsyncIterable<PolicyFinding>;
  },
): StackValidationPolicy {
  const { parse, redact, ...description } = described(policy);
  return {
    ...description,
    async validateStack(args, report) {
      const { config, secret } = parse(args.getConfig());
      const reason = policy.idle?.(config);
      if (reason !== undefined) return args.notApplicable(reason);
      // The engine has them in no order, and a message should not change from run to run.
      const resources = args.resources.filter(declaresRules).sort((a, b) => (a.urn < b.urn ? -1 : 1));
      const rules = resources.flatMap(rulesOf);
      const findings: PolicyFinding[] = [];
      for await (const finding of policy.check(rules, config, resources, secret)) findings.push(finding);
      reportAll(findings, secret, redact, report);
      noteUnknown(rules, redact);
    },
  };
}

/** So many violations of one policy are reported one by one; more help nobody. */
const mostTold = 50;

/** So much of a value is shown. */
const longest = 80;

function reportAll(
  findings: readonly PolicyFinding[],
  secret: readonly Pointer[],
  redact: (name: string) => string,
  report: (message: string, urn: string | undefined) => void,
): void {
  for (const [index, finding] of findings.slice(0, mostTold + 1).entries()) {
    const left = findings.length - mostTold;
    const message = index < mostTold ? messageOf(finding, secret, redact) : `… and ${left} more of these`;
    report(message, typeof finding.rule === "string" ? undefined : finding.rule.resource.urn);
  }
}

function messageOf(finding: PolicyFinding, secret: readonly Pointer[], redact: (name: string) => string): string {
  const { rule, pointer, allowed } = finding;
  const found = "found" in finding ? finding.found : foundAt(finding, secret);
  const place = placeOf(typeof rule === "string" ? rule : rule.label, pointer, redact);
  return printable(`${place}: found ${found}, allowed ${allowed}`);
}

/** Returns the place of a finding in words. Each name is redacted by itself: escapes in a pointer can hide what a name is. */
function placeOf(label: string, pointer: Pointer, redact: (name: string) => string): string {
  const rule = redact(label);
  if (pointer === "") return rule;
  return `${rule}: ${pointer.startsWith("/") ? pointerOf(segmentsOf(pointer).map(redact)) : pointer}`;
}

function foundAt({ rule, pointer, value, remark }: PolicyFinding & FoundValue, secret: readonly Pointer[]): string {
  // Without secrets; where these are unknown, without strings.
  const masked = (each: Json, path: Path): Json | undefined => {
    if (secret.some((pattern) => isAtOrBelow(path, pattern))) return secretMark;
    const isSecret = typeof rule === "string" ? undefined : isSecretAt(rule, path);
    if (isSecret === true) return secretMark;
    return isSecret === undefined && typeof each === "string" ? textMark : undefined;
  };
  const seen = mapJson(value, masked, segmentsOf(pointer));
  const text = seen === secretMark || seen === textMark ? seen : shown(seen);
  return remark === undefined ? text : `${text}, ${remark}`;
}

const secretMark = "[secret]";

/** Stands for a string that may be a secret. */
const textMark = "[text]";

/** Returns a value as messages show it: JSON of at most 80 characters. */
export function shown(value: Json): string {
  return printable(JSON.stringify(value), longest);
}

/**
 * Throws the error that the policy host shows as a note, where rules have noted unknown values. All findings are reported by
 * then, and everything known was checked.
 */
function noteUnknown(rules: readonly AnalyzedRule[], redact: (name: string) => string): void {
  const notes = rules.flatMap((rule) => rule.notes.map((note) => ({ label: rule.label, ...note })));
  const [first] = notes;
  if (first === undefined) return;
  const places = notes.slice(0, mostTold).map(({ label, pointer }) => placeOf(label, pointer, redact));
  const more = notes.length > mostTold ? ` and ${notes.length - mostTold} more` : "";
  first.error.message = `not known before the run, so not checked: ${printable(places.join(", "))}${more}`;
  throw first.error;
}

/** Returns the parts of every policy, and `parse`, which checks the configuration that the policy host gives. */
export function described<Shape extends z.core.$ZodLooseShape>({
  name,
  description,
  enforcementLevel = "mandatory",
  severity = "high",
  config: shape,
  conflict,
  redact = (name) => name,
}: PolicyOptions<Shape>) {
  const own = strict(shape, Object.keys(shared));
  const configSchema = configSchemaOf(z.strictObject({ ...shape, ...shared }));
  const parse = oncePerConfiguration((given: object) => {
    const { secret, ...fields } = { secret: [], ...given };
    const [config, common] = [own.safeParse(fields), z.strictObject(shared).safeParse({ secret })];
    const faults = [config, common].flatMap(({ error }) =>
      error === undefined ? [] : [z.prettifyError(inPlainWords(error))],
    );
    if (!config.success || !common.success) throw wrongConfiguration(name, faults.join("\n"));
    const reason = conflict?.(config.data);
    if (reason !== undefined) throw wrongConfiguration(name, `✖ ${reason}`);
    return { config: config.data, secret: common.data.secret };
  });
  return { name, description, enforcementLevel, severity, configSchema, parse, redact };
}

/** The options of every policy. */
const shared = { secret: pointers.default([]).describe("Pointers to values that messages leave out") };

/**
 * Returns a parser that keeps its last result: 10,000 resources have one configuration. The policy host gives a new object for each resource,
 * with the same values in it until the pack is configured anew.
 */
function oncePerConfiguration<Result>(parse: (given: object) => Result): (given: object) => Result {
  let last: { readonly fields: ReadonlyMap<string, unknown>; readonly result: Result } | undefined;
  return (given) => {
    const fields = new Map<string, unknown>(Object.entries(given));
    const isSame = (known: ReadonlyMap<string, unknown>) =>
      known.size === fields.size && [...fields].every(([key, value]) => known.has(key) && known.get(key) === value);
    if (last === undefined || !isSame(last.fields)) last = { fields, result: parse(given) };
    return last.result;
  };
}

/** Returns the schema in the form in which the engine fills in defaults and validates `--policy-pack-config`. */
function configSchemaOf(schema: z.ZodObject): PolicyConfigSchema {
  const { properties = {} } = z.toJSONSchema(schema, { io: "input", target: "draft-7" });
  return { properties: JSON.parse(JSON.stringify(properties)) };
}

function wrongConfiguration(name: string, faults: string): Error {
  return plainError(
    `the configuration of ${name} is wrong.\n${faults}\nWhat to do: correct it in the file that --policy-pack-config names.`,
  );
}
