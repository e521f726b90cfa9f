import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { importResources } from "../../../local/engine/index.ts";
import { hasPulumi, TestProject } from "../../support/stack/project.ts";
import { serve } from "../../support/stack/service.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const exportSchema = z.object({
  deployment: z.looseObject({ resources: z.array(z.looseObject({ urn: z.string(), type: z.string() })) }),
});
const historySchema = z.array(z.looseObject({ kind: z.string(), result: z.string(), resourceChanges: z.unknown() }));

const secret = (text: string) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(text),
});

/** A file as `merchant-rules export` writes it, with a secret, a null, and a rule below another. */
function importFile(names: readonly string[]): string {
  const resources = names.map((name) => {
    const inputs = {
      __provider: 'exports.handler=()=>require("pulumi-merchant-rules/provider").merchantRule',
      __owner: { [`lifecycle/test/${name}`]: null },
      definition: { name, nothing: null, empty: {}, list: [], token: secret(`of ${name}`) },
    };
    const outputs = { ...inputs, ruleId: `id-${name}`, stateVersion: 3 };
    const type = "pulumi-nodejs:dynamic/merchant-rules:MerchantRule";
    return { type, name, id: `id-${name}`, inputs, outputs, ...(name === "below" ? { parent: "first" } : {}) };
  });
  return JSON.stringify({ resources });
}

describe.skipIf(!hasPulumi)("the state after an import (needs the Pulumi CLI)", { timeout: 120_000 }, () => {
  test("is what `pulumi import --file` leaves, field by field, in a new stack and in one that has resources", async () => {
    const served = await serve();
    opened.push(() => served.close());
    const [ours, theirs] = [0, 1].map(() => {
      const project = new TestProject(served.environment);
      opened.push(() => project.remove());
      return project;
    });
    if (ours === undefined || theirs === undefined) throw new Error("there are two");
    const pulumi = async (project: TestProject, ...words: string[]): Promise<string> => {
      const { code, stdout, output } = await project.pulumi(...words, "--stack", "test");
      expect(code, output).toBe(0);
      return stdout;
    };
    for (const project of [ours, theirs]) {
      await project.init("pulumi");
      await pulumi(project, "config", "set", "merchant-rules:contract", "illustrative");
      await pulumi(project, "config", "set", "--secret", "merchant-rules:token", "geheim");
    }
    const seen = async (project: TestProject): Promise<unknown> => {
      const { deployment } = exportSchema.parse(JSON.parse(await pulumi(project, "stack", "export", "--show-secrets")));
      const provider = deployment.resources.find(({ type }) => type.startsWith("pulumi:providers:"));
      const plain = JSON.stringify(deployment.resources).replaceAll(String(provider?.id), "(provider)");
      const history = historySchema.parse(JSON.parse(await pulumi(project, "stack", "history", "--json")));
      const [{ kind, result, resourceChanges } = {}] = history;
      const times = plain.replace(/"(created|modified)":"[-0-9T:.]+Z"/g, '"$1":"(time)"');
      // The CLI writes resources in the order in which it came to their end.
      const resources = z.array(z.looseObject({ urn: z.string() })).parse(JSON.parse(times));
      const sorted = [...resources.slice(0, 2), ...resources.slice(2).sort((a, b) => (a.urn < b.urn ? -1 : 1))];
      return { resources: sorted, kind, result, resourceChanges };
    };
    for (const names of [["first", "below", "second"], ["later"]]) {
      for (const project of [ours, theirs]) project.write("import.json", importFile(names));
      await importResources({ file: "import.json", cwd: ours.folder, stack: "test", env: ours.environment() });
      await pulumi(theirs, "import", "--file", "import.json", "--generate-code=false", "--protect=false", "--yes");
      expect(await seen(ours)).toEqual(await seen(theirs));
      expect(ours.state()).not.toContain("of first");
      expect(ours.state()).toContain("ciphertext");
    }
  });
});
