import { rmSync, writeFileSync } from "node:fs";
import type { Verb } from "../../../local/engine/index.ts";
import type { Project } from "../engine/support.ts";

/** One run of an engine, after the program was written. */
export interface Run {
  readonly verb: Verb;
  /** Default: the program of the run before. */
  readonly program?: string | undefined;
  readonly flags?: readonly Flag[];
  /** The names of what the run is limited to. Default: everything. */
  readonly targets?: readonly string[];
  /** A change by hand before the run. */
  readonly before?: (project: Project) => void;
  /** The run is ended while it waits in a create: gently, as by Ctrl-C, or by SIGKILL. */
  readonly interrupted?: "cancelled" | "killed";
}

export type Flag = "--refresh" | "--preview-only" | "--expect-no-changes" | "--clear-pending-creates";

/** The history of one stack. */
export interface Case {
  readonly name: string;
  readonly runs: readonly Run[];
}

const up = (program?: string, ...flags: Flag[]): Run => ({ verb: "up", program, flags });
const preview = (program?: string, ...flags: Flag[]): Run => ({ verb: "preview", program, flags });
const refresh = (...flags: Flag[]): Run => ({ verb: "refresh", flags });
const destroy = (...flags: Flag[]): Run => ({ verb: "destroy", flags });
const only = (targets: readonly string[], run: Run): Run => ({ ...run, targets });
const after = (before: (project: Project) => void, run: Run): Run => ({ ...run, before });

/** Somebody changes or deletes the rule of a resource behind the stack's back. */
const edit = (name: string, change: object) => (project: Project) => {
  const file = project.path(`service/${String(project.resource(name).id)}.json`);
  const rule = JSON.parse(project.read(`service/${String(project.resource(name).id)}.json`));
  writeFileSync(file, JSON.stringify({ ...rule, definition: { ...rule.definition, ...change } }));
};
const lose = (name: string) => (project: Project) =>
  rmSync(project.path(`service/${String(project.resource(name).id)}.json`));
const go = (project: Project) => project.write("go", "");

const component = `class C extends pulumi.ComponentResource {
  constructor(name, args, options) { super("fixture:index:C", name, args, options); this.registerOutputs({ args }); }
}`;

/** A rule for each way to write a path; the last is none. */
const ignoring = (definition: string): string =>
  [
    "definition.size",
    "definition",
    "definition.list[*].x",
    "definition.list[0]",
    "definition.map.*",
    "definition.made.deep",
    "*",
    "definition.[",
  ]
    .map(
      (path, k) => `new Rule("r${k}", { name: "r${k}", ${definition} }, { ignoreChanges: [${JSON.stringify(path)}] });`,
    )
    .join("\n");
const replacing = (definition: string): string =>
  ["definition.size", "definition.list[*]", "definition", "*"]
    .map(
      (path, k) =>
        `new Rule("r${k}", { name: "r${k}", ${definition} }, { replaceOnChanges: [${JSON.stringify(path)}] });`,
    )
    .join("\n");

const label = (name: string): string => `{ "fixture:label": ${name}, "merchant-rules:token": pulumi.secret("hidden") }`;
/** An explicit provider; by its label the calls of its host are told apart. */
const sandbox = (name: string): string =>
  `const sandbox = new pulumi.ProviderResource("pulumi-nodejs", "sandbox", ${label(`"${name}"`)});`;

/** A connection beneath an explicit provider, and rules that take the connection's id. */
const connected = (provider: string, connection: string, ...rules: string[]): string =>
  `${sandbox(provider)}
   const connection = new Connection("memory", { name: "${connection}" }, { parent: sandbox, provider: sandbox });
   ${rules.map((name, k) => `new Rule("rule-${k}", { name: "${name}" }, { provider: sandbox }, { of: connection.id });`).join("\n")}`;

/** Programs and histories. What each comes to is recorded from the Pulumi CLI, beside this file. */
export const cases: readonly Case[] = [
  {
    name: "create, no change, update, delete, destroy",
    runs: [
      preview(`new Rule("a", { name: "a", size: 1 }); new Rule("b", { name: "b" });`),
      up(),
      up(),
      preview(`new Rule("a", { name: "a", size: 2 }); new Rule("b", { name: "b" });`),
      up(),
      up(`new Rule("b", { name: "b" });`),
      destroy("--preview-only"),
      destroy(),
      destroy(),
    ],
  },
  {
    name: "changed paths",
    runs: [
      up(
        `new Rule("a", { name: "a", list: [1, 2, { x: 1, y: 2 }], map: { "a.b": 1, "q\\"q": 1, "": 0 }, gone: 1, kind: null });`,
      ),
      preview(
        `new Rule("a", { name: "a", list: [1, 3, { x: 2, z: 1 }, 4], map: { "a.b": 2, "q\\"q": 2, "": 1 }, made: { deep: [] }, kind: "x" });`,
      ),
      up(),
      up(`new Rule("a", { name: "a", list: [], map: "text", made: null });`),
    ],
  },
  {
    name: "a rename",
    runs: [up(`new Rule("a", { name: "x" });`), up(`new Rule("b", { name: "x" });`)],
  },
  {
    name: "an alias by name, and what depends on it",
    runs: [
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b", of: a.ruleId });`),
      preview(
        `const a = new Rule("a2", { name: "a" }, { aliases: [{ name: "a" }] }); new Rule("b", { name: "b", of: a.ruleId });`,
      ),
      up(),
      up(),
      up(`const a = new Rule("a2", { name: "a" }); new Rule("b", { name: "b", of: a.ruleId });`),
    ],
  },
  {
    name: "an alias by URN, with a change",
    runs: [
      up(`new Rule("a", { name: "a", size: 1 });`),
      up(
        `new Rule("b", { name: "a", size: 2 }, { aliases: ["urn:pulumi:dev::fixture::pulumi-nodejs:dynamic/fixture:Rule::a"] });`,
      ),
    ],
  },
  {
    name: "an alias of a component moves its children",
    runs: [
      up(`new Group("g");`),
      preview(`new Group("h", { aliases: [{ name: "g" }] });`),
      up(`new Group("h", { aliases: [{ name: "g" }] });`),
    ],
  },
  {
    name: "a new parent, with an alias",
    runs: [
      up(`new Rule("a", { name: "a" });`),
      up(
        `${component} const c = new C("c", {}); new Rule("a", { name: "a" }, { parent: c, aliases: [{ parent: pulumi.rootStackResource }] });`,
      ),
      up(`new Rule("a", { name: "a" });`),
    ],
  },
  {
    name: "a replacement, with what depends on it",
    runs: [
      up(
        `const a = new Rule("a", { name: "a" }, {}, { kind: 1 }); const b = new Rule("b", { name: "b", of: a.ruleId }); new Rule("c", { name: "c" }, { dependsOn: [b] });`,
      ),
      preview(
        `const a = new Rule("a", { name: "a" }, {}, { kind: 2 }); const b = new Rule("b", { name: "b", of: a.ruleId }); new Rule("c", { name: "c" }, { dependsOn: [b] });`,
      ),
      up(),
    ],
  },
  {
    name: "delete before replace, with dependents that are replaced and some that are not",
    runs: [1, 2].map((kind) =>
      up(`
        const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: ${kind} });
        const b = new Rule("b", { name: "b" }, {}, { kind: a.ruleId });
        const c = new Rule("c", { name: "c", of: a.ruleId });
        new Rule("d", { name: "d" }, { dependsOn: [a] });
        new Rule("e", { name: "e" }, {}, { kind: b.ruleId });
      `),
    ),
  },
  {
    name: "delete before replace, of which a dependent is no longer declared",
    runs: [
      up(`
        const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 1 });
        const b = new Rule("b", { name: "b" }, {}, { kind: a.ruleId });
        new Rule("c", { name: "c" }, { dependsOn: [b] });
      `),
      up(`new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 2 });`),
    ],
  },
  {
    name: "delete before replace, and a former dependent",
    runs: [
      up(`
        const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 1 });
        const b = new Rule("b", { name: "b" }, {}, { kind: a.ruleId });
        new Rule("c", { name: "c" }, { dependsOn: [a, b] });
      `),
      up(`
        const b = new Rule("b", { name: "b" }, {}, { kind: "own" });
        const c = new Rule("c", { name: "c" });
        new Rule("a", { name: "a" }, { deleteBeforeReplace: true, dependsOn: [b, c] }, { kind: 2 });
      `),
      destroy(),
    ],
  },
  {
    name: "delete before replace, of a chain whose end is no longer declared",
    runs: [
      up(`
        const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 1 });
        const b = new Rule("b", { name: "b" }, { dependsOn: [a] });
        const c = new Rule("c", { name: "c" }, {}, { kind: b.ruleId });
        new Rule("d", { name: "d" }, { dependsOn: [c] }, { kind: a.ruleId });
      `),
      up(
        `const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 2 }); new Rule("b", { name: "b" });`,
      ),
    ],
  },
  {
    name: "delete before replace, preview of it",
    runs: [
      up(
        `const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 1 }); new Rule("b", { name: "b" }, {}, { kind: a.ruleId });`,
      ),
      preview(
        `const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 2 }); new Rule("b", { name: "b" }, {}, { kind: a.ruleId });`,
      ),
    ],
  },
  {
    name: "dependsOn, both ways",
    runs: [
      up(`
        const a = new Rule("a", { name: "a" });
        const b = new Rule("b", { name: "b" }, { dependsOn: [a] });
        const c = new Rule("c", { name: "c", of: b.ruleId });
        new Rule("d", { name: "d", of: [a.ruleId, c.ruleId] });
      `),
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`),
      up(`const b = new Rule("b", { name: "b" }); new Rule("a", { name: "a" }, { dependsOn: [b] });`),
      destroy(),
    ],
  },
  {
    name: "components within components",
    runs: [
      up(`
        ${component}
        const outer = new C("outer", { size: 1 });
        const inner = new C("inner", { of: "outer" }, { parent: outer });
        const a = new Rule("a", { name: "a" }, { parent: inner });
        new Rule("b", { name: "b" }, { dependsOn: [outer] });
        new Rule("c", { name: "c" }, { parent: a });
      `),
      preview(`${component} const outer = new C("outer", { size: 2 }); new Rule("a", { name: "a" });`),
      up(),
      destroy(),
    ],
  },
  {
    name: "a component that depends on a rule",
    runs: [
      up(
        `${component} const a = new Rule("a", { name: "a" }); const c = new C("c", { of: a.ruleId }, { dependsOn: [a] }); new Rule("b", { name: "b" }, { parent: c });`,
      ),
      destroy(),
    ],
  },
  {
    name: "a component and a resource of one URN",
    runs: [
      up(`new pulumi.ComponentResource("pulumi-nodejs:dynamic/fixture:Rule", "c", {});`),
      up(`new Rule("c", { name: "c" });`),
      up(`new pulumi.ComponentResource("pulumi-nodejs:dynamic/fixture:Rule", "c", {});`),
    ],
  },
  {
    name: "stack outputs",
    runs: [
      up(
        `const a = new Rule("a", { name: "a" }); exports.text = "x"; exports.deep = { list: [1, { y: a.definition }] }; exports.hidden = pulumi.secret({ z: 1 }); exports.nothing = null;`,
      ),
      preview(`new Rule("a", { name: "a" }); exports.text = "y"; exports.hidden = pulumi.secret({ z: 2 });`),
      up(),
      up(`new Rule("a", { name: "a" });`),
    ],
  },
  {
    name: "a resource as an output",
    runs: [up(`const group = new Group("g"); exports.group = group; exports.rule = group.rule;`), up()],
  },
  {
    name: "secrets in and out",
    runs: [
      up(
        `new Rule("a", { name: "a", token: pulumi.secret("x"), deep: { list: [pulumi.secret(1), 2] } }, {}, { whole: pulumi.secret({ k: 1 }) });`,
      ),
      preview(
        `new Rule("a", { name: "a", token: pulumi.secret("y"), deep: { list: [1, 2] } }, {}, { whole: pulumi.secret({ k: 2 }) });`,
      ),
      up(),
      up(`new Rule("a", { name: "a", token: "y", deep: { list: [1, 2] } });`),
    ],
  },
  {
    name: "what a preview cannot know",
    runs: [
      preview(
        `const a = new Rule("a", { name: "a" }); const b = new Rule("b", { of: a.ruleId, list: [a.ruleId, 1] }); new Rule("c", b.ruleId); exports.id = a.ruleId;`,
      ),
      up(),
      preview(
        `const a = new Rule("a", { name: "a2" }); const b = new Rule("b", { of: a.ruleId, list: [a.ruleId, 1] }); new Rule("c", b.ruleId); exports.id = a.ruleId;`,
      ),
      up(),
    ],
  },
  {
    name: "protect",
    runs: [
      up(`new Rule("a", { name: "a" }, { protect: true }, { kind: 1 }); new Rule("b", { name: "b" });`),
      preview(""),
      up(),
      destroy(),
      up(`new Rule("a", { name: "a" }, { protect: true }, { kind: 2 });`),
      preview(`new Rule("a", { name: "a" }, { protect: false }, { kind: 2 });`),
      up(`new Rule("a", { name: "a" }, { protect: false }, { kind: 1 });`),
      destroy(),
    ],
  },
  {
    name: "protect of a component holds for its children",
    runs: [up(`new Group("g", { protect: true });`), up(""), up(`new Group("g");`), up("")],
  },
  {
    name: "retainOnDelete",
    runs: [
      up(
        `new Rule("a", { name: "a" }, { retainOnDelete: true }, { kind: 1 }); new Rule("b", { name: "b" }, { retainOnDelete: true });`,
      ),
      up(`new Rule("a", { name: "a" }, { retainOnDelete: true }, { kind: 2 });`),
      destroy(),
    ],
  },
  {
    name: "ignoreChanges, by eight ways to write a path",
    runs: [
      up(ignoring(`size: 1, list: [{ x: 1 }, { x: 2 }], map: { p: 1, q: 2 }`)),
      preview(ignoring(`size: 2, list: [{ x: 7 }, { x: 8 }, { x: 9 }], map: { p: 3, r: 4 }, made: { deep: 1 }`)),
      up(),
    ],
  },
  {
    name: "replaceOnChanges, by four ways to write a path",
    runs: [
      up(replacing("size: 1, list: [1]")),
      preview(replacing("size: 2, list: [1]")),
      up(),
      up(replacing("size: 2, list: [2, 3]")),
    ],
  },
  {
    name: "additionalSecretOutputs",
    runs: [
      up(`new Rule("a", { name: "a" }, { additionalSecretOutputs: ["ruleId", "nothing"] });`),
      up(`new Rule("a", { name: "a" });`),
    ],
  },
  {
    name: "deletedWith",
    runs: [
      up(
        `const a = new Rule("a", { name: "a" }, {}, { kind: 1 }); new Rule("b", { name: "b" }, { deletedWith: a }); ${component} new C("c", {}, { deletedWith: a });`,
      ),
      up(
        `const a = new Rule("a", { name: "a" }, {}, { kind: 2 }); new Rule("b", { name: "b" }, { deletedWith: a }); ${component} new C("c", {}, { deletedWith: a });`,
      ),
      up(`const a = new Rule("a", { name: "a" }, {}, { kind: 2 });`),
      up(`const a = new Rule("a", { name: "a" }, {}, { kind: 2 }); new Rule("b", { name: "b" }, { deletedWith: a });`),
      destroy(),
    ],
  },
  {
    name: "customTimeouts",
    runs: [
      up(`new Rule("a", { name: "a" }, { customTimeouts: { create: "1m", delete: "2h" } });`),
      up(`new Rule("a", { name: "a" }, { customTimeouts: { update: "90s" } });`),
    ],
  },
  {
    name: "a create that fails",
    runs: [
      up(
        `const a = new Rule("a", { name: "a", fail: "create" }); new Rule("b", { name: "b" }, { dependsOn: [a] }); exports.id = a.ruleId;`,
      ),
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b" }, { dependsOn: [a] });`),
    ],
  },
  {
    name: "an update that fails",
    runs: [
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b" }, { dependsOn: [a] });`),
      up(`const a = new Rule("a", { name: "a2", fail: "update" }); new Rule("b", { name: "b2" }, { dependsOn: [a] });`),
      up(`const a = new Rule("a", { name: "a2" }); new Rule("b", { name: "b2" }, { dependsOn: [a] });`),
    ],
  },
  {
    name: "a delete that fails",
    runs: [
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b", fail: "delete" }, { dependsOn: [a] });`),
      up(""),
      destroy(),
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b" }, { dependsOn: [a] });`),
      destroy(),
    ],
  },
  {
    name: "inputs that check refuses",
    runs: [preview(`new Rule("a", { name: "a", invalid: true });`), up(), up(`new Rule("a", { name: "a" });`)],
  },
  {
    name: "a create that goes through in part",
    runs: [
      up(`const a = new Rule("a", { name: "a", partial: true }); new Rule("b", { name: "b" }, { dependsOn: [a] });`),
      preview(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b" }, { dependsOn: [a] });`),
      up(),
    ],
  },
  {
    name: "a create that went through in part, and is declared as it was",
    runs: [up(`new Rule("a", { name: "a", partial: true });`), up(), up()],
  },
  {
    name: "an update that goes through in part",
    runs: [
      up(`new Rule("a", { name: "a", size: 1 });`),
      up(`new Rule("a", { name: "a", size: 2, partial: "update" });`),
      preview(`new Rule("a", { name: "a", size: 2 });`),
      up(),
    ],
  },
  {
    name: "a refresh that finds a change and a loss",
    runs: [
      up(
        `const a = new Rule("a", { name: "a", size: 1 }); const b = new Rule("b", { name: "b" }); new Rule("c", { name: "c" }, { dependsOn: [a, b] });`,
      ),
      after((project) => {
        edit("a", { size: 9, more: true })(project);
        lose("b")(project);
      }, refresh("--preview-only")),
      refresh("--preview-only", "--expect-no-changes"),
      refresh(),
      preview(),
      up(),
    ],
  },
  {
    name: "up, preview and destroy with --refresh",
    runs: [
      up(`new Rule("a", { name: "a", size: 1 }); new Rule("b", { name: "b" });`),
      after(edit("a", { size: 9 }), preview(undefined, "--refresh")),
      up(undefined, "--refresh"),
      after(lose("b"), up(undefined, "--refresh")),
      after(lose("a"), destroy("--refresh")),
    ],
  },
  {
    name: "a refresh that finds nothing, one that fails, and one of a resource that is gone with its children",
    runs: [
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b" }, { parent: a });`),
      refresh("--expect-no-changes"),
      after(edit("b", { fail: "read" }), refresh()),
      up(
        `const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b", fail: "read" }, { parent: a }); new Rule("c", { name: "c" });`,
      ),
      after(edit("c", { size: 5 }), refresh()),
      up(`const a = new Rule("a", { name: "a" }); new Rule("b", { name: "b" }, { parent: a });`),
      after(lose("a"), refresh()),
      up(),
    ],
  },
  {
    name: "--expect-no-changes",
    runs: [
      up(`new Rule("a", { name: "a" });`),
      up(undefined, "--expect-no-changes"),
      preview(`new Rule("a", { name: "b" });`, "--expect-no-changes"),
      up(undefined, "--expect-no-changes"),
    ],
  },
  {
    name: "a cancelled run",
    runs: [
      {
        ...up(
          `const a = new Rule("a", { name: "a", pause: true }); const b = new Rule("b", { name: "b" }, { dependsOn: [a] }); exports.b = b.ruleId;`,
        ),
        interrupted: "cancelled",
      },
      after(go, up()),
    ],
  },
  {
    name: "a killed run",
    runs: [
      {
        ...up(
          `const a = new Rule("a", { name: "a" }); const b = new Rule("b", { name: "b", pause: true }, { dependsOn: [a] }); exports.b = b.ruleId;`,
        ),
        interrupted: "killed",
      },
      // Without it the local engine stops before "b", and the CLI goes on.
      refresh("--clear-pending-creates"),
      after(go, up()),
    ],
  },
  {
    name: "a killed run, and a refresh after it",
    runs: [
      { ...up(`new Rule("a", { name: "a", pause: true });`), interrupted: "killed" },
      refresh(),
      refresh("--clear-pending-creates"),
      after(go, up()),
      destroy(),
    ],
  },
  {
    name: "a replacement of which the new resource cannot be created",
    runs: [
      up(`new Rule("a", { name: "a" }, {}, { kind: 1 });`),
      up(`new Rule("a", { name: "a", fail: "create" }, {}, { kind: 2 });`),
      up(`new Rule("a", { name: "a" }, {}, { kind: 2 });`),
    ],
  },
  {
    name: "a replacement of which the old resource cannot be deleted",
    runs: [
      up(`new Rule("a", { name: "a", fail: "delete" }, {}, { kind: 1 });`),
      up(`new Rule("a", { name: "a" }, {}, { kind: 2 });`),
      refresh(),
      up(),
    ],
  },
  {
    name: "two old generations of one resource",
    runs: [
      up(`new Rule("a", { name: "first", fail: "delete" }, {}, { kind: 1 });`),
      up(`new Rule("a", { name: "second", fail: "delete" }, {}, { kind: 2 });`),
      up(`new Rule("a", { name: "third" }, {}, { kind: 3 });`),
      refresh(),
      destroy(),
      up(),
    ],
  },
  {
    name: "delete before replace of which the new resource cannot be created",
    runs: [
      up(
        `const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 1 }); new Rule("b", { name: "b" }, { dependsOn: [a] });`,
      ),
      up(
        `const a = new Rule("a", { name: "a", fail: "create" }, { deleteBeforeReplace: true }, { kind: 2 }); new Rule("b", { name: "b" }, { dependsOn: [a] });`,
      ),
      preview(
        `const a = new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 2 }); new Rule("b", { name: "b" }, { dependsOn: [a] });`,
      ),
      refresh(),
      up(),
    ],
  },
  {
    name: "a pending replacement that is no longer declared",
    runs: [
      up(`new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 1 });`),
      up(`new Rule("a", { name: "a", fail: "create" }, { deleteBeforeReplace: true }, { kind: 2 });`),
      preview(""),
      up(),
    ],
  },
  {
    name: "a pending replacement that is destroyed",
    runs: [
      up(`new Rule("a", { name: "a" }, { deleteBeforeReplace: true }, { kind: 1 });`),
      up(`new Rule("a", { name: "a", fail: "create" }, { deleteBeforeReplace: true }, { kind: 2 });`),
      destroy(),
    ],
  },
  {
    name: "a provider that says changed, and not where",
    runs: [
      up(`new Rule("a", { name: "a", size: 1 }, {}, { vague: true });`),
      preview(`new Rule("a", { name: "a", size: 2 }, {}, { vague: true });`),
      up(),
    ],
  },
  {
    name: "a program that throws",
    runs: [
      up(`new Rule("a", { name: "a" });`),
      preview(`new Rule("b", { name: "b" }); throw new Error("no");`),
      up(),
      up(`new Rule("a", { name: "a" }); exports.x = pulumi.output(1).apply(() => { throw new Error("later"); });`),
    ],
  },
  {
    name: "a program that leaves by process.exit",
    runs: [
      up(`new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`),
      up(`new Rule("a", { name: "a" }).urn.apply(() => setTimeout(() => process.exit(0), 1));`),
    ],
  },
  {
    name: "a program that logs an error",
    runs: [
      up(`new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`),
      up(`pulumi.log.error("told so"); pulumi.log.warn("warned"); new Rule("a", { name: "a" });`),
    ],
  },
  {
    name: "the same name twice",
    runs: [up(`new Rule("a", { name: "a" }); new Rule("a", { name: "b" });`)],
  },
  {
    name: "an empty program",
    runs: [up(""), up(`exports.only = "outputs";`), up(""), destroy()],
  },
  {
    name: "values of all kinds",
    runs: [
      up(
        `new Rule("a", { name: "\\u00e9\\u{1f600}\\n", zero: -0, big: 1e21, small: 1e-7, yes: true, none: null, gap: undefined, list: [null, [], {}], deep: { a: { b: { c: [[[1]]] } } } });`,
      ),
      up(),
      up(`new Rule("a", { name: "x", nan: NaN, inf: Infinity, ninf: -Infinity });`),
    ],
  },
  {
    name: "transformations",
    runs: [
      up(
        `new Rule("a", { name: "a" }, { transformations: [({ props, opts }) => ({ props: { ...props, definition: { name: "b" } }, opts: { ...opts, protect: true } })] });`,
      ),
    ],
  },
  {
    name: "a reordered program",
    runs: [
      up(`new Rule("a", { name: "a" }); new Rule("b", { name: "b" }); new Rule("c", { name: "c" });`),
      up(`new Rule("c", { name: "c" }); new Rule("a", { name: "a" }); new Rule("d", { name: "d" });`),
      destroy(),
    ],
  },
  {
    name: "fifty resources in chains",
    runs: [
      up(
        `let last = []; for (let i = 0; i < 50; i++) { const r = new Rule("r" + i, { name: "r" + i }, { dependsOn: i % 10 === 0 ? [] : last }); last = [r]; }`,
      ),
      up(
        `let last = []; for (let i = 0; i < 50; i += 2) { const r = new Rule("r" + i, { name: "n" + i }, { dependsOn: i % 10 === 0 ? [] : last }); last = [r]; }`,
      ),
      destroy(),
    ],
  },
  {
    name: "an explicit provider beside the default one",
    runs: [
      preview(`${sandbox("one")} new Rule("a", { name: "a" }, { provider: sandbox }); new Rule("d", { name: "d" });`),
      up(),
      up(),
      preview(`${sandbox("two")} new Rule("a", { name: "a" }, { provider: sandbox }); new Rule("d", { name: "d" });`),
      up(),
      up(`${sandbox("two")} new Rule("a", { name: "b" }, { provider: sandbox }); new Rule("d", { name: "e" });`),
      refresh("--preview-only"),
      refresh(),
      destroy("--preview-only"),
      destroy(),
    ],
  },
  {
    name: "an explicit provider of components",
    runs: [
      up(`${sandbox("one")} new Group("g", { provider: sandbox }); new Group("h", { providers: [sandbox] });
          new Group("i", { providers: { "pulumi-nodejs": sandbox } }); new Group("j");`),
      up(`${sandbox("one")} new Group("g", { provider: sandbox }); new Group("h");`),
      up(`new Group("j");`),
    ],
  },
  {
    name: "an explicit provider that has no resources any more, and none at all",
    runs: [
      up(`${sandbox("one")} new Rule("a", { name: "a" }, { provider: sandbox });
          new Rule("b", { name: "b" }, { provider: sandbox });`),
      up(`${sandbox("two")} new Rule("a", { name: "a" }, { provider: sandbox });`),
      preview(`new Rule("d", { name: "d" });`),
      up(),
      up(sandbox("one")),
      destroy(),
    ],
  },
  {
    name: "a resource that gets another provider",
    runs: [
      up(`new Rule("a", { name: "a" }); new Rule("b", { name: "b" });`),
      preview(`${sandbox("one")} new Rule("a", { name: "a" }, { provider: sandbox });
               new Rule("b", { name: "b2" }, { provider: sandbox });`),
      up(),
      up(`${sandbox("one").replaceAll("sandbox", "other")} new Rule("a", { name: "a" }, { provider: other });
          new Rule("b", { name: "b" }, { provider: other });`),
      up(`new Rule("a", { name: "a" }); new Rule("b", { name: "b2" });`),
      destroy(),
    ],
  },
  {
    name: "an explicit provider that gets another name, with an alias",
    runs: [
      up(`${sandbox("one")} new Rule("a", { name: "a" }, { provider: sandbox });
          new Rule("b", { name: "b" }, { provider: sandbox });`),
      preview(`const p = new pulumi.ProviderResource("pulumi-nodejs", "renamed", ${label('"two"')}, { aliases: [{ name: "sandbox" }] });
          new Rule("a", { name: "a2" }, { provider: p });`),
      up(),
      refresh(),
      destroy(),
    ],
  },
  {
    name: "an explicit provider of which an input is not known in a preview",
    runs: [
      preview(`const d = new Rule("d", { name: "d" });
          const p = new pulumi.ProviderResource("pulumi-nodejs", "sandbox", ${label("d.definition.apply(({ name }) => name)")});
          const q = new pulumi.ProviderResource("pulumi-nodejs", "late", ${label("d.ruleId.apply(() => 7)")});
          new Rule("a", { name: "a" }, { provider: p }); const b = new Rule("b", { name: "b" }, { provider: q });
          exports.of = b.definition;`),
      up(),
      up(),
      preview(`const d = new Rule("d", { name: "d" }, {}, { kind: 1 });
          const q = new pulumi.ProviderResource("pulumi-nodejs", "late", ${label("d.ruleId.apply(() => 7)")});
          const b = new Rule("b", { name: "b" }, { provider: q }); exports.of = b.definition;`),
      up(),
      destroy(),
    ],
  },
  {
    name: "an explicit provider that changes in a run that reads first",
    runs: [
      up(`${sandbox("one")} new Rule("a", { name: "a" }, { provider: sandbox });`),
      after(edit("a", { name: "x" }), preview(undefined, "--refresh")),
      up(`${sandbox("two")} new Rule("a", { name: "a" }, { provider: sandbox });`, "--refresh"),
      after(lose("a"), destroy("--refresh")),
    ],
  },
  {
    name: "options of an explicit provider",
    runs: [
      up(`const p = new pulumi.ProviderResource("pulumi-nodejs", "kept", ${label('"one"')}, { protect: true, ignoreChanges: ["merchant-rules:token"], additionalSecretOutputs: ["more"] });
          const q = new pulumi.ProviderResource("pulumi-nodejs", "default-eu", { more: { list: [1, { deep: pulumi.secret(true) }], none: null } });
          new Rule("a", { name: "a" }, { provider: p }); new Rule("b", { name: "b" }, { provider: q });`),
      up(`const p = new pulumi.ProviderResource("pulumi-nodejs", "kept", { ...${label('"one"')}, "merchant-rules:token": "x" }, { protect: true, ignoreChanges: ["merchant-rules:token"] });
          const q = new pulumi.ProviderResource("pulumi-nodejs", "default-eu", { more: 1 });
          new Rule("a", { name: "a" }, { provider: p }); new Rule("b", { name: "b" }, { provider: q });`),
      up(`new Rule("b", { name: "b" });`),
    ],
  },
  {
    name: "a connection whose id others take as an input",
    runs: [
      preview(connected("one", "mine", "a", "b")),
      up(),
      up(),
      up(connected("one", "changed", "a", "b")),
      preview(connected("two", "changed", "a", "b2")),
      up(),
      refresh(),
      up(connected("two", "changed", "a")),
      destroy("--preview-only"),
      destroy(),
    ],
  },
  {
    name: "targets: a rule without its connection, and then with it",
    runs: [
      only(["rule-0"], preview(connected("one", "mine", "a", "b"))),
      only(["rule-0"], up()),
      only(["rule-0", "memory"], up()),
      only(["rule-0"], preview(connected("two", "changed", "a2", "b"))),
      only(["rule-0"], up()),
      up(),
      only(["rule-0"], up(connected("two", "again", "a3", "b3"))),
      only(["rule-0"], up(connected("two", "again", "a4", "b3"), "--refresh")),
      only(["rule-0"], refresh("--preview-only")),
      only(["rule-0"], refresh()),
      only(["memory"], destroy("--preview-only")),
      only(["memory"], destroy()),
      only(["sandbox"], destroy()),
      only(["rule-0"], destroy("--preview-only")),
      only(["rule-0"], destroy()),
      destroy(),
    ],
  },
  {
    name: "targets: providers, components and what is no longer declared",
    runs: [
      up(`new Rule("a", { name: "a" }); new Rule("b", { name: "b" }); new Group("g");`),
      only(["g"], up(`${sandbox("one")} new Rule("b", { name: "b2" }, { provider: sandbox });`)),
      only(
        ["a"],
        preview(`${sandbox("two")} const a = new Rule("a", { name: "a2" });
        new Rule("b", { name: "b2" }, { provider: sandbox, dependsOn: a }); new Group("g", { provider: sandbox, dependsOn: a });
        const n = new Rule("n", { name: "n" }, { provider: sandbox }); new Group("h", { provider: sandbox });
        exports.of = n.ruleId; exports.kept = n.definition;`),
      ),
      only(["a"], up()),
      only(["g-inner"], up()),
      only(["a"], up(`new Rule("a", { name: "a4" });`)),
      only(["g"], up()),
      only(["nowhere"], up()),
      only(["nowhere"], refresh()),
      only(["sandbox"], up()),
      only(["b"], up()),
      up(),
    ],
  },
  {
    name: "targets: a provider that needs what is not a target",
    runs: [
      up(`new Rule("a", { name: "a" });`),
      only(
        ["a"],
        preview(`const d = new Rule("d", { name: "d" });
        const p = new pulumi.ProviderResource("pulumi-nodejs", "late", ${label("d.definition.apply(() => 7)")});
        new Rule("a", { name: "a" }, { provider: p });`),
      ),
      only(["a"], up()),
      only(["d"], up()),
      only(
        ["a"],
        up(`new Rule("a", { name: "b" }, {}, { kind: 1 }); const d = new Rule("d", { name: "d3" });
        const e = new Rule("e", { name: "e" }, { dependsOn: d }); new Rule("f", { name: "f" }, { dependsOn: e });`),
      ),
      only(["f"], up()),
      up(`new Rule("a", { name: "b" }, {}, { kind: 1 }); const d = new Rule("d", { name: "d3" }, { dependsOn: [] }, { kind: 2 });
        const e = new Rule("e", { name: "e" }, { dependsOn: d });`),
      only(
        ["e", "a"],
        up(
          `const d = new Rule("d", { name: "d4" }); new Rule("e2", { name: "e" }, { aliases: [{ name: "e" }], dependsOn: d });`,
        ),
      ),
    ],
  },
];
