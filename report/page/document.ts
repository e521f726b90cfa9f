import { createHash } from "node:crypto";
import { escaped } from "../words/report-words.ts";
import { style } from "./style.ts";

/** The parts of a page; all but `title` are HTML already. */
export interface DocumentParts {
  /** Plain text. */
  readonly title: string;
  readonly body: readonly string[];
  /** Style beside that of all pages. */
  readonly moreStyle?: string;
  /** Scripts, in their order; none by default. */
  readonly scripts?: readonly string[];
  /** True where the scripts ask the page's own server. Default: the page asks nobody. */
  readonly asksItsServer?: boolean;
}

/**
 * Writes one page in one file: light and dark, on a telephone and on paper. It fetches nothing, and by its own policy the
 * browser runs these scripts and no others, whatever stands in the text.
 */
export function htmlDocument(parts: DocumentParts): string {
  const { title, body, moreStyle = "", scripts = [] } = parts;
  const css = `${style}${moreStyle}`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${contentPolicy(parts)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escaped(title)}</title>`,
    `<style>${css}</style>`,
    "</head>",
    "<body>",
    ...body,
    ...scripts.map((script) => `<script>${script}</script>`),
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

/** Returns the browser's rights on the page, for the page itself and for the header of the server that sends it. */
export function contentPolicy({
  moreStyle = "",
  scripts = [],
  asksItsServer = false,
}: Omit<DocumentParts, "title" | "body">): string {
  return [
    "default-src 'none'",
    `style-src ${hashOf(`${style}${moreStyle}`)}`,
    ...(scripts.length === 0 ? [] : [`script-src ${scripts.map(hashOf).join(" ")}`]),
    ...(asksItsServer ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Writes a value as a block of data in a page, which no text in it can end. */
export function dataBlock(id: string, value: unknown): string {
  const json = JSON.stringify(value).replaceAll("<", "\\u003c");
  return `<script type="application/json" id="${id}">${json}</script>`;
}
