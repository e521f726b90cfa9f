import type { Connection } from "../../sdk/client/connection.ts";
import { saysFailure } from "../../sdk/client/failures.ts";
import { type Additions, type FixedParts, identify, RequestTemplate } from "../../sdk/client/request-template.ts";
import { jsonIfAny } from "../../sdk/client/response.ts";
import { baseUrlOf, type SetUp, setUp } from "../../sdk/client/set-up.ts";
import type { WireResponse } from "../../sdk/client/transport.ts";
import type { Contract, IdentifyBy } from "../../sdk/contract/index.ts";
import { MerchantRulesError, shortened } from "../../sdk/errors.ts";
import { defined, type Json, type JsonObject, type Pointer } from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";

/** A request that the probe may send, as the plan lists it. */
export interface Planned {
  /** The purpose, in words: `read a rule`. */
  readonly title: string;
  readonly effect: "reads" | "makes a rule" | "changes a rule" | "deletes a rule";
  readonly operation: Omit<FixedParts, "success">;
  /** The place of the definition in the body. Default: the whole body. */
  readonly bodyAt?: Pointer;
}

/** The values of one request. */
export interface Sent {
  readonly ruleId?: string;
  /** How the request names the rule. */
  readonly place?: IdentifyBy;
  readonly definition?: JsonObject;
  /** Parameters that ask for a page: of the query, or where the list is asked for by POST, of the body. */
  readonly parameters?: readonly (readonly [name: string, value: string | number])[];
  /** The path and query of a next page that the service named. */
  readonly target?: string;
  /** Names and values by turns. */
  readonly headers?: readonly string[];
}

/** A response. */
export interface SeenResponse {
  readonly status: number;
  readonly headers: WireResponse["headers"];
  /** Its body; undefined where it is no JSON. */
  readonly json: Json | undefined;
  readonly isSuccess: boolean;
  /** Method, path and status, for people: `GET /rules/7 → 200`. */
  readonly said: string;
  /** The path and query of its request. */
  readonly target: string;
}

/** The probe ends before its end: nothing more is tried, and what it made is cleaned up as far as is known to be safe. */
export class Stopped extends Error {
  /** The next step of the user. */
  readonly advice: string;

  constructor(reason: string, advice: string) {
    super(reason);
    this.advice = advice;
  }
}

/** Refusals count as success: the probe asks to see them. Credentials, rates, redirects and outages end it. */
const statuses = Array.from({ length: 500 }, (_, status) => status).filter(
  (status) => (status >= 200 && status < 300) || (status >= 400 && ![401, 403, 407, 408, 425, 429].includes(status)),
);

/** Sends what the plan lists, and nothing else. Nothing that may have taken effect is sent twice. */
export class Wire {
  readonly #setUp: SetUp;
  readonly #templates: ReadonlyMap<Planned, RequestTemplate>;
  /** Bodies of a success status that say a failure (contract `errors.failure`): as given, until they are measured. */
  failure: Contract["errors"]["failure"];
  readonly #sent: (line: string) => void;
  #count = 0;

  /**
   * @param plan every request that may be sent
   * @param sent is called with each request and its status
   * @throws MerchantRulesError SETTINGS_INVALID
   */
  constructor(connection: Connection, plan: readonly Planned[], sent: (line: string) => void = () => {}) {
    const base = baseUrlOf(connection);
    const { contract } = connection;
    this.failure = contract.errors.failure;
    const unmarked = { ...contract, errors: { ...contract.errors, failure: [] } };
    this.#setUp = setUp({ ...connection, contract: unmarked }, base);
    this.#sent = sent;
    this.#templates = new Map(
      plan.map((planned) => [
        planned,
        new RequestTemplate(connection, base.prefix, planned.title, { ...planned.operation, success: statuses }),
      ]),
    );
  }

  /** Number of requests that were sent. */
  get count(): number {
    return this.#count;
  }

  /** Sends a request. @throws MerchantRulesError: no response, refused credentials, a redirect or an outage */
  async send(planned: Planned, values: Sent = {}): Promise<SeenResponse> {
    const template = this.#templates.get(planned);
    if (template === undefined) throw new Error(`not in the plan: ${planned.title}`);
    const attempted = (): string => `${planned.title} (probe)`;
    const request = template.request(additions(template, planned, values, attempted));
    this.#count += 1;
    const answer = await this.#setUp.caller.call({
      request,
      attempted,
      writes: planned.effect !== "reads",
      parse: (given) => given,
    });
    const said = `${request.method} ${request.path}${asked(values)} → ${answer.status}`;
    this.#sent(said);
    return {
      status: answer.status,
      headers: answer.headers,
      json: jsonIfAny(answer),
      isSuccess: answer.status < 300 && !saysFailure(this.failure, answer),
      said,
      target: request.target,
    };
  }

  /** Returns a string of the service without the credentials that it may repeat, short enough to be shown. */
  clean(text: string): string {
    return shortened(printable(this.#setUp.redactor.redact(text), 200), 200);
  }

  async close(): Promise<void> {
    await this.#setUp.close();
  }
}

/** Describes the part of a request that the contract does not fix; what it fixes may be secret. */
function asked({ place, parameters = [], ruleId }: Sent): string {
  const named = ruleId !== undefined && place?.in === "query" ? [`${place.name}=${ruleId}`] : [];
  const pairs = [...named, ...parameters.map(([name, value]) => `${name}=${value}`)];
  const query = pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  const other = place?.in === "body" || place?.in === "header" ? ` (id in ${place.in} as ${place.name})` : "";
  return query + other;
}

function additions(
  template: RequestTemplate,
  { operation, bodyAt = "", effect }: Planned,
  { ruleId, place, definition, parameters = [], target, headers = [] }: Sent,
  attempted: () => string,
): Additions {
  const isByPost = effect === "reads" && operation.method !== "GET";
  const isInBody = operation.method !== "GET" && parameters.length > 0;
  const hasBody = definition !== undefined || template.hasFields || isInBody || isByPost;
  const own = hasBody ? template.body(ruleId, definition, bodyAt) : undefined;
  const body = own === undefined ? undefined : { ...own, ...(isInBody ? Object.fromEntries(parameters) : {}) };
  const refuse = (reason: string): never => {
    throw new MerchantRulesError("RULE_INVALID", `its id cannot be sent: ${reason}`, { attempted: attempted() });
  };
  const named: Additions =
    ruleId === undefined || place === undefined ? defined({ body }) : identify(ruleId, place, body, refuse);
  const pairs = isInBody ? [] : parameters.map((pair) => pair.map(encodeURIComponent).join("="));
  const query = [...(named.query === undefined ? [] : [named.query]), ...pairs].join("&");
  return {
    ...named,
    headers: [...(named.headers ?? []), ...headers],
    ...defined({ query: query || undefined, target }),
  };
}
