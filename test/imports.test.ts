import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Which rooms a room may look into. What is not listed here is not allowed. */
const allowed: Record<string, readonly string[]> = {
  sdk: [],
  meaning: ["sdk"],
  provider: ["sdk"],
  stack: ["sdk"],
  policy: ["provider", "meaning", "sdk"],
  report: ["stack", "provider", "meaning", "sdk"],
  "contract-tools": ["stack", "provider", "sdk"],
  local: ["stack", "provider", "sdk"],
  // Says by rule what a run did: what the command prints.
  "local/testing": ["report", "local", "stack", "provider", "meaning", "sdk"],
  cli: ["report", "contract-tools", "stack", "provider", "meaning", "sdk"],
};

/** Packages that a room may not load, directly or by another's hand. */
const forbidden: Record<string, readonly string[]> = {
  sdk: ["@pulumi/", "hono", "@hono/", "commander", "@grpc/", "google-protobuf"],
  meaning: ["@pulumi/", "hono", "@hono/", "commander", "@grpc/", "google-protobuf", "undici"],
  "contract-tools": ["@pulumi/", "hono", "@hono/", "commander", "@grpc/", "google-protobuf"],
  provider: ["hono", "@hono/", "commander", "@grpc/", "google-protobuf", "undici"],
  policy: ["hono", "@hono/", "commander", "@grpc/", "google-protobuf", "undici", "@pulumi/pulumi"],
  stack: ["hono", "@hono/", "commander", "@grpc/", "google-protobuf", "undici"],
  report: ["hono", "@hono/", "commander", "@grpc/", "google-protobuf", "undici"],
  local: ["undici", "commander", "@pulumi/policy"],
  cli: ["hono", "@hono/", "@grpc/", "google-protobuf"],
};

/** A room inside a room, which may look into more. */
const kit = "local/testing";

function filesOf(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/(^|\/)(dist|node_modules)\//.test(name))
    .map((name) => join(room, name))
    .filter((file) => room === kit || !file.startsWith(`${kit}/`));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/(?:from|import|import\(|require\()\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}

/** The file of this repository that an import leads to. */
function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return relative(root, resolve(root, dirname(file), specifier));
}

function isIn(file: string, rooms: readonly string[]): boolean {
  return rooms.some((room) => file.startsWith(`${room}/`));
}

describe.each(Object.keys(allowed))("the room %s", (room) => {
  test(`looks into no room but ${[room, ...(allowed[room] ?? [])].join(", ")}`, () => {
    const files = filesOf(room);
    expect(files.length).toBeGreaterThan(0);
    const outward = files.flatMap((file) =>
      importsOf(file)
        .map((specifier) => [file, specifier, targetOf(file, specifier)] as const)
        .filter(([, , other]) => other !== undefined && !isIn(other, [room, ...(allowed[room] ?? [])])),
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

test("the policies know nothing of the provider but the names of its types", () => {
  const provider = filesOf("policy").flatMap((file) =>
    importsOf(file).filter(
      (specifier) => targetOf(file, specifier)?.startsWith("provider/") && !specifier.endsWith("/types.ts"),
    ),
  );
  expect(provider).toEqual([]);
});

describe("the border between the two packages", () => {
  /** The packages that files load, by their names. */
  function loadedBy(files: readonly string[]): string[] {
    const loaded = files
      .flatMap(importsOf)
      .filter((specifier) => /^(@[a-z]|[a-z])[^:\s]*$/.test(specifier))
      .map((specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
    return [...new Set(loaded)].sort();
  }

  const packages = {
    "pulumi-merchant-rules": {
      folder: "",
      entries: ["sdk", "meaning", "provider", "stack", "contract-tools", "report", "policy", "cli"],
    },
    "pulumi-merchant-rules-local": {
      folder: "local",
      entries: ["local/engine", "local/quickstart", "local/service", kit],
    },
  };

  test.each(Object.entries(packages))("%s loads what it depends on, and depends on what it loads", (name, of) => {
    const described = JSON.parse(readFileSync(join(root, of.folder, "package.json"), "utf8"));
    const files = of.entries.flatMap(filesOf).filter((file) => !file.includes(".test."));
    const loaded = loadedBy(files).filter((each) => each !== name && !(name in packages && each in packages));
    const peers = Object.keys(described.peerDependencies).filter((each) => !(each in packages));
    expect(loaded.filter((each) => !peers.includes(each))).toEqual(Object.keys(described.dependencies).sort());
  });

  test("the command reaches over it by name in one file", () => {
    const byName = filesOf("cli").filter((file) =>
      /import\("pulumi-merchant-rules-local|\$\{name\}\/\$\{entry\}/.test(readFileSync(join(root, file), "utf8")),
    );
    expect(byName).toEqual(["cli/local-package.ts"]);
  });

  test("both have one version", () => {
    const [main, local] = ["", "local"].map((folder) =>
      JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")),
    );
    expect(local.version).toBe(main.version);
    expect(local.peerDependencies["pulumi-merchant-rules"]).toBe(main.version);
    for (const [name, version] of Object.entries(local.dependencies))
      if (name in main.dependencies) expect(version, name).toBe(main.dependencies[name]);
  });
});

test("the pure rooms do no I/O", () => {
  const io = ["node:fs", "node:http", "node:net", "node:child_process", "undici", "fetch("];
  const pure = [
    ...filesOf("sdk/json"),
    // load.ts, value-lists.ts and read-payments.ts read files; values.ts asks node:net whether a text is an address.
    ...filesOf("meaning").filter((file) => !/\/(load|value-lists|values|read-payments)\.ts$/.test(file)),
    "provider/reconcile/plan.ts",
    "provider/reconcile/whose.ts",
    "provider/reconcile/mark.ts",
    "provider/reconcile/holders.ts",
    "provider/reconcile/apply.ts",
  ];
  for (const file of pure)
    for (const name of io) expect(readFileSync(join(root, file), "utf8"), file).not.toContain(name);
});
