import type { Merchant } from "./service.ts";

export type Name = "A" | "B" | "C";
export const names: readonly Name[] = ["A", "B", "C"];

/** A declared rule, `x0@k`: natural key x, value 0, over connection k. Connections in capitals are explicit providers. */
export interface Declared {
  readonly key: string;
  readonly value: number;
  readonly connection: string;
}

export type Program = Readonly<Partial<Record<Name, Declared>>>;

/** Where a connection leads: host, merchant, and which of the merchant's credentials. */
export type Setting = readonly [host: "127.0.0.1" | "localhost", merchant: Merchant, credentials: number];
export type Settings = Readonly<Record<string, Setting | undefined>>;

export interface Budget {
  readonly fault: number;
  readonly wrong: number;
  readonly act: number;
  readonly hand: number;
}

/** Where a walk begins, and what may happen in it. The names are those of the model of the protocol. */
export interface Scenario {
  readonly programs: readonly Program[];
  readonly settings: Settings;
  readonly budget: Budget;
  readonly acts: readonly Act[];
  readonly hands: readonly Hand[];
  /** Rules of the other merchant, who has the same ids. */
  readonly others: readonly string[];
  /** Ids that the service may give again, or another merchant may have, are what it is about. */
  readonly isOfShortIds: boolean;
  /** The setting `identity` is there, and stays whatever the token is. */
  readonly isLabelled: boolean;
}

export type Act =
  | "rename"
  | "learn marks"
  | "learn the identity"
  | "copy"
  | "stack name"
  | "target"
  | "lost"
  | { readonly set: string; readonly to: Setting | undefined };
export type Hand = "make" | "field" | "strip" | "delete" | "edit" | "again" | "copy";

function programOf(text: string): Program {
  const rules = text.split(" ").map((each): [string, Declared | undefined] => {
    const [, name = "", key = "", value, connection = ""] = /^(.)=(.)(.)@(.)$/.exec(each) ?? [];
    return [name, { key, value: Number(value), connection }];
  });
  return Object.fromEntries(rules);
}

const a: Setting = ["127.0.0.1", 0, 0];
const otherToken: Setting = ["127.0.0.1", 0, 1];
const otherHost: Setting = ["localhost", 0, 0];
const otherMerchant: Setting = ["127.0.0.1", 1, 0];

function scenario(
  programs: readonly string[],
  {
    fault = 0,
    wrong = 0,
    act = 0,
    hand = 0,
    settings = {},
    acts = [],
    hands = [],
    ...others
  }: Partial<Budget> & Partial<Omit<Scenario, "programs" | "budget">>,
): Scenario {
  return {
    programs: [{}, ...programs.map(programOf)],
    settings: { k: a, ...settings },
    budget: { fault, wrong, act, hand },
    acts,
    hands,
    others: [],
    isOfShortIds: others.others !== undefined || hands.includes("again"),
    isLabelled: false,
    ...others,
  };
}

const usual = ["A=x0@k", "A=x1@k", "A=x0@k B=y0@k"];
const toL = ["A=x0@k", "A=x0@l", "A=x1@l", "B=x0@l"];
const toQ = ["A=x0@P", "A=x0@Q", "A=x1@Q"];
const setTo = (...all: readonly Setting[]): Act[] => all.map((to) => ({ set: "k", to }));

export const scenarios: Readonly<Record<string, Scenario>> = {
  "conn-same": scenario([...toL.slice(0, 3), "A=x0@k B=y0@k", "A=x0@l B=y0@l"], { settings: { l: a } }),
  "conn-token": scenario(toL, { settings: { l: otherToken } }),
  "conn-addr": scenario(toL, { settings: { l: otherHost } }),
  "conn-other": scenario([...toL, "A=x0@k B=x0@l"], { settings: { l: otherMerchant } }),
  "conn-kill": scenario(toL, { settings: { l: otherToken }, fault: 1 }),
  "conn-other-kill": scenario(toL, { settings: { l: otherMerchant }, fault: 1 }),
  "conn-gone": scenario(toL, { settings: { l: a }, acts: [{ set: "k", to: undefined }], act: 1 }),
  "conn-hand": scenario(toL, { settings: { l: otherMerchant }, hand: 1, hands: ["make"] }),
  two: scenario(["A=x0@k B=x0@l", "A=x0@k B=x1@l", "B=x0@l", "A=x0@k", "A=x0@l B=x0@k"], {
    settings: { l: otherMerchant },
  }),
  settings: scenario(usual, { act: 1, acts: setTo(otherToken, otherHost, otherMerchant, ["localhost", 1, 0]) }),
  prov: scenario(["A=x0@k", ...toQ, "A=x1@P", "B=x0@P"], { settings: { P: otherToken, Q: otherMerchant } }),
  "prov-kill": scenario(toQ, { settings: { P: a, Q: otherMerchant }, fault: 1 }),
  learn: scenario(usual, { act: 1, wrong: 1, acts: ["learn marks", "learn the identity"] }),
  "learn-kill": scenario(usual, { act: 2, fault: 1, acts: ["learn marks", "learn the identity"] }),
  "learn-conn": scenario(toL, { settings: { l: otherToken }, act: 1, acts: ["learn marks", "learn the identity"] }),
  "learn-hand": scenario(usual, { act: 1, hand: 1, acts: ["learn marks"], hands: ["make", "strip"] }),
  rename: scenario(["A=x0@k", "B=x0@k", "B=x1@k", "A=y0@k B=x0@k", "A=x0@k B=y0@k"], { act: 1, acts: ["rename"] }),
  "rename-kill": scenario(["A=x0@k", "B=x1@k", "A=y0@k B=x0@k"], { act: 1, fault: 1, acts: ["rename"] }),
  move: scenario(["A=x0@k", "B=x0@k", "B=x1@k", "A=x0@k B=y0@k", "A=y0@k B=x0@k"], { fault: 1 }),
  hand: scenario(usual, { hand: 1, hands: ["make", "field", "strip", "delete", "edit", "copy"] }),
  lost: scenario(usual, { act: 1, hand: 1, acts: ["lost"], hands: ["field", "make"] }),
  wrong: scenario(usual, { wrong: 1, hand: 1, hands: ["make"] }),
  "wrong-kill": scenario(usual, { wrong: 1, fault: 1 }),
  kill: scenario([...usual, "A=y0@k"], { fault: 2 }),
  "wrong-equal": scenario(["A=x0@k B=y0@k C=z0@k", "A=x1@k B=y0@k C=z0@k", "A=x0@k B=y1@k"], {
    wrong: 2,
    others: ["x", "v", "w"],
  }),
  "wrong-two": scenario(["A=x0@k B=y0@k C=z0@k", "A=x0@k B=y0@k C=z1@k", "A=x1@k B=y1@k C=z0@k", "A=x0@k"], {
    wrong: 2,
    others: ["x", "y", "w"],
  }),
  again: scenario(usual, { hand: 1, hands: ["again"] }),
  "again-kill": scenario(usual, { fault: 1, hand: 1, hands: ["again"] }),
  "again-learn": scenario(usual, { act: 1, hand: 1, acts: ["learn marks"], hands: ["again", "strip"] }),
  copy: scenario([...usual, "A=y0@k"], { act: 1, acts: ["copy", "target"] }),
  "stack-name": scenario(usual, { act: 1, acts: ["stack name", "target"] }),
  finger: scenario(usual, { act: 1, hand: 1, acts: setTo(otherToken), hands: ["edit", "delete", "strip"] }),
  "finger-wrong": scenario(usual, { act: 1, wrong: 1, acts: setTo(otherToken) }),
  "label-prog": scenario(usual, { wrong: 1, hand: 1, hands: ["make"], isLabelled: true }),
};
