import { namesIn } from "../../sdk/contract/index.ts";

/** A template of the contract turned round: a string that arrived gives the values of the names, or does not fit. */
export interface TemplateMatcher {
  readonly template: string;
  /** Returns the values of the names that no fixed value stands for; undefined when `text` does not fit. A path comes in its canonical form. */
  match(text: string): Readonly<Record<string, string>> | undefined;
  /** Number of fixed characters: of two templates that fit, the one with more is meant. */
  readonly literal: number;
}

/** The place of a template, which decides what a name may stand for, and how it is encoded. */
export interface TemplateContext {
  /** Values that are fixed: they must match exactly. Any other name takes any string that is not empty. */
  readonly values: Readonly<Record<string, string>>;
  /** `path`: a name ends at the next slash and is URL-encoded. `value`: a header, a query value, a field of a body. */
  readonly place: "path" | "value";
}

export function templateMatcher(template: string, { values, place }: TemplateContext): TemplateMatcher {
  const free: string[] = [];
  let literal = 0;
  const fixed = (text: string): string => {
    literal += text.length;
    return escaped(place === "path" ? (canonicalPath(text) ?? text) : text);
  };
  const names = new Set(namesIn(template));
  const pattern = template
    .split(/(\{[A-Za-z][A-Za-z0-9]*\})/)
    .map((part) => {
      const name = part.startsWith("{") ? part.slice(1, -1) : "";
      if (!names.has(name)) return fixed(part);
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value !== undefined) return place === "path" ? fixed(encodeURIComponent(value)) : fixed(value);
      free.push(name);
      return place === "path" ? "([^/]+)" : "(.+)";
    })
    .join("");
  const expression = new RegExp(`^${pattern}$`, "su");
  return {
    template,
    literal,
    match: (text) => {
      const groups = expression.exec(text)?.slice(1);
      const decode = place === "path" ? decodeURIComponent : (value: string) => value;
      return groups && Object.fromEntries(free.map((name, index) => [name, decode(groups[index] ?? "")]));
    },
  };
}

/**
 * Encodes every character of a path as encodeURIComponent does, so that clients that encode differently mean the same;
 * undefined where an escape is malformed, such as %zz.
 */
export function canonicalPath(path: string): string | undefined {
  if (plain.test(path)) return path;
  try {
    return path
      .split("/")
      .map((segment) => encodeURIComponent(decodeURIComponent(segment)))
      .join("/");
  } catch {
    return undefined;
  }
}

const plain = /^[\w\-/.~!*'()]*$/;

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
