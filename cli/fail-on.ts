import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import { type FailOn, failOnIn, isOfPayments, struck } from "../report/model/fail-on.ts";
import type { Change } from "../report/model/kinds.ts";
import type { Report } from "../report/model/report.ts";

/** The conditions under which a command exits with 7. */
export interface FailOnOptions {
  readonly failOn?: readonly FailOn[];
}

/**
 * Adds the option that says when the command's report is a failure.
 * @param kinds the kinds of findings of that report
 */
export function withFailOn(command: Command, kinds: readonly Change[]): Command {
  const read = (text: string, before: readonly FailOn[] = []): readonly FailOn[] => {
    const found = text.split(",").map((each) => failOnIn(each.trim(), kinds) ?? each.trim());
    const unknown = found.find((each) => typeof each === "string");
    if (unknown !== undefined)
      throw new InvalidArgumentError(
        `${JSON.stringify(unknown)} is no condition: name ${[...kinds, "any", "flips"].join(", ")}, or two outcomes as accept->decline; behind it >3 or >0.5% where some are allowed.`,
      );
    return [...before, ...found.filter((each) => typeof each !== "string")];
  };
  return command.addOption(
    new Option(
      "--fail-on <condition>",
      "exit with 7 only for this: a kind of finding (any: each), or of payments flips or accept->decline; above a number or share: flips>0.5%. May be repeated",
    ).argParser(read),
  );
}

/** Refuses conditions on payments where none are decided. @throws UsageError */
export function demandPayments({ failOn = [] }: FailOnOptions, hasPayments: boolean): void {
  const about = failOn.find(isOfPayments);
  if (about !== undefined && !hasPayments)
    throw new UsageError(`--fail-on ${about.text} is about payments: give them with --payments, to plan or simulate`);
}

/**
 * Says which conditions a report meets, and gives the exit code.
 * @param otherwise the code where no condition is given
 */
export function codeBy({ failOn }: FailOnOptions, report: Report, otherwise: number): number {
  if (failOn === undefined) return otherwise;
  const untold = failOn.find(isOfPayments);
  if (untold !== undefined && report.simulation?.payments === 0) {
    console.error(`error: --fail-on ${untold.text} cannot be told: no payment was decided`);
    return 1;
  }
  const strikes = struck(failOn, report);
  for (const each of strikes) console.error(`error: --fail-on ${each}`);
  return strikes.length === 0 ? 0 : 7;
}
