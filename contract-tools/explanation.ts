import { asWritten, isEqual, type Json } from "../sdk/json/index.ts";
import { printable, printableJson } from "../sdk/json/printable.ts";
import { type Documented, documented, gaps, openGaps } from "./gaps.ts";
import { commentAt, fieldsOf, type Written } from "./written.ts";

/** Explains who says each field of a contract: the specification, the file, or nobody. @returns lines */
export function explanation(read: Written): string[] {
  const ofFile = fieldsOf(read.written);
  const open = openGaps(read.written);
  const said = documented.filter(({ field }) => hasOperation(read.contract, field));
  // The last two say nothing of the service.
  const notOthers = [...said.map(({ field }) => field), "version", "$schema"];
  const others = [...ofFile].filter(([field, value]) => value !== null && !notOthers.includes(field));
  return [
    printable(read.name),
    "",
    "The specification says:",
    ...said.flatMap((each) => documentedLines(each, ofFile.get(each.field), read)),
    "",
    "The file alone says:",
    ...others.flatMap(([field, value]) => [
      `  ${printable(field)}: ${shown(value)}`,
      `    ${commentOf(field, read) ?? "without a comment"}`,
    ]),
    ...(others.length === 0 ? ["  nothing"] : []),
    "",
    "Nobody says:",
    ...open.flatMap(({ field, question, without }) => [
      `  ${field}: gap`,
      `    ${question} Without it: ${without}.${namedOnly(field)}`,
    ]),
    ...(open.length === 0 ? ["  nothing is open"] : []),
    "",
    `Of ${gaps.length} questions, ${open.length} are open. All other fields have their defaults: \`npx --no-install merchant-rules help reference/contract\`.`,
  ];
}

/** Decides whether the contract has the operation that a documented field belongs to. */
function hasOperation({ operations, auth }: Written["contract"], field: string): boolean {
  if (field.startsWith("auth.token.")) return auth.token !== null;
  return !Object.entries(operations).some(([name, found]) => field.startsWith(`operations.${name}.`) && found === null);
}

function documentedLines({ field, value, section }: Documented, written: Json | undefined, read: Written): string[] {
  const line = `  ${field}: ${shown(written ?? value)}`;
  const source = `the specification, section ${section}`;
  if (written === undefined) return [line, `    ${source}; the file leaves it as it is`];
  if (isEqual(written, value, asWritten)) return [line, `    ${source}; the file repeats it`];
  const why = commentOf(field, read);
  return [line, `    ${source}, says ${shown(value)}; the file says otherwise${why === undefined ? "" : `: ${why}`}`];
}

/** Adds that the specification names an operation by its method, and no path; empty for any other field. */
function namedOnly(field: string): string {
  const method = documented.find((each) => each.field === `${field}.method`);
  if (method === undefined) return "";
  return ` The specification names the operation (${String(method.value)}, section ${method.section}), and no path.`;
}

function commentOf(field: string, read: Written): string | undefined {
  const comment = commentAt(read, field.split(".")) || undefined;
  return comment && printable(comment, 400);
}

function shown(value: Json): string {
  const text = printableJson(value);
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
}
