/** Returns a string as code in a cell of a table. */
export function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** Returns a table of Markdown. Cells are written as they are: a `|` in one must be escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const begin = /^<!-- (?<kind>[a-z]+)(?:: (?<name>.*?))? -->$/;

/** Finds the names of a page's places of one kind: `<!-- fields: rule -->` to `<!-- end of fields -->`. */
export function placesIn(page: string, kind: string): string[] {
  return page.split("\n").flatMap((line) => {
    const { groups } = begin.exec(line) ?? {};
    return groups?.kind === kind ? [groups.name ?? ""] : [];
  });
}

/** Returns a page with each of its places of a kind filled. @throws Error: a place that does not end */
export function filled(page: string, kind: string, textOf: (name: string) => string): string {
  return placesIn(page, kind).reduce((whole, name) => {
    const first = name === "" ? `<!-- ${kind} -->` : `<!-- ${kind}: ${name} -->`;
    const last = `<!-- end of ${kind} -->`;
    const from = whole.indexOf(first) + first.length;
    const to = whole.indexOf(last, from);
    if (to === -1) throw new Error(`${first} has no ${last}`);
    return `${whole.slice(0, from)}\n\n${textOf(name)}\n\n${whole.slice(to)}`;
  }, page);
}
