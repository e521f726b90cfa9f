import type { Contract } from "../../../sdk/contract/index.ts";
import {
  asWritten,
  isEqual,
  type JsonObject,
  valueAt,
  withFieldAt,
  withoutValueAt,
  withValueAt,
} from "../../../sdk/json/index.ts";
import type { StoredByHand } from "../merchants.ts";
import type { ServedResponse } from "../refusal.ts";
import { idPointer } from "../rule-shape.ts";
import type { Behaviour, FaultContext, FaultOf, Kinds } from "./behaviour.ts";
import { changed, whole } from "./bodies.ts";
import type { Reply, Visit } from "./visit.ts";

/** What a write has done to one rule, before it is made a lie. */
interface Done {
  /** Undefined where the write has made the rule, and {@link Done.after} where it has removed it. */
  readonly before: StoredByHand | undefined;
  readonly after: StoredByHand | undefined;
  /** The definition that the request has sent; empty where it sends none. */
  readonly sent: JsonObject;
  /** The merchant's other rules, oldest first. */
  readonly others: readonly StoredByHand[];
}

/** A definition to be stored under an id, or under a new one; without a definition the rule is removed. */
type Edit = readonly [ruleId: string | undefined, definition: JsonObject | undefined];

type Answer = FaultOf<"write-nothing">["answer"];

/** The kinds that answer a write as a success, and leave the stored rules otherwise than it should. */
export const lies: Pick<Kinds, "write-nothing" | "write-others" | "create-twice" | "drop-fields" | "store-otherwise"> =
  {
    "write-nothing": ({ answer }, { contract }) => ({
      inject: (visit) => answered(answer, visit, contract, visit.serve({ ending: "rollback" })),
    }),
    "write-others": ({ answer, others: whom }, context) =>
      followed(answer, context, ({ before, after, others }) => {
        const hit = whom === "one" ? others.slice(0, 1) : others;
        const changes = Object.entries(after?.rule ?? {}).filter(([name, value]) => {
          const earlier = before?.rule[name];
          return earlier === undefined || !isEqual(earlier, value, asWritten);
        });
        return hit.map(({ ruleId, rule }) => [
          ruleId,
          after === undefined ? undefined : { ...rule, ...Object.fromEntries(changes) },
        ]);
      }),
    "create-twice": ({ answer }, context) => followed(answer, context, ({ after }) => [[undefined, after?.rule]]),
    "drop-fields": ({ answer, at }, context) =>
      followed(answer, context, ({ after, sent }) => {
        const { ruleId, rule = {} } = after ?? {};
        const kept = Object.entries(rule).filter(([name]) => name in sent);
        return [[ruleId, at === undefined ? Object.fromEntries(kept) : withoutValueAt(rule, at)]];
      }),
    "store-otherwise": ({ answer, at, value }, context) =>
      followed(answer, context, ({ after }) => [[after?.ruleId, withFieldAt(after?.rule ?? {}, at, value)]]),
  };

/** Carries a write out, and changes by hand what it has done. A write that changes no rule stays as it is. */
function followed(answer: Answer, { contract }: FaultContext, edits: (done: Done) => Edit[]): Behaviour {
  return {
    inject: (visit) => {
      const { byHand } = visit.merchant;
      const earlier = byHand.rows();
      let sent: JsonObject = {};
      const amend = (definition: JsonObject): JsonObject => {
        sent = definition;
        return definition;
      };
      const response = visit.serve({ amend });
      const later = byHand.rows();
      const before = firstNotIn(later, earlier);
      const after = firstNotIn(earlier, later.toReversed());
      if (before === undefined && after === undefined) return { send: "unharmed", response };
      const own = [before?.ruleId, after?.ruleId];
      const others = byHand.rules().filter(({ ruleId }) => !own.includes(ruleId));
      for (const [ruleId, definition] of edits({ before, after, sent, others }))
        if (definition !== undefined) byHand.put(ruleId, definition);
        else if (ruleId !== undefined) byHand.remove(ruleId);
      return answered(answer, visit, contract, response);
    },
  };
}

function firstNotIn(others: readonly StoredByHand[], rows: readonly StoredByHand[]): StoredByHand | undefined {
  const known = new Map(others.map(({ ruleId, rule }) => [ruleId, rule]));
  return rows.find(({ ruleId, rule }) => {
    const other = known.get(ruleId);
    return other === undefined || !isEqual(other, rule, asWritten);
  });
}

/** Gives a success the body that the lie answers; a refusal stays as it is. */
function answered(answer: Answer, { request }: Visit, { rule }: Contract, response: ServedResponse): Reply {
  if (response.status >= 300) return { send: "unharmed", response };
  const body = (text: string): Reply => whole(response.body === "" ? response : { ...response, body: text });
  const id = rule.envelope + idPointer(rule);
  switch (answer) {
    case "usual":
      return whole(response);
    case "id":
      return changed(response, (sent) => withValueAt({}, id, valueAt(sent, id) ?? null));
    case "echo":
      return body("bytes" in request.body ? request.body.bytes.toString() : "");
    case "empty-object":
      return body("{}");
    case "empty":
      return body("");
    case "error":
      return body('{"status":"error"}');
  }
}
