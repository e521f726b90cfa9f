import { type Contract, definitionChecker } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { readTextFile, YamlDocument } from "../../sdk/files/yaml-document.ts";
import { isJson, isJsonObject, type JsonObject, valueAt, withFieldAt } from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";

/** The name of the first rule, and of its file. */
export const firstName = "large-amounts";

const illustrative: JsonObject = {
  name: firstName,
  priority: 100,
  conditions: [{ field: "amount", operator: "gt", value: 10_000 }],
  actions: [{ type: "decline" }],
};

/**
 * Chooses the rule that a new project begins with: the user's, or an illustrative one.
 * @throws MerchantRulesError SETTINGS_INVALID: the file has no rule; RULE_INVALID: the contract's schema refuses it
 */
export function firstRule(contract: Contract, file: string | undefined): JsonObject {
  const rule = withKey(file === undefined ? illustrative : ruleIn(file), contract);
  const { schema } = contract.rule;
  const [fault] = schema === null ? [] : definitionChecker(schema)(rule);
  if (fault === undefined) return rule;
  const what = file === undefined ? "the illustrative rule" : `the rule of ${file}`;
  const place = fault.path.length === 0 ? "" : ` at ${fault.path.join(".")}`;
  throw new MerchantRulesError(
    "RULE_INVALID",
    printable(`the contract's rule.schema refuses ${what}${place}: ${fault.reason}`),
    {
      attempted: "write a project",
      advice: "put a rule that your service takes into a file, and name it with --definition",
    },
  );
}

/** Gives a rule its natural key, where it lacks one. */
function withKey(rule: JsonObject, { rule: { naturalKey } }: Contract): JsonObject {
  if (naturalKey === null || valueAt(rule, naturalKey) !== undefined) return rule;
  return withFieldAt(rule, naturalKey, firstName);
}

function ruleIn(file: string): JsonObject {
  const refused = (reason: string): MerchantRulesError =>
    new MerchantRulesError("SETTINGS_INVALID", reason, {
      attempted: `read the rule of ${file}`,
      advice: "name a JSON or YAML file that holds one rule, an object",
    });
  const read = readTextFile(file);
  if ("fault" in read) throw refused(`it ${read.fault.what}`);
  const parsed = new YamlDocument(read.text).read();
  if ("fault" in parsed) throw refused(`line ${parsed.fault.line} ${printable(parsed.fault.what, 200)}`);
  const { value } = parsed;
  if (!isJson(value) || !isJsonObject(value)) throw refused("it holds no object");
  return value;
}
