// Checks what no linter knows of this repository's sources, and prints each place that is not so:
// a docstring of a function begins with a verb; the name of an exported type stands once in a package; a file's name
// stands once in a room.
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import ts from "typescript";

/** The rooms of each package. */
const packages: Readonly<Record<string, readonly string[]>> = {
  "pulumi-merchant-rules": ["sdk", "meaning", "provider", "stack", "contract-tools", "report", "policy", "cli"],
  "pulumi-merchant-rules-local": ["local"],
};

/** Public names that mean one thing in two entries of a package. */
const shared: ReadonlySet<string> = new Set(["Connection", "RunOptions"]);

/** Words in -s at the beginning of a sentence that are no verbs. */
const nouns = new Set(
  (
    "As Always Besides Bodies Bytes Changes Characters Conditions Connections Contracts Does Entries Errors Facts Fields Files Findings " +
    "Folders Has Hooks Ids Inputs Is Its Items Keys Lines Names Operations Others Outputs Pages Parts Paths Payments Perhaps " +
    "Pointers Positions Properties Requests Resources Responses Results Rows Rules Secrets Settings Sides Stacks Statuses Steps " +
    "Strings Tables Texts This Times Types Urns Values Was Ways Words Years Yes"
  ).split(" "),
);

/** Rooms whose functions are mostly verdicts and facts: their docstrings say what is so, and their names stand for themselves. */
const ofCore = ["decide", "merchant", "refusals", "run", "steps"].map((room) => `provider/${room}/`);

const faults: string[] = [];
for (const [name, rooms] of Object.entries(packages)) {
  const exported = new Map<string, string>();
  for (const room of [...rooms, ...(name === "pulumi-merchant-rules" ? ["scripts"] : [])]) checkRoom(room, exported);
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} places are not as CONTRIBUTING.md says.`);
  process.exitCode = 1;
}

function checkRoom(room: string, exported: Map<string, string>): void {
  const names = new Map<string, string>();
  const files = globSync(`${room}/**/*.ts`)
    .filter((file) => !/(^|\/)(dist|node_modules)\//.test(file))
    .sort();
  for (const file of files.filter((each) => !ofCore.some((room) => each.startsWith(room)))) {
    const other = names.get(basename(file));
    if (other !== undefined && basename(file) !== "index.ts") faults.push(`${file}: ${other} has the same name`);
    names.set(basename(file), file);
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    if (room !== "scripts") checkTypes(source, exported);
    checkDocstrings(source, source);
  }
}

/** Reports each exported type whose name another file of the package exports, too. */
function checkTypes(source: ts.SourceFile, exported: Map<string, string>): void {
  for (const node of source.statements) {
    if (!ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node) && !ts.isClassDeclaration(node)) continue;
    const isExported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    if (!isExported || node.name === undefined || shared.has(node.name.text)) continue;
    const other = exported.get(node.name.text);
    if (other !== undefined) faults.push(`${placeOf(node, source)}: ${other} exports a type ${node.name.text}, too`);
    exported.set(node.name.text, source.fileName);
  }
}

/** Reports each docstring of a function below `node` that does not begin with a verb. */
function checkDocstrings(node: ts.Node, source: ts.SourceFile): void {
  if (isFunction(node)) {
    const [doc] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).slice(-1);
    const text = doc === undefined ? undefined : (ts.getTextOfJSDocComment(doc.comment) ?? "");
    const first = /^[`"]?([\w-]*)/.exec(text ?? "")?.[1] ?? "";
    if (text !== undefined && (!/^[A-Z][a-z-]*s$/.test(first) || nouns.has(first)))
      faults.push(
        `${placeOf(node, source)}: the docstring begins with "${text.slice(0, 40).replaceAll("\n", " ")}", not with a verb`,
      );
  }
  ts.forEachChild(node, (child) => checkDocstrings(child, source));
}

function isFunction(node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node)) return true;
  if (!ts.isVariableStatement(node)) return false;
  const [declared] = node.declarationList.declarations;
  const value = declared?.initializer;
  return value !== undefined && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));
}

function placeOf(node: ts.Node, source: ts.SourceFile): string {
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
