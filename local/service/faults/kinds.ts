import { setTimeout } from "node:timers/promises";
import type { Contract } from "../../../sdk/contract/index.ts";
import { defined, type JsonObject } from "../../../sdk/json/index.ts";
import { type ServedPages, servedPages } from "../pagination.ts";
import { Refusal, refusalBody, refusalResponse, type ServedResponse } from "../refusal.ts";
import type { Behaviour, FaultContext, FaultOf, Kinds } from "./behaviour.ts";
import { changed, ofBody, whole, withoutIds, withTextTrimmed } from "./bodies.ts";
import { Past } from "./lagging.ts";
import { lies } from "./lies.ts";
import { lessOneRule, oneRuleMore, onlyFirstPage, withFirstAgain, withRuleBefore } from "./lists.ts";
import type { FaultKind } from "./schema.ts";
import type { Reply, Visit } from "./visit.ts";

/** Begins the behaviour of a fault, of this kind. */
export function behaviourOf<Kind extends FaultKind>(
  kind: Kind,
  fault: { [Each in Kind]: FaultOf<Each> }[Kind],
  context: FaultContext,
): Behaviour {
  return kinds[kind](fault, context);
}

const kinds: Kinds = {
  latency: ({ at, ms }, { closing }) => ({
    inject: (visit) => around(at, visit, () => setTimeout(ms, undefined, { signal: closing })),
  }),

  hold: ({ at }, { hold }) => ({
    inject: (visit) => around(at, visit, () => hold(visit, at)),
  }),

  close: ({ at, laterMs }, { closing }) => ({
    inject: (visit) => {
      if (at === "later") serveLater(visit, laterMs, closing);
      if (at === "before" || at === "later") return { send: "nothing" };
      const response = visit.serve();
      return at === "after" ? { send: "nothing" } : { send: "half", response, ending: "reset" };
    },
  }),

  status: (fault, { contract, now, closing }) => ({
    inject: (visit) => {
      if (fault.at === "later") serveLater(visit, fault.laterMs, closing);
      if (fault.at === "after") visit.serve();
      return whole(refused(fault, contract, now()));
    },
  }),

  silence: (_fault, { cleared, closing }) => ({
    inject: async (visit) => {
      const hasLeft = await Promise.race([visit.clientLeft().then(() => true), cleared().then(() => false)]);
      return hasLeft || closing.aborted ? { send: "nothing" } : whole(visit.serve());
    },
  }),

  redirect: ({ at, status, location }) => ({
    inject: (visit) => {
      const { path, query } = visit.request;
      if (at === "after") visit.serve();
      const headers = { location: location ?? `${path}${query.size === 0 ? "" : `?${query}`}`, "content-length": "0" };
      return whole({ status, body: "", headers });
    },
  }),

  "cut-body": ({ how }) => ({
    inject: (visit) =>
      ofBody(visit.serve(), (response) =>
        how === "connection"
          ? { send: "half", response, ending: "end" }
          : whole({ ...response, body: response.body.slice(0, response.body.length / 2) }),
      ),
  }),

  "not-json": () => ({
    inject: (visit) =>
      ofBody(visit.serve(), (response) =>
        whole({
          ...response,
          body: "<!doctype html><title>Welcome</title><p>Please sign in.</p>",
          headers: { ...response.headers, "content-type": "text/html; charset=utf-8" },
        }),
      ),
  }),

  "other-shape": ({ json }) => ({
    inject: (visit) => ofBody(visit.serve(), (response) => whole({ ...response, body: JSON.stringify(json) })),
  }),

  "huge-body": ({ bytes, declared }) => ({
    inject: (visit) => ofBody(visit.serve(), (response) => ({ send: "padded", response, bytes, declared })),
  }),

  "without-id": ({ movedTo }, { contract }) => ({
    inject: (visit) => changed(visit.serve(), (body) => withoutIds(body, visit.operation, contract, movedTo)),
  }),

  normalise: (_fault, { contract }) => ({
    matches: () => contract.rule.naturalKey !== null,
    inject: (visit) => {
      let hasTrimmed = false;
      const amend = (definition: JsonObject): JsonObject => {
        const trimmed = withTextTrimmed(definition, contract.rule.naturalKey ?? "");
        hasTrimmed = trimmed !== undefined;
        return trimmed ?? definition;
      };
      const response = visit.serve({ amend });
      return hasTrimmed ? whole(response) : { send: "unharmed", response };
    },
  }),

  "delete-all": () => ({
    inject: (visit) => {
      const response = visit.serve({ deleteAll: true });
      return response.status < 300 ? whole(response) : { send: "unharmed", response };
    },
  }),

  ...lies,

  "stale-list": (lag, { stores, now }) => {
    const pasts = new Map(stores.map((store) => [store, new Past(store, lag, now)]));
    return {
      inject: (visit) =>
        whole(visit.serve({ listed: pasts.get(visit.merchant.store)?.seen() ?? visit.merchant.store })),
      wrote: (store, ruleId) => pasts.get(store)?.wrote(ruleId),
    };
  },

  "repeat-cursor": (_fault, { contract }) => ({
    matches: () => pagesOf(contract).parameter !== undefined,
    inject: (visit) => changed(visit.serve({ listed: onlyFirstPage(visit.merchant.store) }), pagesOf(contract).again),
  }),

  "double-rule": ({ on }, { contract }) => ({
    matches: ({ request }) => on === "one-page" || pagesOf(contract).isLater(request.query),
    inject: (visit) => {
      const items = contract.operations.list?.items ?? "";
      if (on === "one-page") return changed(visit.serve(), (body) => withFirstAgain(body, items));
      const early = visit.serve({ listed: oneRuleMore(visit.merchant.store) }).body;
      return changed(visit.serve(), (body) => withRuleBefore(body, early, items));
    },
  }),

  "shifting-list": ({ change }, { contract }) => ({
    matches: ({ request }) => pagesOf(contract).isLater(request.query),
    inject: (visit) =>
      whole(visit.serve({ listed: (change === "insert" ? oneRuleMore : lessOneRule)(visit.merchant.store) })),
  }),

  "late-get": ({ gets, withinMs }, { contract, stores, now }) => {
    const counts = new Map(stores.map((store) => [store, new Map<string, number>()]));
    const answered = ({ merchant, ruleId = "" }: Visit): number => counts.get(merchant.store)?.get(ruleId) ?? 0;
    return {
      matches: (visit) => {
        const rule = visit.merchant.store.find(visit.ruleId ?? "");
        return rule !== undefined && now() - Date.parse(rule.createdAt) < withinMs && answered(visit) < gets;
      },
      inject: (visit) => {
        const { merchant, ruleId = "" } = visit;
        counts.get(merchant.store)?.set(ruleId, answered(visit) + 1);
        const refusal = new Refusal(404, "RULE_NOT_FOUND", `there is no rule ${ruleId}`);
        return whole(refusalResponse(refusal, contract.errors));
      },
    };
  },
};

/** Waits and serves, in one order or the other. */
async function around(at: "before" | "after", visit: Visit, wait: () => Promise<void>): Promise<Reply> {
  if (at === "before") await wait();
  const response = visit.serve();
  if (at === "after") await wait();
  return whole(response);
}

/** Serves without waiting for it. To clear the faults changes nothing about it. */
function serveLater(visit: Visit, laterMs = 1000, closing: AbortSignal): void {
  setTimeout(laterMs, undefined, { signal: closing }).then(
    () => visit.serve(),
    // The service closes.
    () => undefined,
  );
}

function pagesOf({ operations }: Contract): ServedPages {
  return servedPages(operations.list?.pagination ?? { type: "none", complete: false });
}

/** Makes the response of a `status` fault, in the contract's shape of errors; `nowMs`: milliseconds since 1970. */
function refused(
  { status, retryAfterSeconds, retryAfterAs }: FaultOf<"status">,
  { errors }: Contract,
  nowMs: number,
): ServedResponse {
  const retryAfter =
    retryAfterSeconds === undefined || retryAfterAs === "seconds"
      ? retryAfterSeconds?.toString()
      : new Date(nowMs + retryAfterSeconds * 1000).toUTCString();
  const headers = defined({
    "www-authenticate": status === 401 ? "Bearer" : undefined,
    "retry-after": retryAfter,
  });
  const refusal = new Refusal(status, "FAULT", `a fault that was set answers ${status}`);
  return { status, body: JSON.stringify(refusalBody(refusal, errors, refusal.code)), headers };
}
