import type { Report } from "../report/model/report.ts";
import type { MerchantRulesError } from "../sdk/errors.ts";
import { defined } from "../sdk/json/index.ts";

/** Who keeps a stack. */
export type Engine = "pulumi" | "local";

/** The words before an engine's verb, as a person types them. */
export const commandOf: Record<Engine, string> = {
  pulumi: "pulumi",
  local: "npx --no-install merchant-rules local",
};

/** Returns what runs an engine's verb on a stack, where one was named: `pulumi refresh --stack prod`. */
export function commandFor(verb: string, engine: Engine, stack: string | undefined): string {
  return `${commandOf[engine]} ${verb}${stack === undefined ? "" : ` --stack ${stack}`}`;
}

/** Replaces Pulumi's commands in a text by those of the stack's engine, but for --replace, which only Pulumi has. */
export function inCommandsOf(engine: Engine, text: string): string {
  return engine === "pulumi"
    ? text
    : text.replace(/`pulumi (?=(?:up|preview|refresh|destroy)\b(?![^`]* --replace\b))/g, `\`${commandOf[engine]} `);
}

/** Returns an error whose reason and advice name the commands of the engine that keeps the stack. */
export function errorInCommandsOf(engine: Engine, error: MerchantRulesError): MerchantRulesError {
  const { reason, advice } = error;
  const said = advice === undefined ? undefined : inCommandsOf(engine, advice);
  return error.with(defined({ reason: inCommandsOf(engine, reason), advice: said }));
}

/** Returns a report whose sentences name the commands of the engine that keeps the stack. */
export function withCommandsOf(engine: Engine, report: Report): Report {
  const said = (texts: readonly string[]): string[] => texts.map((text) => inCommandsOf(engine, text));
  return {
    ...report,
    about: said(report.about),
    warnings: said(report.warnings),
    notes: said(report.notes),
    errors: report.errors.map((error) => ({ ...error, message: inCommandsOf(engine, error.message) })),
    findings: report.findings.map((finding) =>
      finding.reason === undefined ? finding : { ...finding, reason: inCommandsOf(engine, finding.reason) },
    ),
  };
}
