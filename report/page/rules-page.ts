import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { escaped } from "../words/report-words.ts";
import { contentPolicy, dataBlock, htmlDocument } from "./document.ts";
import type { RuleRow } from "./rule-row.ts";
import { rulesStyle } from "./style.ts";

/** A page of rules; `above` and `below` are HTML. */
export interface RulesPage {
  /** Plain text. */
  readonly title: string;
  readonly above?: readonly string[];
  readonly rules: readonly RuleRow[];
  /** The names of the two sides of a difference. */
  readonly sides?: readonly [before: string, after: string];
  readonly below?: readonly string[];
}

/** Writes all rules into one file, to be searched and filtered; it fetches nothing. */
export function rulesPage({ title, above = [], rules, sides = ["declared", "live"], below = [] }: RulesPage): string {
  const body = [
    "<main>",
    `<h1>${escaped(title)}</h1>`,
    ...above,
    ...controls(rules),
    `<ul id="rules" data-sides="${escaped(sides.join("|"))}"></ul>`,
    moreButton,
    ...below,
    "</main>",
    dataBlock("data", rules),
  ];
  return htmlDocument({ title, body, moreStyle: rulesStyle, scripts: [script("rules")] });
}

/** Returns the page of a running service, and the policy that its server sends with it. */
export function livePage(title: string, events: string): { readonly html: string; readonly policy: string } {
  const body = [
    "<main>",
    `<h1>${escaped(title)} <span id="connected" class="badge quiet" role="status">connecting</span></h1>`,
    '<div class="beside"><section aria-labelledby="rules-title">',
    '<h2 id="rules-title">Rules</h2>',
    ...controls([]),
    `<ul id="rules" data-sides="" data-events="${escaped(events)}"></ul>`,
    moreButton,
    '</section><section class="requests" aria-labelledby="requests-title">',
    '<h2 id="requests-title">Last requests</h2>',
    '<div class="scrolled" tabindex="0" role="region" aria-labelledby="requests-title">',
    '<table><thead><tr><th scope="col">Time</th><th scope="col">Status</th><th scope="col">Request</th><th scope="col">Operation</th></tr></thead><tbody id="requests"></tbody></table>',
    "</div></section></div>",
    "</main>",
  ];
  const parts = { moreStyle: rulesStyle, scripts: [script("rules"), script("live")], asksItsServer: true };
  // Another site must not show the page in a frame; only a header can say that.
  const policy = `${contentPolicy(parts)}; frame-ancestors 'none'`;
  return { html: htmlDocument({ title, body, ...parts }), policy };
}

const moreButton = '<button type="button" id="more" hidden>Show more</button>';

/** Returns search, filters and the count. A filter with one choice is left out of sight. */
function controls(rules: readonly RuleRow[]): string[] {
  return [
    '<div class="controls" role="search" aria-label="Rules">',
    '<label class="wide">Search <input type="search" id="search" autocomplete="off" spellcheck="false"></label>',
    select(
      "state",
      "State",
      Map.groupBy(rules, ({ state }) => state),
    ),
    select(
      "connection",
      "Connection",
      Map.groupBy(rules, ({ connection }) => connection),
    ),
    '<label>Field <select id="field"><option value="">any</option></select></label>',
    '<label>Value <input type="search" id="value" autocomplete="off" spellcheck="false" disabled></label>',
    '<button type="button" id="open">Open all</button>',
    "</div>",
    '<p id="count" class="about" role="status"></p>',
    "<noscript><p>The rules are shown by a script of this page, which this browser does not run.</p></noscript>",
  ];
}

function select(id: string, label: string, choices: ReadonlyMap<string, readonly RuleRow[]>): string {
  const options = [...choices].map(
    ([choice, rules]) => `<option value="${escaped(choice)}">${escaped(choice)} (${rules.length})</option>`,
  );
  const isHidden = choices.size < 2 ? " hidden" : "";
  return `<label${isHidden}>${label} <select id="${id}"><option value="">all</option>${options.join("")}</select></label>`;
}

/** Reads a script that is inlined as it stands in the package. */
function script(name: "rules" | "live"): string {
  const home = dirname(createRequire(import.meta.url).resolve("pulumi-merchant-rules/package.json"));
  return `\n${readFileSync(join(home, "report/page/browser", `${name}.js`), "utf8")}`;
}
