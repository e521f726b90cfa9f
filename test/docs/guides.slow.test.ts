import { readdirSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { startLocalService } from "../../local/service/index.ts";
import { parseContract } from "../../sdk/contract/index.ts";
import { newCrypter } from "../../stack/state/crypter.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { compiled, faultsOf } from "./compile.ts";
import { beginner, type Reader, stepsOf } from "./follow.ts";
import { blocksOf, pageAt, root, sectionOf } from "./page.ts";

const merchants = pageAt("docs/several-merchants.md");
const drift = pageAt("docs/drift.md");
const secrets = pageAt("docs/secrets.md");

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function reading(): Promise<Reader> {
  const reader = await beginner("local");
  ends.push(() => reader.leave());
  return reader;
}

describe("docs/several-merchants.md", () => {
  test("has a contract that can be used, with the merchant as a parameter", () => {
    const [block = ""] = blocksOf(sectionOf(merchants, "The merchant is a parameter"), "yaml");
    expect(Object.keys(parseContract(block, "contract.yaml").parameters)).toEqual(["merchantId"]);
  });

  test.each(["Connections in one program", "Many merchants in one stack"])(
    "makes the rules of each merchant at its own service: %s",
    async (heading) => {
      const reader = await reading();
      const contract = parseContract(reader.read("merchant-rules.contract.yaml"), "contract.yaml");
      const [nl, de] = [await startLocalService({ contract }), await startLocalService({ contract })];
      ends.push(
        () => nl.close(),
        () => de.close(),
      );
      const at: Readonly<Record<string, string>> = { "4011": nl.url, "4012": de.url };
      const connections = stepsOf(sectionOf(merchants, "Connections in one program"), "local");
      for (const step of [...connections, ...stepsOf(sectionOf(merchants, heading), "local")])
        if (step.kind === "run")
          await reader.run(
            step.commands.replace(/http:\/\/127\.0\.0\.1:(\d+)/g, (all, port: string) => at[port] ?? all),
          );
        else await reader.follow([step]);
      expect(await reader.run("npx --no-install merchant-rules local up --yes")).toContain("created");
      const priorities = [nl, de].map((service) => service.rules().map(({ rule }) => rule.priority));
      expect(priorities).toEqual(heading.startsWith("Many") ? [[110], [90]] : [[100], [100]]);
    },
  );
});

describe("docs/drift.md", () => {
  test("heals a rule that was changed by hand, as it says, without the Pulumi CLI", () => heals("local"));
  test.skipIf(!hasPulumi)("heals a rule that was changed by hand, as it says, with the Pulumi CLI", () =>
    heals("pulumi"),
  );

  async function heals(engine: EngineName): Promise<void> {
    const reader = await beginner(engine);
    ends.push(() => reader.leave());
    const page = pageAt("docs/getting-started.md");
    const applying = page.slice(page.indexOf("\n## 6. "), page.indexOf("\n## 7. "));
    await reader.follow(stepsOf(applying, engine));
    const byHand = (method: string, path: string, body = ""): Promise<string> =>
      reader.run(
        `curl -sS --fail -X ${method} -H "Authorization: Bearer $MERCHANT_RULES_TOKEN" -H 'Content-Type: application/json' ${body === "" ? "" : `-d '${body}'`} "$MERCHANT_RULES_BASE_URL/api/v1/merchants/rules${path}"`,
      );
    const listed = async () =>
      z
        .object({ rules: z.array(z.looseObject({ ruleId: z.string(), name: z.string(), priority: z.number() })) })
        .parse(JSON.parse(await byHand("GET", ""))).rules;
    const [made] = await listed();
    const bySystem = { ruleId: undefined, createdAt: undefined, updatedAt: undefined };
    await byHand("PUT", `/${made?.ruleId}`, JSON.stringify({ ...made, ...bySystem, priority: 1 }));
    await byHand("POST", "", JSON.stringify({ name: "by-hand", priority: 5 }));
    expect(await reader.run("npx --no-install merchant-rules drift || echo exit code $?")).toMatch(
      /priority: 100 → 1\n.*unmanaged {2}by-hand.*exit code 7/s,
    );
    // A plain up does not see it.
    await reader.run(engine === "pulumi" ? "pulumi up --yes" : "npx --no-install merchant-rules local up --yes");
    expect((await listed()).map(({ priority }) => priority)).toEqual([1, 5]);
    await reader.follow(stepsOf(sectionOf(drift, "Heal drift"), engine));
    expect((await listed()).map(({ priority }) => priority)).toEqual([100, 5]);
  }
});

describe("docs/secrets.md", () => {
  test("has a contract that can be used, with the field that its program keeps secret", () => {
    const [block = ""] = blocksOf(secrets, "yaml");
    expect(parseContract(block, "contract.yaml").rule.secret).toEqual(["/actions/0/apiKey"]);
  });

  test("has a program whose secret is in no state and no output", async () => {
    const reader = await reading();
    await reader.follow(stepsOf(secrets, "local").filter(({ kind }) => kind === "write"));
    const secret = "sk-live-0123456789";
    const crypter = await newCrypter("try-it");
    const value = `\n    secure: ${crypter.encrypt(secret)}\n`;
    reader.write("Pulumi.dev.yaml", `encryptionsalt: ${crypter.salt}\nconfig:\n  payment-rules:reviewKey:${value}`);
    const printed = await reader.run("npx --no-install merchant-rules local up --yes --diff");
    expect(printed).toContain("4 created");
    expect(printed).not.toContain(secret);
    const state = reader.read(".pulumi/stacks/payment-rules/dev.json");
    expect(state).toContain("ciphertext");
    expect(state).not.toContain(secret);
  });
});

describe("the pages for new users", () => {
  const pages = ["getting-started", "moving", "several-merchants", "secrets"];
  const blocks = Object.fromEntries(
    pages.flatMap((page) => blocksOf(pageAt(`docs/${page}.md`), "ts").map((text, at) => [`${page}-${at + 1}`, text])),
  );
  const program = compiled(blocks);

  test.each(Object.keys(blocks))("have only TypeScript that compiles: %s", (name) => {
    expect(faultsOf(program, name)).toEqual([]);
  });

  test("are all in the index, as is every page", () => {
    const index = pageAt("docs/README.md");
    const all = readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".md") && name !== "README.md" && !/^decisions\/(?!README)/.test(name),
    );
    expect(all.length).toBeGreaterThan(18);
    expect(all.filter((name) => !index.includes(`(${name})`))).toEqual([]);
  });
});
