import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

/** A secret that looks different in every form, around a core by which it is found in each of them. */
export function secretAround(core: string): string {
  return `q"u/o+t\\e ü ${core}`;
}

/** The ways in which a service, a log or a file may spell a text. */
export const forms: readonly (readonly [name: string, spelling: (text: string) => string])[] = [
  ["plain", (text) => text],
  ["URL-encoded", encodeURIComponent],
  ["form-encoded", (text) => new URLSearchParams([["a", text]]).toString().slice(2)],
  ["as JSON", (text) => JSON.stringify(text).slice(1, -1)],
  ["as JSON in JSON", (text) => JSON.stringify(JSON.stringify(text)).slice(1, -1)],
  ["as JSON in ASCII", (text) => JSON.stringify(text).replaceAll("ü", "\\u00fc").replaceAll("/", "\\/")],
  ["in hexadecimal", (text) => Buffer.from(text).toString("hex")],
  ["in upper-case hexadecimal", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ...["", "x", "xy"].flatMap((before): (readonly [string, (text: string) => string])[] => [
    [`in Base64 after ${before.length} bytes`, (text) => Buffer.from(`${before}${text}:z`).toString("base64")],
    [`in base64url after ${before.length} bytes`, (text) => Buffer.from(`${before}${text}:z`).toString("base64url")],
  ]),
];

/** The names of the forms in which a core stands in a text. */
export function tracesOf(core: string, text: string): string[] {
  const hexadecimal = Buffer.from(core).toString("hex");
  const inBase64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(`${"x".repeat(offset)}${core}`).toString("base64");
    // Without the characters at both ends, in which neighbours have a part.
    return encoded.slice(offset === 0 ? 0 : offset + 1, Math.floor((8 * (offset + core.length)) / 6));
  });
  const found: [string, boolean][] = [
    ["plain", text.includes(core)],
    ["hexadecimal", text.toLowerCase().includes(hexadecimal)],
    [
      "Base64",
      inBase64.some((part) => text.includes(part) || text.includes(part.replaceAll("+", "-").replaceAll("/", "_"))),
    ],
  ];
  return found.flatMap(([name, isThere]) => (isThere ? [name] : []));
}

/** No text has a trace of any core. */
export function expectNoTrace(cores: readonly string[], texts: Readonly<Record<string, string>>): void {
  const found = Object.entries(texts).flatMap(([where, text]) =>
    cores.flatMap((core) => tracesOf(core, text).map((form) => `${core}, ${form}, in ${where}`)),
  );
  expect(found).toEqual([]);
}

/** All files below a folder, as one text; without those that are gone before they can be read. */
export function everythingBelow(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => textOf(join(entry.parentPath, entry.name)))
    .join("\n");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
