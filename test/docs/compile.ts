import ts from "typescript";
import { root } from "./page.ts";

/** The sources of the package's entries, by the names under which a program imports them. */
const entries: Readonly<Record<string, string[]>> = {
  "pulumi-merchant-rules": [`${root}provider/index.ts`],
  "pulumi-merchant-rules/sdk": [`${root}sdk/index.ts`],
};

/** Compiles texts as programs of a user, each by itself, with the sources of this package. */
export function compiled(texts: Readonly<Record<string, string>>): ts.Program {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: ["provider/index.ts"] },
    ts.sys,
    root,
  );
  const all: ts.CompilerOptions = { ...options, noEmit: true, paths: entries, declaration: false };
  const files = new Map(Object.entries(texts).map(([name, text]) => [`${root}test/docs/${name}.ts`, text]));
  const host = ts.createCompilerHost(all);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, target, ...rest) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, target, ...rest) : ts.createSourceFile(file, text, target);
  };
  return ts.createProgram([...files.keys(), `${root}provider/index.ts`], all, host);
}

/** The compiler's complaints about one of the texts. */
export function faultsOf(program: ts.Program, name: string): string[] {
  const source = program.getSourceFile(`${root}test/docs/${name}.ts`);
  if (source === undefined) throw new Error(`there is no text ${name}`);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return found.map(({ messageText, start = 0 }) => {
    const line = source.text.slice(0, start).split("\n").length;
    return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}

/** A property of an interface or class, and whether it must be given. */
export interface Property {
  readonly name: string;
  readonly isRequired: boolean;
}

/** The public properties of a type that a file exports, or that it declares; inherited ones where `all` says so. */
export function propertiesOf(program: ts.Program, file: string, type: string, all = true): Property[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const symbol = source && checker.getSymbolAtLocation(source);
  const found = symbol && checker.getExportsOfModule(symbol).find(({ name }) => name === type);
  if (found === undefined) throw new Error(`${file} exports no ${type}`);
  const declared = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(declared)).flatMap((property) => {
    const [declaration] = property.declarations ?? [];
    if (declaration === undefined || property.name.startsWith("__")) return [];
    const modifiers = ts.getCombinedModifierFlags(declaration);
    if (modifiers & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) return [];
    if (!all && declaration.parent !== declared.declarations?.[0]) return [];
    return [{ name: property.name, isRequired: (property.flags & ts.SymbolFlags.Optional) === 0 }];
  });
}

/** Every name that a file exports. */
export function exportsOf(program: ts.Program, file: string): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const symbol = source && checker.getSymbolAtLocation(source);
  return symbol === undefined ? [] : checker.getExportsOfModule(symbol).map(({ name }) => name);
}
