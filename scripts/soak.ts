// The soak: rules are created, changed, refreshed and deleted in one process for an hour. See docs/reliability.md.
import { type ChildProcess, fork } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import type { FaultInput } from "../local/service/index.ts";
import type { Session } from "../provider/hooks/session.ts";
import type { JsonObject } from "../sdk/json/index.ts";
import { optionsOf } from "../test/support/command-line.ts";
import { rule } from "../test/support/rules.ts";
import { EngineModel } from "../test/support/stack/engine-model.ts";
import { type Host, hooksHere, sessionOf } from "../test/support/stack/hosts.ts";

interface Options {
  readonly minutes: number;
  readonly rules: number;
  readonly seed: number;
}

interface Sample {
  readonly rssMiB: number;
  readonly heapMiB: number;
  /** Open ones, idle ones included. */
  readonly sockets: number;
  /** Open descriptors; those of sockets alone where the system does not list them all. */
  readonly descriptors: number;
}

/** By how much the median of the last third may be above that of the first: a share of it, and so much more. */
const tolerances: readonly (readonly [figure: keyof Sample, share: number, more: number])[] = [
  ["rssMiB", 0.15, 20],
  ["heapMiB", 0.1, 5],
  ["sockets", 0.1, 10],
  ["descriptors", 0.1, 10],
];

const startedSchema = z.object({ url: z.string(), clientId: z.string(), clientSecret: z.string() });
const statusSchema = z.object({
  injected: z.number(),
  requests: z.number(),
  tokens: z.number(),
  rules: z.array(z.looseObject({ name: z.string() })),
});
const sampleEveryMs = 2_000;
/** At least so long, and at least a sixth of the time, the process warms up. */
const leastWarmUpMs = 40_000;

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

// Not process.getActiveResourcesInfo(): it leaves out what does not keep the process alive, as idle connections.
const sockets = new Set<Socket>();
subscribe("net.client.socket", (message) => {
  if (!(message instanceof Object && "socket" in message && message.socket instanceof Socket)) return;
  const { socket } = message;
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopped.abort());

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const options = parsedOptions(argv);
  if (typeof options === "number") return options;
  const service = await startService();
  try {
    return await soak(options, service);
  } finally {
    service.child.disconnect();
  }
}

async function soak({ minutes, rules, seed }: Options, service: Service): Promise<number> {
  const random = randomFrom(seed);
  const started = performance.now();
  const end = started + minutes * 60_000;
  const engine = new EngineModel({ connects: false });
  const samples: Sample[] = [];
  const problems: string[] = [];
  const count = { runs: 0, expected: 0, injected: 0, requests: 0, tokens: 0, renewals: 0 };
  let nextSample = started;
  let nextLine = started + 60_000;

  /** Carries out one run of an engine, over a session of its own: the connections, the token and the knowledge of a provider host. */
  const run = async (faults: readonly FaultInput[], work: (host: Host) => Promise<string[]>) => {
    await service.ask(faults);
    const session = sessionOf(service.environment);
    const failures = await work(hooksHere("merchantRuleSet", session));
    await closed(session);
    const after = await service.ask([]);
    count.runs++;
    count.injected += after.injected;
    count.requests = after.requests;
    count.renewals += Math.max(0, after.tokens - count.tokens - 1);
    count.tokens = after.tokens;
    if (faults.length > 0) count.expected += failures.length;
    else problems.push(...failures.map((failure) => `without a fault: ${failure}`));
    return after.rules;
  };
  const line = (): void => {
    const { rssMiB = 0, heapMiB = 0, sockets = 0, descriptors = 0 } = samples.at(-1) ?? {};
    const minute = ((performance.now() - started) / 60_000).toFixed(1);
    console.log(
      `${minute} min: ${count.runs} runs, ${count.requests} requests, ${count.tokens} of them for tokens (${count.renewals} renewed), ${count.injected} faults, ${count.expected} errors expected, ${problems.length} unexpected, RSS ${rssMiB.toFixed(0)} MiB, heap ${heapMiB.toFixed(1)} MiB, ${sockets} sockets, ${descriptors} descriptors`,
    );
  };

  for (let round = 0; performance.now() < end && !stopped.signal.aborted && problems.length === 0; round++) {
    const declared = round % 10 === 9 ? {} : declaredBy(random, rules);
    const resources = Object.keys(declared).length === 0 ? {} : { set: { rules: declared, allowEmpty: true } };
    if (random() < 0.5) await run(someFaults(random), (host) => engine.up(host, resources));
    if (random() < 0.3) await run(someFaults(random), (host) => engine.refresh(host));
    problems.push(...differences(await run([], (host) => engine.up(host, resources)), declared));
    await run([], (host) => engine.refresh(host));
    if (performance.now() >= nextSample) {
      nextSample = performance.now() + sampleEveryMs;
      if (typeof collectGarbage === "function") collectGarbage();
      samples.push(sample());
    }
    if (performance.now() >= nextLine) {
      nextLine += 60_000;
      line();
    }
  }
  line();
  problems.push(...growth(samples));
  if (count.renewals * 20 < count.runs) problems.push("hardly a token was renewed: this says nothing about renewal");
  for (const problem of problems.slice(0, 20)) console.error(`error: ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

async function closed(session: Session): Promise<void> {
  await (await session.place("default").live.client()).close();
}

/** Draws most of the rules, each with a priority of its own. */
function declaredBy(random: () => number, rules: number): Record<string, JsonObject> {
  const drawn = Array.from({ length: rules }, (_, k) => [`r${k}`, rule(k, { priority: Math.floor(random() * 4) })]);
  return Object.fromEntries(drawn.filter(() => random() < 0.9));
}

function someFaults(random: () => number): FaultInput[] {
  const seed = 1 + Math.floor(random() * 1e6);
  const often = { probability: 0.02, seed, times: "always" } as const;
  const kinds: readonly FaultInput[] = [
    { kind: "close", at: "before", ...often },
    { kind: "close", at: "after", ...often },
    { kind: "close", at: "mid-answer", ...often },
    { kind: "status", status: 503, ...often },
    { kind: "status", status: 500, at: "after", ...often },
    { kind: "status", status: 429, retryAfterSeconds: 0, ...often },
    { kind: "cut-body", ...often },
    { kind: "not-json", ...often },
    { kind: "latency", ms: 20, ...often },
  ];
  const fault = kinds[Math.floor(random() * kinds.length)];
  return fault === undefined ? [] : [fault];
}

/** Finds the rules that were lost, doubled or not brought to what is declared, each as a sentence. */
function differences(
  live: z.infer<typeof statusSchema>["rules"],
  declared: Readonly<Record<string, JsonObject>>,
): string[] {
  const wanted = new Map(Object.values(declared).map((each) => [String(each.name), each]));
  const seen = new Set<string>();
  const found: string[] = [];
  for (const each of live) {
    if (seen.has(each.name)) found.push(`${each.name} is there twice`);
    else if (!wanted.has(each.name)) found.push(`${each.name} is there, but not declared`);
    else if (!isDeepStrictEqual(each, wanted.get(each.name))) found.push(`${each.name} is not as declared`);
    seen.add(each.name);
  }
  for (const name of wanted.keys()) if (!seen.has(name)) found.push(`${name} is lost`);
  return found;
}

function sample(): Sample {
  const { rss, heapUsed } = process.memoryUsage();
  const listed = "/proc/self/fd";
  const descriptors = existsSync(listed) ? readdirSync(listed).length : sockets.size;
  return { rssMiB: rss / 2 ** 20, heapMiB: heapUsed / 2 ** 20, sockets: sockets.size, descriptors };
}

/** Finds the measures that grew from the first third to the last, leaving out the time in which the process warms up. */
function growth(all: readonly Sample[]): string[] {
  const samples = all.slice(Math.max(leastWarmUpMs / sampleEveryMs, Math.floor(all.length / 6)));
  const third = Math.floor(samples.length / 3);
  if (third < 3) return ["too few samples to tell whether anything grows: give it more minutes"];
  return tolerances.flatMap(([figure, share, more]) => {
    const [first, last] = [samples.slice(0, third), samples.slice(-third)].map((part) =>
      median(part.map((each) => each[figure])),
    );
    if (first === undefined || last === undefined) return [];
    const allowed = first * (1 + share) + more;
    const says = `${figure}: median ${first.toFixed(1)} in the first third, ${last.toFixed(1)} in the last (allowed ${allowed.toFixed(1)})`;
    console.log(says);
    return last > allowed ? [`it grows: ${says}`] : [];
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Returns a source of numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Service {
  readonly child: ChildProcess;
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the faults from now on, and returns how things stand. */
  ask(faults: readonly FaultInput[]): Promise<z.infer<typeof statusSchema>>;
}

async function startService(): Promise<Service> {
  // Ctrl-C is for this process, which then still asks what the rules are.
  const child = fork(fileURLToPath(new URL("soak-service.ts", import.meta.url)), { detached: true });
  const [started] = await once(child, "message");
  const { url, clientId, clientSecret } = startedSchema.parse(started);
  return {
    child,
    environment: {
      MERCHANT_RULES_BASE_URL: url,
      MERCHANT_RULES_CONTRACT: "illustrative",
      MERCHANT_RULES_CLIENT_ID: clientId,
      MERCHANT_RULES_CLIENT_SECRET: clientSecret,
    },
    async ask(faults) {
      const answered = once(child, "message", { signal: AbortSignal.timeout(30_000) });
      child.send({ faults });
      const [status] = await answered;
      return statusSchema.parse(status);
    },
  };
}

function parsedOptions(argv: readonly string[]): Options | number {
  const command = new Command("npm run soak --")
    .description(
      "Creates, changes, refreshes and deletes rules in one process for a long time, with faults now and then. Exit code 1 when memory or sockets grow, a rule is lost or doubled, or anything fails without a fault.",
    )
    .option("--minutes <number>", "how long", positive, 60)
    .option("--rules <number>", "how many rules", positive, 200)
    .option("--seed <number>", "what the draws begin with", positive, 1);
  return optionsOf(command, argv);
}

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number))) throw new InvalidArgumentError("a number above 0 is needed.");
  return number;
}
