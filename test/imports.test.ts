import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

const door = "index.ts";

/** Which rooms a room may look into, also for a type alone. What is not listed here is not allowed. */
const allowed: Record<string, readonly string[]> = {
  sdk: [],
  meaning: ["sdk"],
  provider: ["sdk"],
  stack: ["sdk"],
  policy: ["provider", "meaning", "sdk"],
  report: ["stack", "provider", "meaning", "sdk"],
  "contract-tools": ["stack", "provider", "sdk"],
  "local/service": ["sdk"],
  // It runs any program: what it must know of rules is handed in.
  "local/engine": ["stack", "sdk"],
  // Says by rule what a run did: what the command prints.
  "local/testing": ["local/engine", "local/service", "report", "stack", "provider", "sdk"],
  "local/quickstart": ["local/testing", "stack", "sdk"],
  cli: ["report", "contract-tools", "stack", "provider", "meaning", "sdk"],
};

/**
 * The folders of a room, from the ground up; `.` are the files of the room itself but for its door, `index.ts`. A folder
 * looks into those of lower floors alone. One that stands apart looks into no other folder of its room, and no other looks
 * into it, but for the door.
 */
const floors: Record<string, { readonly floors: readonly (readonly string[])[]; readonly apart?: string }> = {
  sdk: { floors: [["json"], ["."], ["files"], ["contract"], ["client"], [door]] },
  meaning: {
    floors: [["language"], ["evaluate"], ["decider", "words"], ["proof", "sql"], ["lint"], [door]],
    apart: "payments",
  },
  provider: {
    floors: [
      ["host"],
      ["merchant"],
      ["decide"],
      ["refusals"],
      ["run"],
      ["steps"],
      ["settings"],
      ["state"],
      ["hooks"],
      ["resources"],
      [door],
    ],
  },
  stack: { floors: [["."], ["values"], ["state"], ["project"], ["open"]] },
  policy: { floors: [["base"], ["."], [door]] },
  report: {
    floors: [
      [".", "model"],
      ["words", "files", "state"],
      ["drift"],
      ["plan"],
      ["sides"],
      ["diff", "page", "meaning"],
      ["formats", "lint", "simulation"],
      [door],
    ],
  },
  "contract-tools": { floors: [["."], ["openapi", "probe"]] },
  "local/engine": { floors: [["hosts"], ["policies"], ["deploy"], ["run"], ["display"], [door]] },
  "local/testing": { floors: [["."], [door]] },
  "local/quickstart": { floors: [["."], [door]] },
};

const notRules = ["hono", "@hono/", "commander", "@grpc/", "google-protobuf"];

/** Packages that a room may not load, directly or by another's hand. */
const forbidden: Record<string, readonly string[]> = {
  sdk: ["@pulumi/", ...notRules],
  meaning: ["@pulumi/", "undici", ...notRules],
  "contract-tools": ["@pulumi/", ...notRules],
  provider: ["undici", ...notRules],
  policy: ["undici", "@pulumi/pulumi", ...notRules],
  stack: ["undici", ...notRules],
  report: ["undici", ...notRules],
  "local/service": ["undici", "commander", "@pulumi/", "@grpc/", "google-protobuf"],
  "local/engine": ["undici", "commander", "@pulumi/policy", "hono", "@hono/"],
  "local/testing": ["undici", "@pulumi/", ...notRules],
  "local/quickstart": ["undici", "@pulumi/", ...notRules],
  cli: ["hono", "@hono/", "@grpc/", "google-protobuf"],
};

/** Rooms in which folders still know each other in a circle. The list only loses lines. */
const roomsWithCircles = ["cli", "local/service", "sdk/contract"];

/** A room inside a room, which may look into more. */
const kit = "local/testing";

function filesOf(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/(^|\/)(dist|node_modules)\//.test(name))
    .map((name) => join(room, name))
    .filter((file) => room === kit || !file.startsWith(`${kit}/`));
}

const known = new Map<string, readonly string[]>();

/** Everything that a file imports, in whatever way: values, types, `import("…")` as a value or a type. */
function importsOf(file: string): readonly string[] {
  const imports = known.get(file) ?? importsIn(readFileSync(join(root, file), "utf8"));
  known.set(file, imports);
  return imports;
}

function importsIn(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** The file of this repository that an import leads to. */
function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return relative(root, resolve(root, dirname(file), specifier));
}

function targetsOf(file: string): string[] {
  return importsOf(file).flatMap((specifier) => targetOf(file, specifier) ?? []);
}

function isIn(file: string, rooms: readonly string[]): boolean {
  return rooms.some((room) => file.startsWith(`${room}/`));
}

const rooms = Object.keys(allowed);
const allFiles = rooms.flatMap(filesOf);

describe.each(rooms)("the room %s", (room) => {
  const files = filesOf(room);

  test(`looks into no room but ${[room, ...(allowed[room] ?? [])].join(", ")}`, () => {
    expect(files.length).toBeGreaterThan(0);
    const outward = files.flatMap((file) =>
      targetsOf(file)
        .filter((target) => !isIn(target, [room, ...(allowed[room] ?? [])]))
        .map((target) => `${file} → ${target}`),
    );
    expect(outward).toEqual([]);
  });

  test("loads none of the packages that are not its business", () => {
    const loads = files.flatMap((file) =>
      importsOf(file)
        .filter((specifier) => forbidden[room]?.some((name) => specifier === name || specifier.startsWith(name)))
        .map((specifier) => `${file} loads ${specifier}`),
    );
    expect(loads).toEqual([]);
  });
});

describe.each(Object.entries(floors))("the folders of %s", (room, { floors: ofRoom, apart }) => {
  const folderOf = (file: string): string => {
    const [first = "", ...rest] = relative(room, file).split("/");
    return rest.length > 0 || first === door ? first : ".";
  };
  const floorOf = (file: string): number => ofRoom.findIndex((folders) => folders.includes(folderOf(file)));

  test("have a floor each", () => {
    const folders = [...new Set(filesOf(room).map(folderOf))];
    expect(folders.sort()).toEqual([...ofRoom.flat(), ...(apart === undefined ? [] : [apart])].sort());
  });

  test("look into those below them alone", () => {
    const upward = filesOf(room).flatMap((file) =>
      targetsOf(file)
        .filter((target) => isIn(target, [room]) && folderOf(target) !== folderOf(file))
        .filter((target) => [file, target].map(folderOf).includes(apart ?? "") || floorOf(target) >= floorOf(file))
        .map((target) => `${file} → ${target}`),
    );
    expect(upward).toEqual([]);
  });
});

describe("circles", () => {
  /** The sets of nodes that lead to each other, each sorted. */
  function circlesIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
    const reached = new Map(
      [...graph.keys()].map((node) => {
        const from = new Set(graph.get(node));
        for (const each of from) for (const next of graph.get(each) ?? []) from.add(next);
        return [node, from] as const;
      }),
    );
    const circles = [...reached].flatMap(([node, from]) =>
      from.has(node)
        ? [
            [...from]
              .filter((each) => reached.get(each)?.has(node))
              .sort()
              .join(" "),
          ]
        : [],
    );
    return [...new Set(circles)].sort();
  }

  function graphOf(nodeOf: (file: string) => string): Map<string, Set<string>> {
    const graph = new Map<string, Set<string>>(allFiles.map((file) => [nodeOf(file), new Set()]));
    for (const file of allFiles)
      for (const target of targetsOf(file))
        if (nodeOf(target) !== nodeOf(file)) graph.get(nodeOf(file))?.add(nodeOf(target));
    return graph;
  }

  test("of files there are none", () => {
    expect(circlesIn(graphOf((file) => file))).toEqual([]);
  });

  test("of folders there are none", () => {
    const isLeft = (circle: string): boolean =>
      roomsWithCircles.some((room) => circle.split(" ").every((folder) => isIn(`${folder}/`, [room])));
    const folderOf = (file: string): string =>
      rooms.includes(dirname(file)) && basename(file) === door ? file : dirname(file);
    expect(circlesIn(graphOf(folderOf)).filter((each) => !isLeft(each))).toEqual([]);
  });
});

describe("drift, plan, diff and the formats", () => {
  /** The files that are loaded with others: what is imported as a type alone is not. */
  function loadedWith(entries: readonly string[]): string[] {
    const files = new Set(entries);
    for (const file of files)
      for (const specifier of valuesOf(file)) {
        const target = targetOf(file, specifier);
        if (target !== undefined) files.add(target);
      }
    return [...files];
  }

  function valuesOf(file: string): string[] {
    const compilerOptions = {
      verbatimModuleSyntax: true,
      target: ts.ScriptTarget.Latest,
      module: ts.ModuleKind.ESNext,
    };
    return importsIn(ts.transpileModule(readFileSync(join(root, file), "utf8"), { compilerOptions }).outputText);
  }

  const ofReasoning = ["meaning/decider", "meaning/proof", "meaning/sql", "meaning/lint"];

  test("load nothing that reasons about rules", () => {
    const folders = ["report/drift", "report/plan", "report/diff", "report/formats"];
    const loaded = loadedWith(["report/index.ts", ...folders.flatMap(filesOf)]);
    expect(loaded.filter((file) => isIn(file, ofReasoning))).toEqual([]);
  });

  test("where lint does, so that the test above can fail", () => {
    expect(loadedWith(filesOf("report/lint"))).toContain("meaning/proof/space.ts");
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

describe("the core of the provider", () => {
  /** All nodes of a file, in order. */
  function nodesOf(file: string): ts.Node[] {
    const nodes: ts.Node[] = [
      ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true),
    ];
    for (const node of nodes) node.forEachChild((child) => void nodes.push(child));
    return nodes;
  }

  test("decides without waiting, and knows nothing of run and steps", () => {
    const files = filesOf("provider/decide");
    expect(files.length).toBeGreaterThan(0);
    const waiting = files.filter((file) =>
      nodesOf(file).some(({ kind }) => [ts.SyntaxKind.AwaitExpression, ts.SyntaxKind.AsyncKeyword].includes(kind)),
    );
    expect(waiting).toEqual([]);
    const known = files.flatMap(targetsOf).filter((target) => isIn(target, ["provider/run", "provider/steps"]));
    expect(known).toEqual([]);
  });

  /** Maps that are kept elsewhere: by a schema, a stack, an environment. The list only loses lines. */
  const otherMaps = [
    "provider/hooks/check.ts checkers",
    "provider/resources/data.ts sessions",
    "provider/settings/misspelt-variables.ts said",
  ];

  test("keeps what changes during a run in run and the session alone", () => {
    const isOfRun = (file: string): boolean => isIn(file, ["provider/run"]) || file === "provider/hooks/session.ts";
    const maps = filesOf("provider").flatMap((file) =>
      nodesOf(file).flatMap((node) => {
        const isField = ts.isPropertyDeclaration(node);
        if (!isField && !(ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent))) return [];
        const isMap = /^(new )?(Weak)?(Map|Set)\b/.test((node.type ?? node.initializer)?.getText() ?? "");
        return isMap ? [`${file} ${node.name.getText()}`] : [];
      }),
    );
    const others = maps.filter((each) => !isOfRun(each.split(" ")[0] ?? ""));
    expect(maps.length).toBeGreaterThan(others.length);
    expect(others).toEqual(otherMaps);
  });

  test("never loads what reasons about rules", () => {
    const loaded = new Set(filesOf("provider"));
    for (const file of loaded) for (const target of targetsOf(file)) loaded.add(target);
    expect([...loaded].filter((file) => !isIn(file, ["provider", "sdk"]))).toEqual([]);
  });
});

test("the pure rooms do no I/O", () => {
  const io = ["node:fs", "node:http", "node:net", "node:child_process", "undici", "fetch("];
  const pure = [
    ...filesOf("sdk/json"),
    // load.ts, value-lists.ts and read-payments.ts read files; values.ts asks node:net whether a text is an address.
    ...filesOf("meaning").filter((file) => !/\/(load|value-lists|values|read-payments)\.ts$/.test(file)),
    ...filesOf("provider/merchant"),
    ...filesOf("provider/decide"),
  ];
  for (const file of pure)
    for (const name of io) expect(readFileSync(join(root, file), "utf8"), file).not.toContain(name);
});
