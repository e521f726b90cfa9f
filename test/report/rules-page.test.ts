import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventsPath } from "../../local/service/index.ts";
import { liveRow, type RuleRow, ruleRow } from "../../report/page/rule-row.ts";
import { livePage, rulesPage } from "../../report/page/rules-page.ts";
import { defineContract, loadPreset } from "../../sdk/contract/index.ts";
import { serve } from "../local/service/under-test.ts";
import { Browser, hasChromium } from "../support/browser.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";

const hostile = [
  "</script><script>hacked = true</script>",
  '<img src=x onerror="hacked = true">',
  "<!--",
  "&lt;b&gt;",
  "\u202egnp.exe",
  "\u2028",
];

function row(k: number, more: Partial<Parameters<typeof ruleRow>[0]> = {}): RuleRow {
  return ruleRow({
    id: `id-${k}`,
    name: `rule-${k}`,
    state: "declared",
    weight: "quiet",
    about: ["MerchantRuleSet all", `id r-${k}`],
    connection: "default",
    definition: { ...rule(k), tags: ["a", { deep: k % 2 === 0 }] },
    paths: [],
    ...more,
  });
}

/** The scripts that run, and the block of data, of a page. */
function scriptsOf(html: string): { run: string[]; data: string } {
  const scripts = [...html.matchAll(/<script(?: type="application\/json" id="data")?>(.*?)<\/script>/gs)];
  const [data = ""] = scripts.filter(([all]) => all.startsWith("<script type")).map(([, text = ""]) => text);
  return { run: scripts.filter(([all]) => all.startsWith("<script>")).map(([, text = ""]) => text), data };
}

test("whatever a rule holds is data of the page, which runs its own scripts and no others", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...hostile));
  const made = fc.record({
    name: text,
    about: fc.array(text, { maxLength: 2 }),
    connection: text,
    definition: fc.dictionary(text, text),
  });
  fc.assert(
    fc.property(fc.array(made, { maxLength: 5 }), (parts) => {
      const rules = parts.map((each, k) => row(k, each));
      const html = rulesPage({ title: hostile.join(""), rules });
      const { run, data } = scriptsOf(html);
      expect(run).toHaveLength(1);
      expect(data).not.toContain("<");
      expect(JSON.parse(data)).toEqual(JSON.parse(JSON.stringify(rules)));
      const [, policy = ""] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
      const [, style = ""] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
      const hashes = [style, ...run].map((each) => `'sha256-${createHash("sha256").update(each).digest("base64")}'`);
      expect(policy).toBe(
        `default-src 'none'; style-src ${hashes[0]}; script-src ${hashes[1]}; base-uri 'none'; form-action 'none'`,
      );
    }),
  );
});

test("a secret of a rule is no part of its row", () => {
  const contract = defineContract({ version: 1, rule: { secret: ["/token", "/keys/*/value"], naturalKey: "/token" } });
  const shown = JSON.stringify(
    liveRow({ ruleId: "r", rule: { token: "hush", keys: [{ value: "hush", kind: "hmac" }], note: "seen" } }, contract),
  );
  expect(shown).not.toContain("hush");
  expect(shown).toContain("hmac");
  expect(shown).toContain("seen");
});

/** The list as a person sees it. */
const seen = "[...document.querySelectorAll('#rules li .name')].map((name) => name.textContent)";
const count = "document.getElementById('count').textContent";
const set = (id: string, value: string): string =>
  `(() => { const control = document.getElementById("${id}"); control.value = ${JSON.stringify(value)}; control.dispatchEvent(new Event("input")); })()`;

describe.skipIf(!hasChromium)("in a browser", { timeout: 120_000 }, () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    folder = newFolder();
    browser = await Browser.open();
  });
  afterAll(() => browser.close());

  async function open(rules: readonly RuleRow[], look?: Parameters<Browser["goTo"]>[1]): Promise<void> {
    writeFileSync(join(folder, "page.html"), rulesPage({ title: "Rules of stack dev", rules }));
    browser.asked.length = 0;
    await browser.goTo(pathToFileURL(join(folder, "page.html")).href, look);
  }

  test("5,000 rules are there at once, and are found by text, state, connection and the value of a field", async () => {
    const states = [
      ["declared", "quiet"],
      ["drifted", "difference"],
      ["unmanaged", "gain"],
      ["another's", "gain"],
    ] as const;
    await open(
      Array.from({ length: 5000 }, (_, k) => {
        const [state, weight] = states[k < 3 ? k + 1 : 0] ?? states[0];
        return row(k, { state, weight, connection: k % 1000 === 0 ? "globex" : "default" });
      }),
    );
    expect(await browser.see(count)).toBe("5,000 rules");
    await browser.see(set("search", "RULE-49 r-491"));
    expect(await browser.see(count)).toBe("11 of 5,000 rules");
    await browser.see(set("search", ""));
    await browser.see(set("state", "another's"));
    expect(await browser.see(seen)).toEqual(["rule-2"]);
    await browser.see(set("state", ""));
    await browser.see(set("connection", "globex"));
    expect(await browser.see(seen)).toEqual(["rule-0", "rule-1000", "rule-2000", "rule-3000", "rule-4000"]);
    await expect.poll(() => browser.see("[...field.options].map((option) => option.value)")).toContain("tags[].deep");
    await browser.see(set("field", "priority"));
    await browser.see(set("value", String(rule(3000).priority)));
    expect(await browser.see(seen)).toContain("rule-3000");
    await browser.see(set("value", "no such"));
    expect(await browser.see(count)).toBe("0 of 5,000 rules");
    // Rows that nobody has scrolled to are on paper all the same.
    for (const id of ["value", "field", "connection"]) await browser.see(set(id, ""));
    await browser.see("dispatchEvent(new Event('beforeprint'))");
    expect(await browser.see("list.childElementCount")).toBe(5000);
    expect(browser.asked).toHaveLength(1);
    expect(browser.complaints).toEqual([]);
  });

  test("everything is reached and opened by the keyboard", async () => {
    await open([row(1, { state: "drifted", paths: [{ path: "priority", before: 1, after: 2 }] }), row(2)]);
    await expect.poll(() => browser.see("field.options.length")).toBeGreaterThan(1);
    const focused = "document.activeElement.id || document.activeElement.textContent";
    const order = [];
    for (let k = 0; k < 6; k++) {
      await browser.press("Tab");
      order.push(await browser.see(focused));
    }
    expect(order.slice(0, 4)).toEqual(["search", "state", "field", "open"]);
    expect(order[4]).toContain("rule-1");
    expect(order[5]).toContain("rule-2");
    await browser.press("Enter");
    await expect.poll(() => browser.see("document.querySelectorAll('#rules pre').length")).toBe(1);
    await browser.see("document.getElementById('search').focus()");
    await browser.type("rule-1");
    expect(await browser.see(seen)).toEqual(["rule-1"]);
    await browser.see("document.querySelector('#rules summary').focus()");
    await browser.press("Space");
    await expect
      .poll(() => browser.see("[...document.querySelectorAll('#rules table code')].map((code) => code.textContent)"))
      .toEqual(["priority", "1", "2"]);
  });

  test("hostile rules are text", async () => {
    await open(
      hostile.map((text, k) => row(k, { name: text, about: [text], connection: text, definition: { [text]: text } })),
    );
    await browser.see("document.getElementById('open').click()");
    await expect.poll(() => browser.see("document.querySelectorAll('#rules pre').length")).toBe(hostile.length);
    expect(await browser.see("typeof hacked")).toBe("undefined");
    expect(await browser.see("document.querySelectorAll('#rules img, #rules script, #rules b').length")).toBe(0);
    expect(await browser.see(seen)).toContain("</script><script>hacked = true</script>");
    expect(await browser.see("document.body.textContent.includes('\\u202e')")).toBe(false);
    expect(browser.complaints).toEqual([]);
  });

  test("nothing lies beside a narrow screen", async () => {
    await open([row(1, { name: "x".repeat(150) })], { width: 360, height: 700, isDark: true });
    await browser.see("document.getElementById('open').click()");
    expect(await browser.see("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await browser.see("getComputedStyle(document.body).backgroundColor")).toBe("rgb(20, 23, 26)");
  });

  test("the live page of a service shows rules and requests as they come and go", async () => {
    const contract = loadPreset("illustrative");
    const service = await serve({
      contract,
      page: { ...livePage("Local rules service", eventsPath), row: (each) => ({ ...liveRow(each, contract) }) },
    });
    await browser.goTo(service.pageUrl ?? "");
    await expect.poll(() => browser.see("document.getElementById('connected').textContent")).toBe("live");
    expect(await browser.see(count)).toBe("0 rules");
    const ids = Array.from({ length: 2000 }, (_, k) => service.put(undefined, rule(k)));
    await fetch(`${service.url}/nowhere`);
    await expect.poll(() => browser.see(count)).toBe("2,000 rules");
    await expect
      .poll(() => browser.see("document.getElementById('requests').textContent"))
      .toContain("404GET /nowhereunknown");
    expect(await browser.see(`${seen}[0]`)).toBe(rule(1999).name);
    await browser.see("document.querySelector('#rules summary').focus()");
    await browser.press("Enter");
    service.put(ids.at(-1), { ...rule(1999), name: "renamed" });
    await expect.poll(() => browser.see(`${seen}[0]`)).toBe("renamed");
    expect(await browser.see("document.activeElement.textContent")).toContain("renamed");
    await expect.poll(() => browser.see("document.querySelector('#rules pre').textContent")).toContain("renamed");
    for (const id of ids.slice(5)) service.remove(id);
    await expect.poll(() => browser.see(count)).toBe("5 rules");
    await browser.goTo(service.pageUrl ?? "");
    await expect.poll(() => browser.see(count)).toBe("5 rules");
    expect(browser.complaints).toEqual([]);
    await service.close();
    await expect
      .poll(() => browser.see("document.getElementById('connected').textContent"))
      .toBe("not connected; trying again");
    browser.complaints.length = 0;
  });
});
