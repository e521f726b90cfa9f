import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { presetFile } from "../../sdk/contract/index.ts";

/** The whole command `merchant-rules lint --folder`, from its start to its end. */
export interface LintFigures {
  readonly rules: number;
  readonly seconds: number;
  readonly findings: number;
}

const bin = fileURLToPath(new URL("../../bin/merchant-rules.js", import.meta.url));

/** Has the command look for faults in folders of so many rules, which meet each other often. */
export async function lintOver(sizes: readonly number[], signal: AbortSignal): Promise<LintFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), "lint-"));
  try {
    writeFileSync(join(folder, "Pulumi.yaml"), "name: bench\nruntime: nodejs\n");
    const figures: LintFigures[] = [];
    for (const rules of sizes) {
      writeRules(join(folder, String(rules)), rules);
      const started = performance.now();
      const words = ["lint", "--cwd", folder, "--folder", join(folder, String(rules)), "--json"];
      const env = { ...process.env, MERCHANT_RULES_CONTRACT: presetFile("illustrative") };
      const { stdout } = await promisify(execFile)(process.execPath, [bin, ...words], {
        env,
        signal,
        maxBuffer: 2 ** 30,
      });
      const seconds = (performance.now() - started) / 1000;
      figures.push({ rules, seconds, findings: JSON.parse(stdout).findings.length });
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Rules of two to five conditions. */
function writeRules(folder: string, count: number): void {
  mkdirSync(folder);
  let seed = 12_345;
  const below = (end: number): number => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return (seed >>> 0) % end;
  };
  const oneOf = <One>(some: readonly One[]): One | undefined => some[below(some.length)];
  const country = (): string => `C${below(240)}`;
  for (let index = 0; index < count; index += 1) {
    const some = [
      { field: "amount", operator: oneOf(["gt", "lt", "gte"]), value: below(100_000) },
      { field: "card.country", operator: "eq", value: country() },
      { field: "currency", operator: oneOf(["eq", "eq", "ne"]), value: `U${below(20)}` },
      { field: "payer.trusted", operator: "eq", value: below(2) === 0 },
    ].filter(() => below(2) === 0);
    const cards = { field: "cardType", operator: "eq", value: `T${below(500)}` };
    const countries = Array.from({ length: 1 + below(5) }, country);
    const conditions = [{ field: "country", operator: "in", value: countries }, ...(some.length > 0 ? some : [cards])];
    const actions = [{ type: oneOf(["accept", "decline", "review"]) }];
    const rule = { name: `rule-${index}`, priority: below(3 * count), isActive: true, conditions, actions };
    writeFileSync(join(folder, `rule-${index}.json`), JSON.stringify(rule));
  }
}
