import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Which rooms a room may look into. What is not listed here is not allowed. */
const allowed: Record<string, readonly string[]> = {
  sdk: [],
  provider: ["sdk"],
  local: ["sdk"],
  cli: ["local", "provider", "sdk"],
};

/** Packages that a room may not load, directly or by another's hand. */
const forbidden: Record<string, readonly string[]> = {
  sdk: ["@pulumi/", "hono", "@hono/", "commander", "@grpc/", "google-protobuf"],
  provider: ["hono", "@hono/", "commander", "@grpc/", "google-protobuf", "undici"],
};

function filesOf(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(room, name));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/(?:from|import|import\(|require\()\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}

function roomOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return relative(root, resolve(root, dirname(file), specifier)).split("/")[0];
}

describe.each(Object.keys(allowed))("the room %s", (room) => {
  test(`looks into no room but ${[room, ...(allowed[room] ?? [])].join(", ")}`, () => {
    const files = filesOf(room);
    expect(files.length).toBeGreaterThan(0);
    const outward = files.flatMap((file) =>
      importsOf(file)
        .map((specifier) => [file, specifier, roomOf(file, specifier)] as const)
        .filter(([, , other]) => other !== undefined && other !== room && !allowed[room]?.includes(other)),
    );
    expect(outward).toEqual([]);
  });

  test("loads none of the packages that are not its business", () => {
    const loads = filesOf(room).flatMap((file) =>
      importsOf(file)
        .filter((specifier) => forbidden[room]?.some((name) => specifier === name || specifier.startsWith(name)))
        .map((specifier) => `${file} loads ${specifier}`),
    );
    expect(loads).toEqual([]);
  });
});

test("the pure rooms do no I/O", () => {
  const io = ["node:fs", "node:http", "node:net", "node:child_process", "undici", "fetch("];
  const pure = [
    ...filesOf("sdk/rules"),
    "provider/reconcile/plan.ts",
    "provider/reconcile/observe.ts",
    "provider/reconcile/apply.ts",
  ];
  for (const file of pure)
    for (const name of io) expect(readFileSync(join(root, file), "utf8"), file).not.toContain(name);
});
