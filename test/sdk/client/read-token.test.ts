import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Credentials } from "../../../sdk/client/index.ts";
import { newFolder } from "../../support/folder.ts";
import { clientOf, failureOf, serve } from "./scripted-server.ts";

/** A service that accepts one token at a time, and says to all others which. */
async function serviceFor(accepted: string) {
  let now = accepted;
  const refused = () => ({ status: 401, json: { error: { message: `not ${now}`, code: "expired" } } });
  const server = await serve(({ headers }) =>
    headers.authorization === `Bearer ${now}` ? { json: { name: "x" } } : refused(),
  );
  const accept = (token: string): void => {
    now = token;
  };
  return { server, accept };
}

const kinds = ["tokenFile", "tokenCommand"] as const;

/** A token in a file, or out of a command that counts its runs. */
function placeOf(kind: (typeof kinds)[number], text: string) {
  const folder = newFolder({ token: text, runs: "" });
  const command = "echo run >> runs && echo hush >&2 && cat token";
  const [file, runs] = [join(folder, "token"), join(folder, "runs")];
  const credentials: Credentials = kind === "tokenFile" ? { kind, file } : { kind, command, folder };
  const write = (token: string): void => writeFileSync(file, token);
  return { credentials, file, write, runs: () => readFileSync(runs, "utf8").split("\n").length - 1 };
}

describe.each(kinds)("a token of %s", (kind) => {
  test("is read by the first request, once for all, and presented without the blanks around it", async () => {
    const { credentials, write, runs } = placeOf(kind, "");
    const { server } = await serviceFor("t1");
    const client = clientOf(server, {}, { credentials });
    write("\n  t1 \r\n");
    await Promise.all([client.get("r1"), client.get("r2")]);
    write("t2");
    await client.get("r3");
    expect(server.requests).toHaveLength(3);
    expect(runs()).toBe(kind === "tokenFile" ? 0 : 1);
  });

  test("that rotates in mid-run is read anew after a 401, once for all calls", async () => {
    const { credentials, write, runs } = placeOf(kind, "t1");
    const { server, accept } = await serviceFor("t1");
    const client = clientOf(server, {}, { credentials });
    await client.get("r1");
    write("t2\n");
    accept("t2");
    await Promise.all(Array.from({ length: 10 }, (_, index) => client.get(`r${index}`)));
    expect(runs()).toBe(kind === "tokenFile" ? 0 : 2);
  });

  test("that is the same after a 401 is not sent again: the 401 says where it came from, and no value", async () => {
    const { credentials, file } = placeOf(kind, "hunter2-ended");
    const { server } = await serviceFor("t1");
    const credentialsFrom = "MERCHANT_RULES_X in the environment";
    const error = await failureOf(clientOf(server, {}, { credentials, credentialsFrom }).get("r1"));
    expect(server.requests).toHaveLength(1);
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", exchange: { status: 401, serviceCode: "expired" } });
    const where = kind === "tokenFile" ? `the file ${file}, read again after the 401` : "run again after the 401";
    expect(error.message).toContain(`of this connection, from ${credentialsFrom} (${where})`);
    expect(error.message).not.toContain("hunter2");
  });

  test("that another merchant's service repeats is redacted, the new one as well as the old", async () => {
    const { credentials, write } = placeOf(kind, "hunter2-first");
    const server = await serve(({ headers }) => {
      write("hunter2-second");
      return { status: 401, json: { error: { message: `${headers.authorization} was hunter2-first` } } };
    });
    const error = await failureOf(clientOf(server, {}, { credentials }).get("r1"));
    expect(server.requests).toHaveLength(2);
    expect(`${error.stack}${error.cause}`).not.toMatch(/hunter2/);
    expect(error.message).toContain("[redacted]");
  });
});

const folder = newFolder({ empty: " \n", lines: "hunter2\nhunter3\n" });
const run = (command: string, timeoutMs = 30_000): Credentials => ({
  kind: "tokenCommand",
  command,
  folder,
  timeoutMs,
});
const file = (name: string): Credentials => ({ kind: "tokenFile", file: join(folder, name) });

test.each<[what: string, Credentials, says: string]>([
  ["a file that is not there", file("hunter2"), "cannot be read (ENOENT)"],
  ["an empty file", file("empty"), "is empty"],
  ["a file of several lines", file("lines"), "has several lines"],
  ["a command that fails", run("echo hunter2; echo hunter2 >&2; exit 3"), "ended with exit code 3"],
  ["a command that there is not", run("hunter2-no-such-command"), "ended with exit code 127"],
  ["a command that prints nothing", run("echo hunter2 >&2"), "printed nothing"],
  ["a command that prints several lines", run("cat lines"), "printed several lines"],
  ["a command that never ends", run("echo hunter2; sleep 20 | cat", 200), "did not end within 200 ms"],
  ["a command that waits for an answer", run("echo 'Password: hunter2' >&2; read answer"), "ended with exit code 1"],
  ["a command that prints without end", run("yes hunter2"), "printed more than 1 MiB"],
])("%s is an error of the credentials that names the setting, and nothing that was read or printed", async (...of) => {
  const [, credentials, says] = of;
  const server = await serve([{}]);
  const from = "MERCHANT_RULES_X in the environment";
  const client = clientOf(server, {}, { credentials, credentialsFrom: from });
  const error = await failureOf(client.get("r1"));
  expect(error).toMatchObject({ code: "UNAUTHENTICATED", outcomeUnknown: false });
  expect(error.message).toContain(
    `read the token to get rule "r1" failed: the ${credentials.kind.slice(5).toLowerCase()} of ${from} ${says}`,
  );
  expect(error.message).toContain("What to do: ");
  expect(`${error.stack}${JSON.stringify(error)}${error.cause}`).not.toContain("hunter2");
  // Nothing is asked again for each of a thousand rules.
  expect(await failureOf(client.create({}))).toMatchObject({ code: "NOT_TRIED" });
  expect(server.requests).toHaveLength(0);
});
