import { join, relative, resolve } from "node:path";
import type MarkdownIt from "markdown-it";
import {
  Application,
  Converter,
  type DocumentReflection,
  KindRouter,
  normalizePath,
  PageEvent,
  type ProjectReflection,
  type Reflection,
  ReflectionKind,
} from "typedoc";
import { addExamples } from "./examples.ts";
import { contentsOf, titleOf } from "./pages.ts";

const root = resolve(import.meta.dirname, "../..");
/** A link to the site's first page by its folder. Without a server a folder is a list of files, so the page is named. */
const linkToFolder = /\shref="(?:\.\/|(?:\.\.\/)+)(?=["#])/g;
/** After TypeDoc has made its groups. */
const last = -1_000;

/**
 * Sets up the site otherwise than TypeDoc alone would make it: a page is called as its first heading says, stands
 * where docs/README.md lists it, and keeps its path. A link to an example leads to a page that shows its files.
 */
export function load(app: Application): void {
  const contents = contentsOf(root);
  const pathOf = (page: Reflection): string => relative(root, page.project.files.getReflectionPath(page) ?? "");

  app.on(Application.EVENT_BOOTSTRAP_END, () => {
    app.options.setValue("markdownItLoader", withPlainHeadings);
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    project.files.registerReflectionPath(normalizePath(join(root, "README.md")), project);
    addExamples(app, project, root);
  });
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, page: DocumentReflection) => {
    page.name = titleOf(page.content) ?? page.name;
    page.frontmatter.group = contents.groupOf(pathOf(page));
  });
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => arrange(project), last);
  app.renderer.on(PageEvent.END, (page) => {
    if (page.contents !== undefined) page.contents = page.contents.replace(linkToFolder, "$&index.html");
  });

  function arrange(project: ProjectReflection): void {
    for (const group of project.groups ?? []) {
      if (group.children.every((child) => child.kindOf(ReflectionKind.Module))) group.title = "API";
      else group.children.sort((a, b) => contents.rankOf(pathOf(a)) - contents.rankOf(pathOf(b)));
    }
    project.groups?.sort((a, b) => contents.rankOfGroup(a.title) - contents.rankOfGroup(b.title));
  }

  app.renderer.defineRouter(
    "paths",
    class extends KindRouter {
      protected override getIdealBaseName(reflection: Reflection): string {
        return reflection.isDocument()
          ? pathOf(reflection).replace(/(?:\/README)?\.md$/, "")
          : `api/${super.getIdealBaseName(reflection)}`;
      }
    },
  );
}

/** Makes `code` in headings plain: TypeDoc would leave it out of the anchor, and GitHub does not. */
function withPlainHeadings(parser: MarkdownIt): void {
  parser.core.ruler.push("plain_headings", ({ tokens }) => {
    for (const [at, { type }] of tokens.entries())
      if (type === "heading_open")
        for (const part of tokens[at + 1]?.children ?? []) if (part.type === "code_inline") part.type = "text";
  });
}
