import type { Report } from "./report.ts";

/** The report itself, as `report.schema.json` describes it. */
export function json(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
