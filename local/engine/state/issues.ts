import type { z } from "zod";
import { printable } from "../../../sdk/rules/printable.ts";

const mostShown = 5;

/** What a schema refuses, on one line: the first places, and how many there are. */
export function describeIssues({ issues }: z.ZodError): string {
  const shown = issues.slice(0, mostShown).map(({ path, message }) => {
    const place = path.map(String).join(".");
    return `${place === "" ? "the whole" : printable(place, 100)}: ${printable(message, 200)}`;
  });
  const more = issues.length > mostShown ? `, and ${issues.length - mostShown} more` : "";
  return shown.join("; ") + more;
}
