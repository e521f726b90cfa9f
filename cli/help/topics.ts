import { anchorOf, pageCalled, rowsIn, sectionOf, sectionsOf } from "./pages.ts";

/** A word that an error asks for, as `merchant-rules help adopt` prints it. */
export interface Topic {
  /** As an error names it: `same-or-moved`. */
  readonly name: string;
  /** What the error says in which it is named, on one line. */
  readonly about: string;
  /** Markdown: a section of the page. */
  readonly text: string;
}

/** Reads the topics: the sections of docs/words.md, in their order. */
export function topics(): Topic[] {
  const text = pageCalled("words")?.text ?? "";
  const abouts = new Map(rowsIn(text).map(([about = "", link = ""]) => [/#([\w-]+)\)/.exec(link)?.[1], about]));
  return sectionsOf(text).map((heading) => {
    const name = anchorOf(heading);
    return { name, about: abouts.get(name) ?? "", text: sectionOf(text, heading) ?? "" };
  });
}

/** Finds the topic of a name, as users write it: `same-or-moved`, `Same or moved`; undefined where there is none. */
export function topicCalled(words: readonly string[]): Topic | undefined {
  const wanted = anchorOf(words.join(" "));
  return topics().find(({ name }) => name === wanted);
}
