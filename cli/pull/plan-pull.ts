import { join, resolve } from "node:path";
import type { ChangedRule, DeclaredRule, Drift, DriftedPath } from "../../report/drift/drift.ts";
import type { UnmanagedRule } from "../../report/drift/unmanaged-rules.ts";
import type { RulePattern } from "../../report/files/rule-pattern.ts";
import type { DeclaredPlaces, ReadFolder } from "../../report/files/rule-places.ts";
import type { RuleName } from "../../report/state/state-resource.ts";
import { editedRuleText } from "../../sdk/files/edit-rule-text.ts";
import { readTextFile } from "../../sdk/files/yaml-document.ts";
import {
  contains,
  hidden,
  hiddenOther,
  isJsonObject,
  isMask,
  type Json,
  type JsonObject,
  type Pointer,
  pathOf,
} from "../../sdk/json/index.ts";
import { namesOf } from "../export/names.ts";
import { ruleFile } from "../export/rule-file.ts";
import { namelessAt, whyNotDeclarable } from "../export/rules.ts";
import { changedContents } from "./content.ts";
import { type FileChange, reasonToRefuse } from "./write.ts";

/** What is to be done about one rule. */
export interface Pulled {
  /** `by hand`: nothing here can do it; `leave out`: an overlay says that the rule is not there. */
  readonly verb: "change" | "remove" | "leave out" | "add" | "by hand";
  readonly name: string;
  /** Where: a file, or the resource; why, of what is to be done by hand. */
  readonly about: readonly string[];
  readonly differences: readonly DriftedPath[];
  readonly files: readonly FileChange[];
  readonly ruleId?: string | undefined;
  /** The key of an added rule. */
  readonly key?: string;
}

/** What a pull is asked to take. */
export interface PullSelection {
  /** Rules of the stack with such names; empty: all. */
  readonly include: readonly RulePattern[];
  /** Unmanaged rules with such names; empty: none. */
  readonly unmanaged: readonly RulePattern[];
  /** The folder that gets the files of unmanaged rules; undefined where none, or no single one, is named. */
  readonly into: ReadFolder | undefined;
}

/** Plans what takes live values into the rule files, rule by rule. Reads files, and writes nothing. */
export function planPull(drift: Drift, places: DeclaredPlaces | undefined, selection: PullSelection): Pulled[] {
  const isChosen = ({ naturalKey, key, ruleId, resource }: RuleName): boolean =>
    selection.include.length === 0 ||
    selection.include.some((matches) => matches({ ruleId: ruleId ?? "", naturalKey: naturalKey ?? key ?? resource }));
  const chosen = drift.unmanaged.filter((rule) => selection.unmanaged.some((matches) => matches(rule)));
  return [
    ...drift.missing.filter(isChosen).map((rule) => missing(rule, places)),
    ...drift.changed.filter(isChosen).flatMap((rule) => changed(rule, places)),
    ...added(chosen, selection.into),
  ];
}

/** Counts the rules in the files that the stack's state does not know. */
export function unmadeIn({ same, changed, missing }: Drift, places: DeclaredPlaces | undefined): number {
  const names = [same, changed, missing].flat().map(({ resource, key }) => ({
    resource: resource.replace(/^\S+ /, ""),
    key: key?.normalize("NFC"),
  }));
  const keysOf = (wanted: string | undefined): Set<string> =>
    new Set(
      names.flatMap(({ resource, key = resource }) => (wanted === undefined || wanted === resource ? [key] : [])),
    );
  const unmade = (places?.folders ?? []).flatMap(({ resource, folder, overlay, rules }) => {
    const known = keysOf(resource);
    return [...rules.keys()].flatMap((key) => (known.has(key) ? [] : [JSON.stringify([folder, overlay, key])]));
  });
  return new Set(unmade).size;
}

function changed(rule: ChangedRule, places: DeclaredPlaces | undefined): Pulled[] {
  const secret = rule.differences.filter(isSecret);
  const plain = rule.differences.filter((each) => !isSecret(each));
  const hidden = byHand(rule, secret, "a secret never goes into a file: change it where the program has it from");
  if (rule.owner !== undefined)
    return [byHand(rule, rule.differences, `"${rule.owner}" manages it now, as its mark says`)];
  if (rule.lackedKey !== undefined) return [byHand(rule, rule.differences, nameless(rule.lackedKey))];
  return [
    ...(plain.length === 0 ? [] : [changedInFiles(rule, plain, places)]),
    ...(secret.length === 0 ? [] : [hidden]),
  ];
}

function changedInFiles(
  rule: ChangedRule,
  differences: readonly DriftedPath[],
  places: DeclaredPlaces | undefined,
): Pulled {
  const source = places?.sourceOf(rule);
  if (source === undefined) return byHand(rule, differences, notInFiles);
  const contents = changedContents(source, differences);
  if (typeof contents === "string") return byHand(rule, differences, contents);
  const why = [contents.base, contents.overlay].map((each) => whyNotDeclarable(each ?? {})).find(Boolean);
  if (why !== undefined) return byHand(rule, differences, why);
  const files: FileChange[] = [];
  for (const [file, folder, content] of [
    [source.base, source.folder.folder, contents.base],
    [source.overlay, source.folder.overlay ?? "", contents.overlay],
  ] as const) {
    if (file === undefined || content === undefined || content === file.content) continue;
    const refused = reasonToRefuse(file.file, folder) ?? sharedWith(file.file, rule, places);
    if (refused !== undefined) return byHand(rule, differences, refused);
    const read = readTextFile(resolve(file.file));
    if ("fault" in read) return byHand(rule, differences, `${file.file} ${read.fault.what}`);
    const after = editedRuleText(read.text, file.content, content, /\.json$/i.test(file.file));
    if (after === undefined)
      return byHand(rule, differences, `${file.file} says something by an anchor or a tag that would change with it`);
    files.push({ file: file.file, folder, before: read.text, after });
  }
  if (files.length === 0)
    return byHand(
      rule,
      differences,
      "the files say so already: run `pulumi up`, or see what the program makes of them",
    );
  return pulled("change", rule, files, differences);
}

function missing(rule: DeclaredRule, places: DeclaredPlaces | undefined): Pulled {
  if (rule.ruleId === undefined) return byHand(rule, [], "the last run did not make it: run `pulumi up`");
  const source = places?.sourceOf(rule);
  if (source === undefined) return byHand(rule, [], `it is missing at the service, and ${notInFiles}`);
  const { base, overlay, folder } = source;
  const own = overlay ?? base;
  if (own === undefined) return byHand(rule, [], notInFiles);
  const isLeftOut = folder.overlay !== undefined && base !== undefined;
  const ofOverlay = join(folder.overlay ?? "", `${source.key}.yaml`);
  const file = isLeftOut && overlay === undefined ? ofOverlay : own.file;
  const within = file === base?.file ? folder.folder : (folder.overlay ?? folder.folder);
  const isNew = file !== own.file;
  const refused = reasonToRefuse(file, within, isNew) ?? (isLeftOut ? undefined : sharedWith(file, rule, places));
  if (refused !== undefined) return byHand(rule, [], refused);
  const read = isNew ? undefined : readTextFile(resolve(file));
  if (read !== undefined && "fault" in read) return byHand(rule, [], `${file} ${read.fault.what}`);
  return pulled(isLeftOut ? "leave out" : "remove", rule, [
    { file, folder: within, before: read?.text, after: isLeftOut ? "null\n" : undefined },
  ]);
}

function added(rules: readonly UnmanagedRule[], into: ReadFolder | undefined): Pulled[] {
  const taken = [...(into?.rules.keys() ?? [])];
  const titled = rules.map(({ ruleId, naturalKey }) => ({ ruleId, title: naturalKey }));
  const { names } = namesOf(titled, taken);
  return rules.map((rule): Pulled => {
    const key = names.get(rule.ruleId) ?? rule.ruleId;
    const name = rule.naturalKey ?? rule.ruleId;
    const left = (why: string): Pulled => ({
      verb: "by hand",
      name,
      about: [`id ${rule.ruleId}`, why],
      differences: [],
      files: [],
    });
    if (rule.isAnothers) {
      const owner = rule.owner === undefined ? "another stack" : JSON.stringify(rule.owner);
      return left(`${owner} manages it, as its mark says`);
    }
    if (rule.lackedKey !== undefined) return left(nameless(rule.lackedKey));
    if (into === undefined) return left(notInFiles);
    const definition = withoutMaskedFields(rule.live);
    const why = whyNotDeclarable(definition);
    if (why !== undefined) return left(why);
    if (contains(definition, isMask))
      return left("it has a secret in an array, which never goes into a file: declare it in the program");
    const folder = into.overlay ?? into.folder;
    const file = join(folder, `${key}.yaml`);
    const refused = reasonToRefuse(file, folder, true);
    if (refused !== undefined) return left(refused);
    const text = ruleFile(definition, schemaOf(into));
    const without = contains(rule.live, isMask) ? ["without its secrets, which are not managed then"] : [];
    return {
      verb: "add",
      name,
      about: [file, `id ${rule.ruleId}`, ...without],
      differences: [],
      files: [{ file, folder, before: undefined, after: text }],
      ruleId: rule.ruleId,
      key,
    };
  });
}

function nameless(lacked: Pointer): string {
  return `${namelessAt(lacked)}, so that a preview refuses it: give it one at the service`;
}

const notInFiles = "no rule file declares it: change the program (or name the folder of its files with --rules)";

function pulled(
  verb: Pulled["verb"],
  { naturalKey, key, ruleId, resource }: RuleName,
  files: readonly FileChange[],
  differences: readonly DriftedPath[] = [],
): Pulled {
  return {
    verb,
    name: naturalKey ?? key ?? ruleId ?? resource,
    about: files.map(({ file }) => file),
    differences,
    files,
  };
}

function byHand(rule: RuleName, differences: readonly DriftedPath[], why: string): Pulled {
  const where = rule.key === undefined ? rule.resource : `${rule.resource}, key ${rule.key}`;
  return { ...pulled("by hand", rule, [], differences), about: [where, why] };
}

function isSecret({ isSecret: is, before, after }: DriftedPath): boolean {
  return is === true || contains(before, isMask) || contains(after, isMask);
}

/** Returns why a file must stay that two resources of the stack read: a change for one would change the other. */
function sharedWith(file: string, { resource }: RuleName, places: DeclaredPlaces | undefined): string | undefined {
  const readers = (places?.folders ?? []).filter(({ rules }) =>
    rules
      .values()
      .some(({ base, overlay }) =>
        [base, overlay].some((each) => each !== undefined && resolve(each.file) === resolve(file)),
      ),
  );
  const others = readers.flatMap((folder) =>
    folder.resource === resource.replace(/^\S+ /, "") ? [] : (folder.resource ?? []),
  );
  return readers.length < 2 ? undefined : `${file} is read for ${others[0] ?? "another resource"}, too`;
}

/** Leaves out fields that are secret, but for those in arrays. */
function withoutMaskedFields(definition: JsonObject): JsonObject {
  const fields = Object.entries(definition).flatMap(([name, value]): [string, Json][] => {
    if (isMask(value)) return [];
    return [[name, isJsonObject(value) ? withoutMaskedFields(value) : value]];
  });
  return Object.fromEntries(fields);
}

/** Finds the schema that the other files of the folder name for editors. */
function schemaOf({ rules, overlay }: ReadFolder): string | undefined {
  for (const { base, overlay: over } of rules.values()) {
    const file = overlay === undefined ? base?.file : over?.file;
    const read = file === undefined ? undefined : readTextFile(resolve(file));
    if (read === undefined || "fault" in read) continue;
    const [, schema] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(read.text) ?? [];
    if (schema !== undefined) return schema;
  }
  return undefined;
}

/** Returns a difference as the lines of a patch. */
export function patchOf({ path, before, after, isSecret: is }: DriftedPath): string[] {
  const name = path.length === 0 ? "(the rule)" : pathOf(path);
  if (is === true || contains(before, isMask) || contains(after, isMask)) {
    if (before === undefined || after === undefined) return [`${before === undefined ? "+" : "-"} ${name}: ${hidden}`];
    return [`~ ${name}: ${hidden} → ${hiddenOther}`];
  }
  return [
    ...(before === undefined ? [] : [`- ${name}: ${JSON.stringify(before)}`]),
    ...(after === undefined ? [] : [`+ ${name}: ${JSON.stringify(after)}`]),
  ];
}
