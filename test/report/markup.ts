/** An element of a page, with the text directly in it. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

const voidElements = new Set(["meta"]);
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'" };

/**
 * Reads XML, and HTML that is as strict: every element is closed, every attribute is in quotes, every `&` begins a
 * reference. A reader that forgives would not show what a strict one stumbles over.
 * @throws Error where it is not so
 */
export function elementsOf(page: string): Element[] {
  const all: Element[] = [];
  const open: Element[] = [];
  const markup = /<!doctype html>|<\?xml [^<>]*\?>|<(\/?)([a-z][a-z0-9-]*)((?: [a-z-]+(?:="[^"<>]*")?)*) ?(\/?)>/gy;
  for (let at = 0; at < page.length; ) {
    const next = page.indexOf("<", at);
    const text = page.slice(at, next === -1 ? page.length : next);
    const inside = open.at(-1);
    if (inside === undefined && text.trim() !== "") throw new Error(`text outside of all: ${text}`);
    if (inside !== undefined) inside.text += inside.name === "style" ? text : decoded(text);
    if (next === -1) break;
    markup.lastIndex = next;
    const match = markup.exec(page);
    if (match === null) throw new Error(`no markup: ${page.slice(next, next + 80)}`);
    at = markup.lastIndex;
    const [, closing, name, attributes = "", empty] = match;
    if (name === undefined) continue;
    if (closing === "/") {
      const closed = open.pop();
      if (closed?.name !== name) throw new Error(`</${name}> closes <${closed?.name}>`);
      continue;
    }
    const pairs = [...attributes.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)];
    const element = {
      name,
      attributes: Object.fromEntries(pairs.map(([, key, value = ""]) => [key, decoded(value)])),
      text: "",
    };
    all.push(element);
    if (empty !== "/" && !voidElements.has(name)) open.push(element);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.map(({ name }) => name).join(", ")}`);
  return all;
}

function decoded(text: string): string {
  if (text.includes(">")) throw new Error(`a bare > in ${text}`);
  return text.replace(/&([^;&]{0,10});|&/g, (reference, name?: string) => {
    const character = name === undefined ? undefined : entities[name];
    if (character === undefined) throw new Error(`no reference: ${reference} in ${text}`);
    return character;
  });
}
