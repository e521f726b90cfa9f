import type { Consumer, StepName } from "./consumer.ts";
import type { StepResult } from "./run-consumer.ts";

/** Steps with a column of their own. The others share the last one. */
const columns: readonly StepName[] = ["install", "preview", "up", "drift check", "destroy"];

/** The result of every step of every consumer, as a Markdown table. Without seconds it is the same on every machine. */
export function tableOf(consumers: readonly Consumer[], results: readonly StepResult[], withSeconds: boolean): string {
  const head = ["project", "installed by", "Node", "engine", ...columns, "other"];
  const rows = consumers.map((consumer) => {
    const own = results.filter((result) => result.consumer === consumer.name);
    const cell = (result: StepResult): string => cellOf(result, withSeconds);
    const others = own.filter(({ step }) => !columns.includes(step)).map((result) => `${result.step} ${cell(result)}`);
    const cells = columns.map((step) =>
      own
        .filter((result) => result.step === step)
        .map(cell)
        .join(""),
    );
    const node = consumer.node === "own" ? process.versions.node : consumer.node;
    return [consumer.name, consumer.manager, node, consumer.engine, ...cells, others.join("; ")];
  });
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return `${lines.join("\n")}\n`;
}

/** A table with the row of another one in place of its own, in the order of the consumers. */
export function withRow(table: string, consumers: readonly Consumer[], other: string): string {
  const [head = "", line = "", row = ""] = other.split("\n");
  const rows = new Map([...table.split("\n").slice(2), row].map((each) => [each.split(" | ")[0], each]));
  const kept = consumers.flatMap(({ name }) => rows.get(`| ${name}`) ?? []);
  return `${[head, line, ...kept].join("\n")}\n`;
}

function cellOf({ outcome, seconds, note }: StepResult, withSeconds: boolean): string {
  if (outcome === "skipped") return "skipped";
  const mark = outcome === "passed" ? "✓" : "✗";
  const took = withSeconds ? ` ${seconds.toFixed(0)} s` : "";
  return outcome === "passed" && note !== "" ? `${mark}${took} (${note})` : mark + took;
}
