import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ruleFile } from "../../../cli/export/rule-file.ts";
import { editedRuleText } from "../../../sdk/files/edit-rule-text.ts";
import { asWritten, canonical, isJson, isJsonObject, type Json, type JsonObject } from "../../../sdk/json/index.ts";

const text = `# who: risk team

# the natural key
name: 'large'   # never change
priority:   100
conditions:
  # euros only
  - { field: amount, operator: gt, value: 10 }
  # by night
  - field: hour
    operator: "is"

    values: [ 1,2 ]   # and so on
  - field: country
    # not ours
    value: DE
# limits
limits:
    day: 0x10
    hour: 2
note: |
  two
  lines
empty:
last: ~
`;

function read(source: string): JsonObject {
  const value: unknown = parse(source);
  if (!isJson(value) || !isJsonObject(value)) throw new Error("no rule");
  return value;
}

/** The text after a change of its content, which the test makes in place. */
function edited(source: string, change: (rule: ReturnType<typeof parse>) => void): string | undefined {
  const after: JsonObject = parse(source);
  change(after);
  return editedRuleText(source, read(source), after, source.startsWith("{\n"));
}

describe("the text of a rule file with another content", () => {
  test("differs in the values that changed, and in nothing else", () => {
    const changed = edited(text, (rule) => {
      rule.name = "it's";
      rule.priority = 90;
      rule.conditions[0].value = "10, or so";
      rule.conditions[1].operator = "not";
      rule.conditions[1].values[1] = null;
      rule.limits.day = 17;
      rule.empty = "no";
      rule.last = 1.5;
    });
    const wanted = text
      .replace("'large'", "'it''s'")
      .replace("100", "90")
      .replace("value: 10", 'value: "10, or so"')
      .replace('"is"', '"not"')
      .replace("1,2", "1,null")
      .replace("0x10", "17")
      .replace("empty:", 'empty: "no"')
      .replace("~", "1.5");
    expect(changed).toBe(wanted);
  });

  test("keeps every other field to the letter where elements and fields come and go", () => {
    const changed = edited(text, (rule) => {
      rule.conditions.splice(1, 1);
      rule.conditions.push({ field: "bin", value: 4 });
      delete rule.limits;
      rule.note = "one line";
      rule.added = { since: "2026-01-01" };
    });
    expect(changed).toBe(`# who: risk team

# the natural key
name: 'large'   # never change
priority:   100
conditions:
  # euros only
  - { field: amount, operator: gt, value: 10 }
  - field: country
    # not ours
    value: DE
  - field: bin
    value: 4
note: |-
  one line
empty:
last: ~
added:
  since: "2026-01-01"
`);
  });

  test("has the form of its text: line ends, unindented lists, flow, JSON with its indentation", () => {
    expect(edited("a: 1\r\nb:\r\n- x: 1 # one\r\n- y\r\n", (rule) => rule.b.shift())).toBe("a: 1\r\nb:\r\n- y\r\n");
    expect(edited("{a: [1, 2], b: {c: x}}\n", (rule) => rule.a.pop())).toBe("{a: [1], b: {c: x}}\n");
    expect(edited('{\n\t"a": [1, 2],\n\t"b": "x"\n}\n', (rule) => Object.assign(rule, { b: 'y"' }))).toBe(
      '{\n\t"a": [1, 2],\n\t"b": "y\\""\n}\n',
    );
    expect(edited('{\n    "a": [1],\n    "b": 1\n}', (rule) => void delete rule.b)).toBe(
      '{\n    "a": [\n        1\n    ]\n}',
    );
  });

  test("is none where another value would change with it", () => {
    expect(edited("a: &x 1\nb: *x\n", (rule) => Object.assign(rule, { a: 2 }))).toBeUndefined();
    expect(edited("a: &x 1\nb: *x\n", (rule) => Object.assign(rule, { b: 2 }))).toBe("a: &x 1\nb: 2\n");
    expect(edited("a: !!str 1\n", (rule) => Object.assign(rule, { a: 2 }))).toBeUndefined();
  });

  test("holds the new content and the comments of what stays, whatever changes", () => {
    const name = fc.constantFrom("name", "a", "b", "odd key", "<<", "#", "1", "x: y");
    const leaf = fc.oneof(
      fc.constantFrom<Json>(
        null,
        true,
        0,
        1.5,
        1e21,
        "",
        " a",
        "a #b",
        "null",
        "1",
        "- x",
        "a, b]",
        "two\nlines\n",
        "\u0085",
      ),
      fc.string(),
      fc.integer(),
    );
    const { json } = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie("json"), { maxLength: 4 }),
        fc.array(fc.tuple(name, tie("json")), { maxLength: 4 }).map((fields) => Object.fromEntries(fields)),
      ),
    }));
    const rule = json.filter(isJsonObject).map((each): JsonObject => ({ kept: "as it is", ...each, end: [1] }));
    const form = fc.constantFrom("yaml", "json", "tabs", "line");
    fc.assert(
      fc.property(rule, rule, form, (before, after, as) => {
        const plain =
          as === "yaml"
            ? ruleFile(before, undefined)
            : JSON.stringify(before, null, as === "json" ? 2 : as === "tabs" ? "\t" : 0);
        const source =
          as === "yaml" ? `# head\n${plain.replace("kept: as it is\n", "kept:   'as it is'   # stays\n")}` : plain;
        const changed = editedRuleText(source, before, after, as !== "yaml");
        if (changed === undefined) throw new Error("it was not changed");
        expect(canonical(read(changed), asWritten)).toBe(canonical(after, asWritten));
        if (as === "yaml")
          expect([changed.startsWith("# head\n"), changed.includes("kept:   'as it is'   # stays\n")]).toEqual([
            true,
            true,
          ]);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? "1") * 200 },
    );
  });
});
