import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { connectionSettings } from "../../provider/settings/connection-settings.ts";
import {
  providerNameKey,
  secretParametersKey,
  stackSettings,
  variableName,
} from "../../provider/settings/setting-names.ts";
import { wordVariable } from "../../provider/settings/words.ts";
import { newFolder } from "../support/folder.ts";
import { blocksOf, codeIn, pageAt, rowsOf, sectionOf } from "./page.ts";

const page = pageAt("docs/reference/settings.md");
const own = sectionOf(page, "Settings of a connection");

const folder = newFolder();
writeFileSync(
  join(folder, "merchant-rules.contract.yaml"),
  "version: 1\nparameters: { merchantId: {} }\nauth: { token: { path: /token, fields: { id: '{clientId}' } } }\n",
);

/** Every name that the settings of a connection are asked for, in the stack's config and in the environment. */
function asked(connection: string) {
  const keys = new Set<string>();
  const variables = new Set<string>();
  // Of a parameter the field is taken, not a key of its own.
  const config = (key: string): undefined => void (key.includes(".") || keys.add(key));
  const environment = new Proxy<Record<string, string>>(
    {},
    {
      get(_, name) {
        variables.add(String(name));
        if (String(name).endsWith("BASE_URL")) return "https://payments.example.com";
        return String(name).includes("PARAM_") ? "m-17" : undefined;
      },
    },
  );
  connectionSettings({ config, environment, folder }, connection);
  // An explicit provider gives these by itself.
  for (const key of [providerNameKey, secretParametersKey]) keys.delete(key);
  return { keys, variables };
}

const { keys, variables } = asked("default");
for (const key of asked("sandbox").keys) keys.add(key);
/** The words for one run, which are the stack's. */
const words = stackSettings.map((name) => ({ key: `merchant-rules:${name}`, variable: wordVariable(name) }));

/** The texts in `code` of the rows' cells, or of one column, that look like a name. */
function codesIn(rows: readonly (readonly string[])[], column: number | undefined, name: RegExp): string[] {
  const cells = rows.flatMap((row) => (column === undefined ? row : [row[column] ?? ""]));
  return cells.flatMap((cell) => codeIn(cell)).filter((text) => name.test(text));
}

describe("docs/reference/settings.md", () => {
  test("names every setting that the code asks for, by its key and by its variable, and no other", () => {
    const rows = rowsOf(own);
    expect(new Set(codesIn(rows, 1, /^merchant-rules:/))).toEqual(keys);
    expect(new Set(codesIn(rows, 2, /^MERCHANT_RULES_/))).toEqual(variables);
  });

  test("names every word for one run, by its key and by its variable, and no other", () => {
    const rows = rowsOf(sectionOf(page, "For one run"));
    expect(codesIn(rows, 1, /^merchant-rules:/)).toEqual(words.map(({ key }) => key));
    expect(codesIn(rows, 2, /^MERCHANT_RULES_/)).toEqual(words.map(({ variable }) => variable));
  });

  test("names the variables of named connections and of parameters as the code makes them", () => {
    const rows = [...rowsOf(sectionOf(page, "Connections by name")), ...rowsOf(sectionOf(page, "Parameters"))];
    expect(rows.length).toBe(5);
    for (const [first = "", ...cells] of rows) {
      const [name = ""] = codeIn(first);
      const isParameter = cells[0]?.includes("merchant-rules:") === true;
      const made = isParameter ? [`MERCHANT_RULES_PARAM_${variableName(name)}`] : [...asked(name).variables];
      for (const variable of codesIn([cells], undefined, /^MERCHANT_RULES_/)) expect(made).toContain(variable);
    }
  });

  test("says the settings of a named connection as the code allows them", () => {
    const sentence = /A named connection has every setting of its own: (.*?)\. It takes/s.exec(page)?.[1] ?? "";
    const config = (key: string): string | undefined =>
      key === "merchant-rules:connections" ? '{ "sandbox": { "colour": "red" } }' : undefined;
    const allowed = `allowed: ${codeIn(sentence).join(", ")}`;
    const load = () => connectionSettings({ config, environment: {}, folder }, "sandbox");
    expect(load).toThrow("has an unknown setting colour");
    expect(load).toThrow(allowed);
  });

  test("has stack files that parse, with keys that there are", () => {
    for (const block of blocksOf(page, "yaml"))
      for (const key of Object.keys(parse(block).config)) expect([...keys]).toContain(key);
  });

  test("sets in its examples nothing that the code does not read", () => {
    const names = blocksOf(page, "sh").flatMap((block) => [...block.matchAll(/MERCHANT_RULES_\w+/g)].map(String));
    expect(names.length).toBeGreaterThan(4);
    const read = [...variables, ...words.map(({ variable }) => variable)];
    for (const name of names) expect(read).toContain(name);
    const keys = blocksOf(page, "sh").flatMap((block) => [...block.matchAll(/merchant-rules:\w+/g)].map(String));
    for (const key of keys) expect([...keys]).toContain(key);
  });
});
