import { readdirSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { startLocalService } from "../../local/service/index.ts";
import { parseContract } from "../../sdk/contract/index.ts";
import { newCrypter } from "../../stack/state/crypter.ts";
import { compiled, faultsOf } from "./compile.ts";
import { beginner, type Reader, stepsOf } from "./follow.ts";
import { blocksOf, pageAt, root, sectionOf } from "./page.ts";

const merchants = pageAt("docs/several-merchants.md");
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
    expect(printed).toContain("3 created");
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
