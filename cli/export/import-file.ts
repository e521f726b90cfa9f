import { createHash } from "node:crypto";
import type { KnownRule } from "../../provider/decide/plan.ts";
import { connectionType, ownerName, ownerType } from "../../provider/host/types.ts";
import { ownerOf } from "../../provider/merchant/mark.ts";
import { type Link, linkText, type Site } from "../../provider/merchant/site.ts";
import { MerchantRule } from "../../provider/resources/merchant-rule.ts";
import { MerchantRuleSet } from "../../provider/resources/merchant-rule-set.ts";
import { providerSource } from "../../provider/resources/provider-source.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { linkField, ownerField, providerField } from "../../provider/state/names.ts";
import { type ResourceShape, ruleShape, setShape } from "../../provider/state/shape.ts";
import { stateVersion, writeInputs, writeState } from "../../provider/state/state.ts";
import { asWritten, canonical, defined, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { secretSignature, signatureKey } from "../../stack/values/wire.ts";
import type { ExportedRule } from "./exported-rule.ts";
import { areTexts, setName } from "./program.ts";
import { withSecretsAs } from "./secrets.ts";

/** The stack whose state the rules go into, and what this state says of them. */
export interface ImportInto {
  readonly project: string;
  readonly stack: string;
  readonly connection: string | undefined;
  /** What all rules take from Owner and connection. */
  readonly link: Link;
  /** Where the rules were read, so that a run knows the place again without a request. */
  readonly site: Site;
  /** True where the state has no Owner yet. */
  readonly isOwnerNew: boolean;
  /** What the connection says to people; undefined where the state has the connection already. */
  readonly made: ImportedConnection | undefined;
  /** Encrypts a string as the stack's state keeps secrets; undefined where that cannot be done. */
  readonly encrypt: ((text: string) => string) | undefined;
}

/** A connection as its hooks would have made it. */
interface ImportedConnection {
  /** The inputs that show people where it leads. */
  readonly shown: JsonObject;
  readonly identity: string | undefined;
}

/** The rules as entries for `pulumi import --file`, with the inputs and outputs that the hooks would have written. */
export interface ImportFile {
  readonly text: string;
  /** True where a rule is in it. One with secrets that cannot be encrypted is not: the file would show them. */
  readonly covers: (rule: ExportedRule) => boolean;
}

/** Makes the import file for rules of which each is a resource. */
export function importOfRules(rules: readonly ExportedRule[], into: ImportInto): ImportFile {
  const covers = ({ secrets }: ExportedRule): boolean => secrets.length === 0 || into.encrypt !== undefined;
  const entries = rules.filter(covers).map((rule) => {
    const type = MerchantRule.__pulumiType;
    return { type, name: rule.key, id: rule.ruleId, ...stored(ruleShape, rule.key, new Map([["", rule]]), into) };
  });
  return { text: fileOf(entries, into), covers };
}

/** Makes the import file for rules that one set holds: it covers all of them, or none. */
export function importOfSet(rules: readonly ExportedRule[], into: ImportInto): ImportFile {
  const isCovered = into.encrypt !== undefined || rules.every(({ secrets }) => secrets.length === 0);
  const known = new Map(rules.map((rule) => [rule.key, rule]));
  const about = [into.project, into.stack, setName, into.connection ?? ""];
  // An id of the state alone; the same for the same set, so that the same rules give the same file.
  const hash = createHash("sha256").update(JSON.stringify(about)).digest("hex");
  const id = `set-${hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5")}`;
  const type = MerchantRuleSet.__pulumiType;
  const entries = isCovered ? [{ type, name: setName, id, ...stored(setShape, setName, known, into) }] : [];
  return { text: fileOf(entries, into), covers: () => isCovered };
}

function fileOf(entries: readonly object[], into: ImportInto): string {
  if (entries.length === 0) return "";
  const resources = [...ownerEntry(into), ...connectionEntry(into), ...entries];
  return `${JSON.stringify({ resources }, null, 2)}\n`;
}

/** Returns the entry of the Owner, where the state has none yet. It comes first: all else holds its id. */
function ownerEntry({ isOwnerNew, link: { ownerId, names } }: ImportInto): object[] {
  if (!isOwnerNew) return [];
  const inputs = { names, [providerField]: providerSource("owner") };
  return [{ type: ownerType, name: ownerName, id: ownerId, inputs, outputs: { ...inputs, stateVersion } }];
}

/** Returns the entry of the connection, where the state has none yet. It comes before the rules, which hold its link. */
function connectionEntry({ made, link, project, stack, connection = defaultConnection }: ImportInto): object[] {
  if (made === undefined) return [];
  const { shown, identity } = made;
  const inputs = {
    connection,
    owner: link.ownerId,
    ownerNames: link.names,
    names: `${project}/${stack}`,
    ...shown,
    [providerField]: providerSource("connection"),
  };
  const outputs = defined({ ...inputs, link: linkText(link), identity, stateVersion });
  return [{ type: connectionType, name: connection, id: connection, inputs, outputs }];
}

/** Returns inputs and outputs of a resource, as its hooks write them. */
function stored(shape: ResourceShape, name: string, rules: ReadonlyMap<string, ExportedRule>, into: ImportInto) {
  const { project, stack, connection, link, site, encrypt } = into;
  const owner = ownerOf(project, stack, name);
  const from: JsonObject = {
    ...defined({ connection }),
    [providerField]: providerSource(shape.isRule ? "merchantRule" : "merchantRuleSet"),
    [ownerField]: { [owner]: null },
    [linkField]: linkText(link),
    ...(!shape.isRule && areTexts([...rules]) && { rules: textsOf(rules) }),
  };
  const known = new Map(
    [...rules].map(([key, { ruleId, definition }]): [string, KnownRule] => [key, { ruleId, definition, site }]),
  );
  // Each secret once for the inputs and once for the outputs, as the engine does.
  const encrypted = (properties: JsonObject): JsonObject => {
    if (encrypt === undefined) return properties;
    const secret = (value: Json): Json => ({
      [signatureKey]: secretSignature,
      ciphertext: encrypt(JSON.stringify(value)),
    });
    const written = shape.entries(properties[shape.field] ?? {});
    const definitions = [...rules].map(([key, { definition, secrets }]): [string, Json] => [
      key,
      secrets.length === 0 ? (written.get(key) ?? definition) : withSecretsAs(definition, secrets, secret),
    ]);
    return { ...properties, [shape.field]: shape.write(new Map(definitions)) };
  };
  return {
    inputs: encrypted(writeInputs(shape, known, from)),
    outputs: encrypted(writeState(shape, known, from)),
  };
}

function textsOf(rules: ReadonlyMap<string, ExportedRule>): JsonObject {
  return Object.fromEntries([...rules].map(([key, { definition }]) => [key, canonical(definition, asWritten)]));
}
