import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stepOf } from "../../local/engine/deploy/step.ts";
import { EventLines, jsonDocument } from "../../local/engine/display/json.ts";
import { TextDisplay } from "../../local/engine/display/text.ts";
import type { PolicyFindings } from "../../local/engine/policies/findings.ts";
import type { RunResult } from "../../local/engine/run/run.ts";
import { stateVersion } from "../../provider/state/state.ts";
import { formats } from "../../report/formats/formats.ts";
import { render, reportOf } from "../../report/index.ts";
import { changes } from "../../report/model/kinds.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { printable, printableJson, printableLines } from "../../sdk/json/printable.ts";
import { EngineError } from "../../stack/errors.ts";
import { knownSchema, type ResourceState } from "../../stack/state/resource-state.ts";
import { HookFailure, hooksHere, resource, sessionOf } from "../support/stack/hosts.ts";

/** Text of others that somebody or something would obey. Each line break has a line of its own behind it. */
const fragments = [
  "\nINJECTED",
  "\r\nINJECTED",
  "\u2028INJECTED",
  "\u0085INJECTED",
  "\n::error::INJECTED",
  "::error file=a::",
  "  ::stop-commands::x",
  "::",
  ":",
  "##vso[task.setvariable variable=a]b",
  "##[error]",
  "##teamcity[message]",
  "###[",
  "##",
  "[",
  "<{%command%}>",
  "\u001b[31m",
  "\u001b]8;;https://example.com\u0007",
  "\u009b2J",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u{e0041}",
  "\ud800",
  "\ufffe",
  "\b\u007f\t",
  " ",
  "rule",
] as const;
const foreign = fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));

const controls = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\uFFFE\uFFFF]/u;
const commands = [/^\s*::/m, /##\w*\[/, /<\{%/];

/** Nothing in an output is obeyed, and nobody but us begins a line of it. */
function expectHarmless(output: string): void {
  expect(output).not.toMatch(controls);
  for (const command of commands) expect(output).not.toMatch(command);
  expect(output).not.toMatch(/^\s*INJECTED/m);
}

describe("text of others is shown and not obeyed", () => {
  test("by the function that all outputs use, which changes nothing twice, and nothing in common text", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        expectHarmless(printable(text));
        expect(printable(printable(text))).toBe(printable(text));
        for (const line of printableLines(ownLines(text))) {
          expectHarmless(line);
          expect(line).not.toContain("\n");
        }
        for (const indent of [0, 2]) {
          const json = printableJson({ [text]: [text] }, indent);
          expectHarmless(json);
          expect(JSON.parse(json)).toEqual({ [text]: [text] });
        }
      }),
    );
    for (const common of ["Grüße, 東京 😀", "a::b, #1, [x], {%}", "10.0.0.1 – “fine”"])
      expect(printable(common)).toBe(common);
  });

  test("in every part of an error", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        const exchange = { method: "GET", path: text, serviceCode: text, serviceMessage: text, requestId: text };
        const options = { attempted: text, advice: text, lines: [text, `  ${text}`], exchange };
        for (const parts of [{}, options, { ...options, attempted: undefined }]) {
          const error = new MerchantRulesError("REJECTED", text, parts);
          expectHarmless(error.message);
          expectHarmless(error.with({ attempted: text }).message);
        }
      }),
    );
  });

  test.each(formats)("in a report as %s", (format) => {
    const path = fc.record({ path: foreign, before: foreign, after: fc.dictionary(foreign, foreign, { maxKeys: 2 }) });
    const finding = fc.record({
      change: fc.constantFrom(...changes),
      ...{ name: foreign, key: foreign, formerKey: foreign, ruleId: foreign, resource: foreign },
      ...{ connection: foreign, owner: foreign, reason: foreign, paths: fc.array(path, { maxLength: 2 }) },
    });
    const parts = fc.record({
      report: fc.constantFrom("plan" as const, "drift" as const, "diff" as const),
      subject: foreign,
      sides: fc.record({ before: foreign, after: foreign }),
      warnings: fc.array(foreign, { maxLength: 2 }),
      notes: fc.array(foreign, { maxLength: 2 }),
      findings: fc.array(finding, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(parts, fc.boolean(), (given, color) => {
        const page = render(reportOf({ rules: 1, unchanged: 0, ...given }), format, { color });
        // Marks of ours: colours, and what keeps Markdown from making links.
        expectHarmless(withoutColors(page).replaceAll("\u200b", ""));
      }),
      { numRuns: 60 },
    );
  });

  test("in the lines of the local engine, as text, as events and as a document", () => {
    fc.assert(
      fc.property(foreign, fc.boolean(), (text, color) => {
        const lines: string[] = [];
        const display = new TextDisplay({ verb: "up", diff: true, color, print: (line) => lines.push(line) });
        const events = new EventLines("up", (line) => lines.push(line));
        for (const each of [display, events]) {
          for (const step of stepsOf(text)) {
            each.onEvent({ kind: "step", step, preview: true });
            each.onEvent({ kind: "done", step, failed: true, durationMs: 1 });
          }
          for (const severity of ["info", "warning", "error"] as const)
            each.onEvent({ kind: "diagnostic", severity, message: ownLines(text), urn: urnOf(text) });
          each.onEvent({ kind: "diagnostic", severity: "info", message: ownLines(text), urn: undefined });
          each.finish(resultOf(text));
        }
        for (const line of lines) {
          expect(line).not.toContain("\n");
          expectHarmless(withoutColors(line));
        }
        expectHarmless(printableJson(jsonDocument(resultOf(text), [], true), 4));
      }),
      { numRuns: 60 },
    );
  });

  describe("of a service, in what hooks print and in how they fail", () => {
    let text = "";
    const server = createServer((request, answer) => {
      const isList = request.method === "GET";
      answer.writeHead(isList ? 200 : 422, { "content-type": "application/json" });
      const rules = [{ id: "r-1", name: text, metadata: { managedBy: text } }];
      answer.end(JSON.stringify(isList ? { rules } : { error: { code: text, message: text, details: [text] } }));
    });
    beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
    afterAll(() => new Promise((resolve) => void server.close(resolve)));

    test.each(fragments)("%j", async (fragment) => {
      text = `${fragment} of the service`;
      const { port } = server.address() as AddressInfo;
      const environment = {
        MERCHANT_RULES_BASE_URL: `http://127.0.0.1:${port}`,
        MERCHANT_RULES_CONTRACT: "illustrative",
        MERCHANT_RULES_TOKEN: "t",
      };
      const said: string[] = [];
      const failures: string[] = [];
      const set = hooksHere("merchantRuleSet", sessionOf(environment), said);
      const failing = async (run: Promise<unknown>): Promise<void> => {
        await run.catch((error: unknown) => {
          if (!(error instanceof HookFailure)) throw error;
          failures.push(error.message);
        });
      };
      const named = resource(`${fragment}all`, {
        rules: { [`${fragment}key`]: { name: `${fragment}mine` }, [`${fragment}other`]: { name: "b" } },
        onUnmanaged: "warn",
      });
      const { failures: faults } = await set.check({ ...named, [fragment]: 1 });
      for (const { property, reason } of faults) failures.push(property, reason);
      await failing(set.create(named));
      await failing(set.diff("set-1", resource(`${fragment}all`, { rules: {}, ruleIds: {}, stateVersion }), named));
      expect(said.length).toBeGreaterThan(1);
      expect(failures.length).toBeGreaterThan(1);
      for (const each of [...said, ...failures]) expectHarmless(each);
    });
  });
});

/** A text whose lines are its own, as a program or an engine writes them. */
function ownLines(text: string): string {
  return text.replace(/\n(::error::)?INJECTED/g, "\n$1");
}

function withoutColors(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]\[\d+m/gu, "");
}

function urnOf(text: string): string {
  return `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/merchant-rules:MerchantRule::${text}`;
}

function stateOf(text: string): ResourceState {
  const urn = urnOf(text);
  const type = "pulumi-nodejs:dynamic/merchant-rules:MerchantRule";
  const inputs = { definition: { [text]: text, more: [text.repeat(20)] } };
  return { ...knownSchema.parse({ urn, custom: true, type, id: text }), inputs, outputs: inputs, rest: {} };
}

function stepsOf(text: string) {
  const [old, now] = [stateOf(text), { ...stateOf(text), inputs: { definition: { [text]: 1 } } }];
  return [stepOf("create", undefined, now), stepOf("update", old, now), stepOf("delete", old, undefined)];
}

function resultOf(text: string): RunResult {
  const finding = { policy: text, pack: text, version: "1", urn: urnOf(text) };
  const policies: PolicyFindings = {
    packs: [{ name: text, version: "1", folder: text }],
    violations: [{ ...finding, level: "mandatory", severity: "high", message: ownLines(text) }],
    remediations: [{ ...finding, before: { a: text }, after: { a: [text] } }],
  };
  return {
    ...{ verb: "up", preview: false, project: "shop", stack: text, ok: false, cancelled: false },
    ...{ steps: stepsOf(text), summary: { create: 1 }, outputs: { [text]: text, long: text.repeat(30) } },
    config: new Map([[text, { text, secret: false, shown: text, stored: text }]]),
    ...{ errors: [new EngineError("FAILED", text)], policies, durationMs: 1 },
  };
}
