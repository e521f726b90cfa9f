import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import structMessages from "google-protobuf/google/protobuf/struct_pb.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { providerSource } from "../../../provider/resources/provider-source.ts";
import { rule } from "../../support/rules.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const script = createRequire(import.meta.url).resolve("@pulumi/pulumi/cmd/dynamic-provider");

/** A Node on the PATH that is older than the provider needs; npm puts a newer one before it. */
function olderNode(): { file: string; version: string } | undefined {
  for (const folder of new Set((process.env.PATH ?? "").split(delimiter))) {
    const file = join(folder, "node");
    const { status, stdout } = spawnSync(file, ["--version"], { encoding: "utf8" });
    const [, version = "", major, minor] = /^v((\d+)\.(\d+)\.\d+)/.exec(stdout ?? "") ?? [];
    if (status === 0 && (Number(major) < 22 || (Number(major) === 22 && Number(minor) < 19))) return { file, version };
  }
  return undefined;
}

const older = olderNode();

/** Calls check in a provider host that runs under another Node than this one, as the engine does in a preview. */
async function messageOfCheck(node: string, hooks: Parameters<typeof providerSource>[0]): Promise<string> {
  const child = spawn(node, [script, "127.0.0.1:1"], { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const client = new provider.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  const inputs = hooks === "merchantRule" ? { definition: rule(1) } : { rules: { a: rule(1) } };
  const request = new messages.CheckRequest()
    .setOlds(structMessages.Struct.fromJavaScript({}))
    .setNews(structMessages.Struct.fromJavaScript({ ...inputs, __provider: providerSource(hooks) }));
  const error = await new Promise<ServiceError | null>((resolve) => client.check(request, resolve));
  return error?.details ?? "no error";
}

describe.skipIf(older === undefined)("a provider host under a Node older than 22.19 (needs one on the PATH)", () => {
  test.each(["merchantRule", "merchantRuleSet"] as const)(
    "fails the preview of a %s with the version that runs and the one that it needs",
    async (hooks) => {
      const message = await messageOfCheck(older?.file ?? "", hooks);
      expect(message).toContain(`the provider runs under Node ${older?.version}, and needs Node 22.19 or newer`);
      expect(message).toContain("put a newer Node first on the PATH");
    },
  );

  test("ends a program with the same, when it imports the package", () => {
    const script = 'try { require("pulumi-merchant-rules") } catch (error) { console.log(error.message) }';
    const { stdout } = spawnSync(older?.file ?? "", ["-e", script], { cwd: root, encoding: "utf8" });
    expect(stdout).toContain(
      `the program runs under Node ${older?.version}, and needs Node 22.19 or newer. What to do:`,
    );
  });
});
