import { printableJson } from "../../sdk/json/printable.ts";
import type { Report } from "../model/report.ts";

/** Writes the report itself, as `report.schema.json` describes it. */
export function json(report: Report): string {
  return `${printableJson(report, 2)}\n`;
}
