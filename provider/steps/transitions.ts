import { setTimeout as sleep } from "node:timers/promises";
import type { LiveRule } from "../../sdk/client/index.ts";
import { drivenFields, type Transition, withoutDriven } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { type Json, type JsonObject, valueAt, withFieldAt, withoutValueAt } from "../../sdk/json/index.ts";
import type { KnownRule } from "../decide/plan.ts";
import type { ToSend } from "../run/sent.ts";
import { naming, type Task } from "../run/task.ts";
import { Written } from "../run/written.ts";

/**
 * Brings the fields that requests of their own change (contract `rule.transitions`) to what is declared, one request after
 * another. What was written before stays in the state, so that the next run goes on where this one ended.
 * @param answered the rule as the write before it was answered
 * @throws Written: a request failed, or a field has not become what it is to be
 */
export async function drive(answered: LiveRule | undefined, written: KnownRule, task: Task): Promise<void> {
  const wanted = wantedFields(written, task);
  if (wanted.length === 0) return;
  const driver = new Driver(written, task);
  for (const [at, value] of wanted) await driver.bring(at, value, answered?.rule);
  task.place.audits.expect(task.of, written.ruleId, written.definition);
}

/**
 * Brings a rule that is to be deleted to what the service deletes alone (contract `rule.transitions`, `beforeDelete`).
 * @param isStill asked right before each request: whether the rule is still to go
 * @returns the rule as it is known from then on; undefined: it is not to go any more
 * @throws Written: it cannot be brought there, and is not deleted
 */
export async function readyToGo(
  known: KnownRule,
  task: Task,
  isStill: () => Promise<boolean>,
): Promise<KnownRule | undefined> {
  const steps = task.place.contract.rule.transitions.filter(({ beforeDelete }) => beforeDelete);
  const wanted = new Map(steps.map(({ at, to }) => [at, to]));
  if (wanted.size === 0) return known;
  const definition = [...wanted].reduce((made, [at, to]) => withFieldAt(made, at, to), known.definition);
  const ready = { ...known, definition };
  const driver = new Driver(ready, task, isStill);
  try {
    for (const [at, to] of wanted) await driver.bring(at, to, undefined);
    // As a GET after them would show it: nothing is asked once more before the delete.
    task.place.paper.saw(ready.ruleId, await driver.rule(), performance.now());
    return ready;
  } catch (error) {
    if (error instanceof NotToGo) return undefined;
    // One that is gone is found to be so by its delete.
    if (error instanceof Written && error.error.code === "RULE_NOT_FOUND") return known;
    throw error;
  }
}

/** A rule that was let go of before a request of its own was sent. */
class NotToGo extends Error {}

/** The fields of a definition that requests of their own change, and what they are to be. */
function wantedFields({ definition }: KnownRule, { place: { contract } }: Task): [at: string, value: Json][] {
  return drivenFields(contract).flatMap((at): [string, Json][] => {
    const value = valueAt(definition, at);
    return value === undefined ? [] : [[at, value]];
  });
}

/** The first waits between two looks at a rule, and the longest. */
const [firstLookMs, mostLookMs] = [100, 2000];

class Driver {
  readonly #written: KnownRule;
  readonly #task: Task;
  readonly #isStill: () => Promise<boolean>;
  #rule: JsonObject | undefined;
  /** The definition as far as the requests that were sent should have brought it. */
  #reached: JsonObject;

  /** @param isStill asked right before each request; default: always */
  constructor(written: KnownRule, task: Task, isStill: () => Promise<boolean> = () => Promise.resolve(true)) {
    this.#written = written;
    this.#task = task;
    this.#isStill = isStill;
    this.#reached = withoutDriven(written.definition, task.place.contract);
  }

  /** The rule as it was last seen; it is read where an answer does not show these fields. */
  async rule(answered?: JsonObject): Promise<JsonObject> {
    if (this.#rule !== undefined) return this.#rule;
    const fields = wantedFields(this.#written, this.#task);
    if (answered !== undefined && fields.every(([at]) => valueAt(answered, at) !== undefined)) {
      this.#rule = answered;
      return answered;
    }
    return await this.#look().catch((error) => {
      throw isMerchantRulesError(error) ? new Written({ ...this.#written, doubt: {} }, error) : error;
    });
  }

  /** The rule as the state should know it: as it was written, and these fields as they are. */
  known(rule: JsonObject): KnownRule {
    const definition = wantedFields(this.#written, this.#task).reduce<JsonObject>((known, [at]) => {
      const value = valueAt(rule, at);
      return value === undefined ? withoutValueAt(known, at) : withFieldAt(known, at, value);
    }, this.#written.definition);
    return { ...this.#written, definition, isSealed: true };
  }

  async bring(at: string, wanted: Json, answered: JsonObject | undefined): Promise<void> {
    let rule = await this.rule(answered);
    const own = this.#transitionsAt(at);
    try {
      // No way is longer than there are steps.
      for (const _ of [...own, undefined]) {
        if (valueAt(rule, at) === wanted) return;
        const step = nextStep(own, valueAt(rule, at), wanted) ?? (await this.#untilOneLeads(own, at, wanted));
        rule = await this.#take(step, rule);
      }
      throw this.#stays(at, wanted, rule);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      const known = this.known(this.#rule ?? rule);
      this.#task.place.paper.remember(known.ruleId, known.definition);
      throw new Written(error.outcomeUnknown ? { ...known, doubt: {} } : known, error);
    }
  }

  /** A request that was refused or not answered may have been carried out, by an attempt of this run: the rule tells. */
  async #take(step: Transition, before: JsonObject): Promise<JsonObject> {
    const { place } = this.#task;
    const { ruleId } = this.#written;
    try {
      const client = await place.live.client();
      const answer = await place.audits.send(this.#toSend(step, before), async (sent) => {
        if (await this.#isStill()) return await client.transition(ruleId, step, naming(this.#written, this.#task));
        sent.void();
        throw new NotToGo();
      });
      if (answer !== undefined && valueAt(answer.rule, step.at) === step.to) {
        // An answer may show a part of the rule.
        this.#rule = { ...before, ...answer.rule };
        return this.#rule;
      }
    } catch (error) {
      if (!isMerchantRulesError(error) || error.code === "NOT_TRIED") throw error;
      const seen = await this.#look().catch((failed) => {
        throw isMerchantRulesError(failed) && failed.code !== "RULE_NOT_FOUND" ? error : failed;
      });
      if (valueAt(seen, step.at) === step.to) return seen;
      if (error.code !== "RULE_NOT_FOUND") throw error;
      throw error.with({
        code: "RESPONSE_INVALID",
        reason: `${error.reason} to the request, but a read finds the rule`,
        advice:
          "run again; if it stays, see whether the path of this entry of rule.transitions in the contract is right",
      });
    }
    const rule = await this.#lookUntil((seen) => valueAt(seen, step.at) === step.to, step.waitMs);
    if (valueAt(rule, step.at) !== step.to) throw this.#slow(step, rule);
    return rule;
  }

  #toSend({ at, to }: Transition, before: JsonObject): ToSend {
    const { of, key } = this.#task;
    const { ruleId, mark } = this.#written;
    this.#reached = withFieldAt(this.#reached, at, to);
    const rest = { sent: this.#reached, before, mark, of, key, row: this.#written, known: this.#written };
    return { kind: "transition", group: `${at} ${JSON.stringify(to)}`, ruleId, ...rest };
  }

  /** The service brings a field by itself into a value from which a request leads on. */
  async #untilOneLeads(own: readonly Transition[], at: string, wanted: Json): Promise<Transition> {
    const mostMs = Math.max(0, ...own.map(({ waitMs }) => waitMs));
    const leads = (rule: JsonObject) => nextStep(own, valueAt(rule, at), wanted);
    const rule = await this.#lookUntil((seen) => leads(seen) !== undefined, mostMs);
    const step = leads(rule);
    if (step === undefined) throw this.#stays(at, wanted, rule);
    return step;
  }

  async #lookUntil(isIt: (rule: JsonObject) => boolean, mostMs: number): Promise<JsonObject> {
    const end = performance.now() + mostMs;
    for (let waitMs = firstLookMs; ; waitMs = Math.min(mostLookMs, waitMs * 2)) {
      const rule = await this.#look();
      const leftMs = end - performance.now();
      if (isIt(rule) || leftMs <= 0) return rule;
      await sleep(Math.min(waitMs, leftMs));
    }
  }

  async #look(): Promise<JsonObject> {
    const { of, key, place } = this.#task;
    const sight = await place.live.look(this.#written, of.label(key), "fresh");
    if (sight.is === "absent") {
      const reason = `rule ${this.#written.ruleId}, which was just written, is not there`;
      throw new MerchantRulesError("RULE_NOT_FOUND", reason, {
        attempted: this.#attempted,
        outcomeUnknown: true,
        advice: "run again; if it stays, run `pulumi up --refresh`, which sees that it is gone and makes it again",
      });
    }
    this.#rule = sight.rule;
    return sight.rule;
  }

  get #attempted(): string {
    const { of, key } = this.#task;
    return `finish rule ${of.label(key) ?? this.#written.ruleId}`;
  }

  #slow({ at, to, waitMs }: Transition, rule: JsonObject): MerchantRulesError {
    const now = shown(valueAt(rule, at), this.#transitionsAt(at));
    const reason = `the service said that ${at} is changed to ${JSON.stringify(to)}, and after ${waitMs} ms it is ${now}`;
    return new MerchantRulesError("RULE_DIFFERS", reason, {
      attempted: this.#attempted,
      advice:
        "run again, which goes on from there; if the service takes longer, set waitMs of this entry of rule.transitions in the contract",
    });
  }

  #stays(at: string, wanted: Json, rule: JsonObject): MerchantRulesError {
    const own = this.#transitionsAt(at);
    const [now, next] = [valueAt(rule, at), wanted].map((value) => shown(value, own));
    const ends = [...new Set(own.map(({ to }) => JSON.stringify(to)))].join(", ");
    const reason = `${at} is ${now}, and by the contract no request leads from there to ${next} (rule.transitions)`;
    return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, {
      attempted: this.#attempted,
      advice: `declare ${at} as one of ${ends}; or name in rule.transitions of the contract the request that leads there (to, from), or how long the service takes (waitMs)`,
    });
  }

  #transitionsAt(at: string): Transition[] {
    return this.#task.place.contract.rule.transitions.filter((each) => each.at === at);
  }
}

/** A value as messages show it: any but those of the contract may be secret. */
function shown(value: Json | undefined, own: readonly Transition[]): string {
  if (value === undefined) return "not there";
  const isNamed = own.some(({ to, from }) => [to, ...from].some((each) => each === value));
  return isNamed ? JSON.stringify(value) : "another value than rule.transitions names";
}

/** The first request of the shortest way from one value of a field to another; undefined where there is none. */
export function nextStep(own: readonly Transition[], from: Json | undefined, wanted: Json): Transition | undefined {
  const leadsFrom = (value: Json | undefined) => (step: Transition) =>
    step.from.length === 0 || step.from.some((each) => each === value);
  const seen = new Set<Json | undefined>([from]);
  let ways = own.filter(leadsFrom(from)).map((step) => ({ first: step, end: step.to }));
  while (ways.length > 0) {
    const found = ways.find(({ end }) => end === wanted);
    if (found !== undefined) return found.first;
    const news = ways.filter(({ end }) => !seen.has(end));
    for (const { end } of news) seen.add(end);
    ways = news.flatMap(({ first, end }) => own.filter(leadsFrom(end)).map((step) => ({ first, end: step.to })));
  }
  return undefined;
}
