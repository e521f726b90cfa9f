import { isJsonArray, isJsonObject, type Json, type Path, pathOf } from "../../sdk/json/index.ts";
import type { ExportedRule } from "./exported-rule.ts";
import type { ExportedSecret } from "./secrets.ts";

/** The parts of a program. */
export interface ProgramParts {
  readonly rules: readonly ExportedRule[];
  readonly secrets: readonly ExportedSecret[];
  readonly connection: string | undefined;
}

/** A set with more rules is declared as texts, which take the engine a fraction of the time. */
const mostObjects = 1000;

/** Decides whether a set of exported rules declares them as JSON texts, but for those with secrets. */
export function areTexts(rules: { readonly length: number }): boolean {
  return rules.length > mostObjects;
}

/** The name of the set that holds exported rules. */
export const setName = "rules";

/**
 * Writes a program of one set, whose rules are in files.
 * @param folder the path of the rules' folder, from the folder of Pulumi.yaml
 * @param adopt what the set is to say of taking rules over; undefined: nothing
 */
export function setProgram(
  { rules, secrets, connection }: ProgramParts,
  folder: string,
  adopt: true | Readonly<Record<string, string>> | undefined,
): string {
  const asTexts = areTexts(rules);
  const load =
    secrets.length === 0
      ? `loadRules(${JSON.stringify(folder)}${asTexts ? ', { as: "texts" }' : ""})`
      : `loadRules<any>(${JSON.stringify(folder)})`;
  const put = secrets.map(({ rule, path, value, configKey }) => {
    const place = pathOf(path, `definitions[${JSON.stringify(rule.key)}]`);
    return `${place} = ${fromConfig(value, configKey)};`;
  });
  const declared = [
    `  rules: ${secrets.length === 0 ? load : asTexts ? "ruleTexts(definitions)" : "definitions"},`,
    ...(connection === undefined ? [] : [`  connection: ${JSON.stringify(connection)},`]),
    ...(adopt === undefined ? [] : [`  adopt: ${literal(adopt, [], () => "", 2)},`]),
  ];
  const lines = [
    ...(secrets.length === 0 ? [] : ['import * as pulumi from "@pulumi/pulumi";']),
    `import { ${jsonType(secrets)}loadRules, MerchantRuleSet${asTexts && secrets.length > 0 ? ", ruleTexts" : ""} } from "pulumi-merchant-rules";`,
    "",
    ...(secrets.length === 0
      ? []
      : [
          "// Secrets are not in the files: each comes from the stack's config.",
          "const config = new pulumi.Config();",
          `const definitions = ${load};`,
          ...put,
          "",
        ]),
    `new MerchantRuleSet(${JSON.stringify(setName)}, {`,
    ...declared,
    "});",
    "",
  ];
  return lines.join("\n");
}

/** Writes a program of one resource a rule. @param isAdopted whether a rule is to be taken over by `adopt` */
export function ruleProgram(
  { rules, secrets, connection }: ProgramParts,
  isAdopted: (rule: ExportedRule) => boolean,
): string {
  const byRule = Map.groupBy(secrets, ({ rule }) => rule);
  const resources = rules.map((rule) => {
    const own = byRule.get(rule) ?? [];
    const put = (path: Path): string | undefined => {
      const secret = own.find((each) => isSame(each.path, path));
      return secret === undefined ? undefined : fromConfig(secret.value, secret.configKey);
    };
    return [
      `new MerchantRule(${JSON.stringify(rule.key)}, {`,
      `  definition: ${literal(rule.definition, [], put, 2)},`,
      ...(connection === undefined ? [] : [`  connection: ${JSON.stringify(connection)},`]),
      ...(isAdopted(rule) ? [`  adopt: ${JSON.stringify(rule.ruleId)},`] : []),
      "});",
      "",
    ].join("\n");
  });
  const lines = [
    ...(secrets.length === 0 ? [] : ['import * as pulumi from "@pulumi/pulumi";']),
    `import { ${jsonType(secrets)}MerchantRule } from "pulumi-merchant-rules";`,
    "",
    ...(secrets.length === 0 ? [] : ["const config = new pulumi.Config();", ""]),
  ];
  return `${lines.join("\n")}\n${resources.join("\n")}`;
}

function jsonType(secrets: readonly ExportedSecret[]): string {
  return secrets.some(({ value }) => typeof value === "object") ? "type Json, " : "";
}

function isSame(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((key, depth) => key === other[depth]);
}

/** Returns the expression that reads a value from the stack's config, with the value's type. */
function fromConfig(value: Json, key: string): string {
  const name = JSON.stringify(key);
  if (typeof value === "string") return `config.requireSecret(${name})`;
  if (typeof value === "number") return `config.requireSecretNumber(${name})`;
  if (typeof value === "boolean") return `config.requireSecretBoolean(${name})`;
  return `config.requireSecretObject<Json>(${name})`;
}

const widest = 120;

/** Writes a JSON value as an expression of TypeScript. `put` gives what stands at a path instead of the value. */
function literal(value: Json, path: Path, put: (path: Path) => string | undefined, indent: number): string {
  const expression = put(path);
  if (expression) return expression;
  if (!isJsonArray(value) && !isJsonObject(value)) return JSON.stringify(value);
  const children = isJsonArray(value)
    ? value.map((child, index) => literal(child, [...path, index], put, indent + 2))
    : Object.entries(value).map(
        ([name, child]) => `${fieldName(name)}: ${literal(child, [...path, name], put, indent + 2)}`,
      );
  const [open, close] = isJsonArray(value) ? ["[", "]"] : ["{", "}"];
  if (children.length === 0) return open + close;
  const pad = isJsonArray(value) ? "" : " ";
  const inline = `${open}${pad}${children.join(", ")}${pad}${close}`;
  if (path.length > 0 && inline.length + indent < widest && !inline.includes("\n")) return inline;
  const inner = " ".repeat(indent + 2);
  return `${open}\n${children.map((child) => `${inner}${child},\n`).join("")}${" ".repeat(indent)}${close}`;
}

/** Returns the name as a literal has it: `__proto__: …` there would set the prototype, and `["__proto__"]` sets a field. */
function fieldName(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
