import { githubAnnotations } from "./formats/annotations.ts";
import type { Format } from "./formats/formats.ts";
import { html } from "./formats/html.ts";
import { json } from "./formats/json.ts";
import { junit } from "./formats/junit.ts";
import { markdown } from "./formats/markdown.ts";
import { text } from "./formats/text.ts";
import type { Report } from "./model/report.ts";

export { type Finding, type PathFinding, type Report, reportOf } from "./model/report.ts";
export { errorsOf, verdictOf } from "./words/report-words.ts";
export { githubAnnotations };

export interface RenderOptions {
  /** Colours for a terminal, in `text`. Default false. */
  readonly color?: boolean;
  /** The most characters of `markdown`; what does not fit is counted. Default: no limit. */
  readonly limit?: number | undefined;
}

/** Writes a report in one of the formats; the text ends with a line break. */
export function render(report: Report, format: Format, { color = false, limit }: RenderOptions = {}): string {
  switch (format) {
    case "text":
      return text(report, color);
    case "json":
      return json(report);
    case "markdown":
      return markdown(report, limit);
    case "html":
      return html(report);
    case "junit":
      return junit(report);
  }
}
