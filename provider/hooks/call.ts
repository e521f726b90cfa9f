import type { OnDrift } from "../decide/plan.ts";
import type { Properties } from "../host/wire.ts";
import { named, type Owner, stackOf } from "../merchant/mark.ts";
import type { Link } from "../merchant/site.ts";
import { demandNames } from "../refusals/names.ts";
import type { Place } from "../run/place.ts";
import type { Resource } from "../run/resource.ts";
import type { ResourceShape } from "../state/shape.ts";
import { type Inputs, readInputs, readState, type State } from "../state/state.ts";
import type { Replaced, Session } from "./session.ts";

/** What the hooks of a type of resources work with. */
export interface Hooks {
  readonly shape: ResourceShape;
  readonly session: Session;
}

/** One call of a hook: the resource, the place that its connection reaches, and what the program says of it. */
export interface HookCall extends Hooks {
  readonly of: Resource;
  readonly place: Place;
  readonly declared: Inputs;
  readonly onDrift: OnDrift;
  /** The stack's names in the row, and the site that its rules share; undefined where there is no row. */
  readonly names: string | undefined;
  /** Ids of other resources' rules that a write of this one has changed. */
  readonly harmed: readonly string[];
}

/** Makes a call about what is declared, with a state or without. @throws MerchantRulesError SETTINGS_INVALID: the state is another stack's */
export function callOf(
  hooks: Hooks,
  news: Properties,
  before?: { readonly id: string; readonly olds: Properties },
): HookCall {
  const { shape, session } = hooks;
  const declared = readInputs(shape, news);
  const state = before === undefined ? undefined : readState(shape, before.id, before.olds);
  const now = stackOf(declared.owner);
  const names = state === undefined ? declared.link?.names : state.names;
  if (now !== undefined) demandNames(named(declared.owner), names, now, session.words);
  return made(hooks, { owner: declared.owner, link: declared.link ?? state?.link, state, declared });
}

/** Makes a call about what a state alone says. */
export function callOfState(hooks: Hooks, id: string, outputs: Properties): HookCall {
  const state = readState(hooks.shape, id, outputs);
  const declared = readInputs(hooks.shape, outputs);
  return made(hooks, { owner: state.owner, link: state.link, state, declared });
}

interface Parts {
  readonly owner: Owner;
  readonly link: Link | undefined;
  readonly state: State | undefined;
  readonly declared: Inputs;
}

function made({ shape, session }: Hooks, { owner, link, state, declared }: Parts): HookCall {
  const place = session.place(declared.connection);
  const holder = holderOf(state, session) ?? `${shape.field} ${owner}`;
  const { isRule, label, adopting } = shape;
  const of: Resource = {
    isRule,
    owner,
    holder,
    link,
    provider: session.provider,
    known: state?.rules ?? new Map(),
    replaced: state === undefined ? (session.replaced.get(holder)?.of.known ?? new Map()) : new Map(),
    label,
    adopting,
  };
  if (state !== undefined) place.claims.note(of);
  const onDrift = declared.onDrift ?? session.settings(declared.connection).onDrift;
  return { shape, session, of, place, declared, onDrift, names: state?.names, harmed: state?.harmed ?? [] };
}

/** Returns the resource that the engine replaces by this delete, which its diff has heard of under the names that it has now. */
function holderOf(state: State | undefined, { replaced }: Session): string | undefined {
  const ids = [...(state?.rules.values() ?? [])].map(({ ruleId }) => ruleId);
  const isThis = ({ before, of }: Replaced): boolean =>
    before === state?.owner && of.known.values().some(({ ruleId }) => ids.includes(ruleId));
  return replaced.values().find(isThis)?.of.holder;
}
