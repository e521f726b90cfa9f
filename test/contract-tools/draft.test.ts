import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { draftContract, type Fact } from "../../contract-tools/draft.ts";
import { gaps, openGaps } from "../../contract-tools/gaps.ts";
import { contractFields } from "../../scripts/reference/contract-fields.ts";
import { parseContract } from "../../sdk/contract/index.ts";
import { pageAt, rowsOf } from "../docs/page.ts";

const facts: readonly Fact[] = [
  { at: "/idempotency", value: { header: "Idempotency-Key" }, source: "asked: yes" },
  { at: "/operations/list", value: { path: "/api/v1/merchants/rules", items: "/rules" }, source: "--list-path" },
  { at: "/operations/list/lagMs", value: 0, source: "measured: a rule was in the list at once" },
  { at: "/operations/delete/identifyBy", value: { in: "query", name: "ruleId" }, source: "measured: that rule went" },
];

describe("a contract from facts", () => {
  test("has each fact's source above its field, in the order of the reference, and the open gaps at the end", () => {
    const { text, contract } = draftContract(facts, ["Of a sandbox."]);
    expect(text).toMatchInlineSnapshot(`
      "# yaml-language-server: $schema=./node_modules/pulumi-merchant-rules/sdk/contract/contract.schema.json
      # Of a sandbox.
      version: 1
      operations:
        delete:
          # measured: that rule went
          identifyBy: { in: query, name: ruleId }
        # --list-path
        list:
          path: /api/v1/merchants/rules
          items: /rules
          # measured: a rule was in the list at once
          lagMs: 0
      # asked: yes
      idempotency: { header: Idempotency-Key }

      # Open, because nothing above says it. Each question with its field, and what follows without an answer:
      #   operations.list.pagination: Does the list come in pages? Without it: an answer that says that there is more is an error
      #   operations.list.summaries: Do the items of the list have all fields of a rule? Without it: an item of which a GET shows more is an error
      #   operations.get.lagMs: How long may a read of one rule be behind? Without it: a read that does not show a write is sent again after the list's lag, or a second
      #   operations.update: How is a rule changed? Without it: a change replaces the rule
      #   rule.schema: Which fields may a rule have? Without it: a preview does not check definitions
      #   rule.naturalKey: Which field is unique among a merchant's rules? Without it: a rule whose id was lost cannot be found
      #   rule.owner: Is there a field for a note of ours, which keeps a text of 200 characters as it is? Without it: the service cannot tell owners apart
      #   rule.transitions: Are fields changed by requests of their own, such as activate or publish? Without it: a field is sent with the others
      #   rule.gone: Do deleted rules still come in answers? Without it: they count as present
      #   rule.foreign: Does the service have rules of its own? Without it: they are like any other rule
      #   rule.forms: Does it answer a value otherwise than it was sent, such as \`10\` as \`"10.00"\`? Without it: the write is the error \`RULE_DIFFERS\`
      #   rule.secret: Which fields hold secrets? Without it: only what the program marks with \`pulumi.secret\` is secret
      #   rule.writeOnly: Does it take fields that it does not show again, or shows masked? Without it: a write of such a field is the error \`RULE_DIFFERS\`
      #   rule.envelope: Does a body or an answer have the rule below another field? Without it: the body is the rule, and an answer has its fields at the root
      #   operations.create.headers: Does each request need a header of its own? Without it: only \`Authorization\` and JSON's own are sent
      #   auth.present: How does a request carry the token? Without it: it is sent as \`Authorization: Bearer\`
      #   errors.message: Where does an error say what went wrong? Without it: \`/error/code\`, \`/error/message\` and \`/error/details\` are looked at
      #   errors.notFound: Does the service say "not there" or "exists already" otherwise than by 404 and 409? Without it: such an answer is a failure
      #   errors.failure: Can a body say that something failed although the status is a success? Without it: the status alone says whether something was done
      #   limits.pageSize: Is there a largest page? Without it: 200 rules are asked for
      #   auth.token: Is a token obtained from a client id and a secret? Without it: the token itself is a setting
      #   auth.identity: Can the service, the token or the client id say who the credentials are? Without it: only rules that are known can show that this is the right merchant
      #   operations.create.identifyBy: May the client choose a rule's id? Without it: the service chooses ids
      "
    `);
    expect(contract).toEqual(parseContract(text, "x"));
  });

  test("is read as the facts, whatever stands in values and sources", () => {
    const words = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("<<", "# a", "a: b", "\n- x", "'", "!!x", "~"),
    );
    const field = fc.record({ value: words, source: words });
    fc.assert(
      fc.property(field, field, ({ value, source }, other) => {
        const drafted = draftContract(
          [
            { at: "/description", value, source },
            { at: "/rule/schema", value: { const: other.value, [other.value]: true }, source: other.source },
          ],
          [source],
        );
        expect(parse(drafted.text)).toEqual({
          version: 1,
          description: value,
          rule: { schema: { const: other.value, [other.value]: true } },
        });
        for (const line of drafted.text.split("\n")) expect(line).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  test("takes the later of two facts about one place, and drops what was said below it", () => {
    const { text, contract } = draftContract(
      [
        ...facts,
        { at: "/operations/list", value: null, source: "there is none" },
        { at: "/idempotency/header", value: "X-Key", source: "another header" },
      ],
      [],
    );
    expect(contract.operations.list).toBeNull();
    expect(contract.idempotency).toEqual({ header: "X-Key" });
    expect(text).toContain("# there is none\n  list: null");
    expect(text).not.toMatch(/--list-path|in the list at once/);
  });

  test("is refused where it cannot work, with the place and what is allowed", () => {
    const wrong = { at: "/operations/list", value: { path: "rules", items: "/rules" }, source: "a guess" };
    expect(() => draftContract([wrong], [])).toThrow(
      /operations\.list\.path: found "rules"; allowed: a path that begins with \//,
    );
  });
});

describe("the gaps", () => {
  const rows = rowsOf(pageAt("docs/contract.md")).filter(([question]) => question?.endsWith("?"));

  test("are the questions of docs/contract.md, in its order and its words", () => {
    const plain = (text = ""): string => text.replace(/; see \[below\]\([^)]+\)/, "");
    expect(rows.map(([question, , without]) => [question, plain(without)].join(" → "))).toEqual(
      gaps.map(({ question, without }) => `${question} → ${without}`),
    );
    for (const [index, { field }] of gaps.entries()) expect(rows[index]?.[1], field).toContain(named(field));
  });

  test("name fields that a contract has", () => {
    const paths = contractFields().map(({ path }) => path);
    for (const { field, also = [], needs = field } of gaps)
      for (const each of [field, needs, ...also.filter((one) => !one.includes("*"))]) expect(paths).toContain(each);
  });

  test("are open while the contract says nothing, and do not arise without what they ask about", () => {
    const open = (written: Parameters<typeof openGaps>[0]): string[] => openGaps(written).map(({ field }) => field);
    expect(open({ version: 1 })).toEqual(gaps.filter(({ needs }) => needs === undefined).map(({ field }) => field));
    expect(open({ operations: { update: { path: "/r/{ruleId}" } } })).toContain("operations.update.version");
    expect(open({ operations: { list: null } })).toContain("operations.list");
    expect(open({ rule: { transitions: [] } })).not.toContain("rule.transitions");
    expect(open({ operations: { get: { headers: { A: "b" } } } })).not.toContain("operations.create.headers");
  });
});

/** As the page writes it. */
function named(field: string): string {
  return field === "operations.create.headers" ? "`headers` of each operation" : `\`${field}\``;
}
