import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import {
  type Application,
  Converter,
  DocumentReflection,
  MinimalSourceFile,
  normalizePath,
  type ProjectReflection,
} from "typedoc";

/** The languages of an example's files, by the end of their names. */
const languages: Readonly<Record<string, string>> = {
  ".cjs": "js",
  ".cts": "ts",
  ".js": "js",
  ".json": "json",
  ".md": "md",
  ".mjs": "js",
  ".mts": "ts",
  ".sh": "sh",
  ".ts": "ts",
  ".yaml": "yaml",
  ".yml": "yaml",
};
const leftOut = new Set(["node_modules", "dist", "bin", "package-lock.json", "README.md"]);

/** Adds a page for each folder of examples/: its README.md, then all of its files. Links to them lead to that page. */
export function addExamples(app: Application, project: ProjectReflection, root: string): void {
  for (const entry of readdirSync(join(root, "examples"), { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const folder = join(root, "examples", entry.name);
    const paths = below(folder);
    const source = new MinimalSourceFile(textOf(folder, entry.name, paths), normalizePath(join(folder, "README.md")));
    const { content, frontmatter } = app.converter.parseRawComment(source, project.files);
    const page = new DocumentReflection(entry.name, project, content, frontmatter);
    project.addChild(page);
    project.registerReflection(page, undefined, normalizePath(source.fileName));
    for (const path of ["", ...paths]) project.files.registerReflectionPath(normalizePath(join(folder, path)), page);
    app.converter.trigger(Converter.EVENT_CREATE_DOCUMENT, undefined, page);
  }
}

function textOf(folder: string, name: string, paths: readonly string[]): string {
  const readme = join(folder, "README.md");
  const text = existsSync(readme) ? readFileSync(readme, "utf8") : `# ${name}\n`;
  const files = paths.flatMap((path) => {
    const language = languages[extname(path)];
    return language === undefined
      ? []
      : [`### ${path}\n\n\`\`\`\`${language}\n${readFileSync(join(folder, path), "utf8").trimEnd()}\n\`\`\`\`\n`];
  });
  return [text, "## Files\n", ...files].join("\n");
}

/** Lists the paths of all files and folders below a folder: files first. */
function below(folder: string, prefix = ""): string[] {
  const entries = readdirSync(join(folder, prefix), { withFileTypes: true }).filter(({ name }) => !leftOut.has(name));
  const isFolder = entries.map((entry) => entry.isDirectory());
  const files = entries.filter((_, at) => !isFolder[at]).map(({ name }) => join(prefix, name));
  const folders = entries.filter((_, at) => isFolder[at]).map(({ name }) => join(prefix, name));
  return [...files.sort(), ...folders.sort().flatMap((path) => [path, ...below(folder, path)])];
}
