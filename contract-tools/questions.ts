import { headerNamePattern } from "../sdk/contract/schema-parts.ts";
import { isPointer, type Json } from "../sdk/json/index.ts";
import type { Fact } from "./draft.ts";

/** A question to a person who has the service's documentation, and what an answer says about the contract. */
export interface Question {
  /** As an option of the command: `--delete-by <where>`. */
  readonly flags: string;
  /** The name under which the option's value is found: `deleteBy`. */
  readonly option: keyof Answers;
  /** As help has it, and as it is asked; an example at its end. */
  readonly asks: string;
  /** The gap that it answers. */
  readonly gap: string;
  /** The question that must have been answered before. */
  readonly after?: keyof Answers;
  /** Reads an answer. @returns facts; or, for an answer that is not allowed, a string with what is */
  readonly read: (answer: string) => readonly Omit<Fact, "source">[] | string;
}

/** Answers as they were typed. */
export interface Answers {
  readonly deleteBy?: string;
  readonly list?: string;
  readonly listItems?: string;
  readonly listLag?: string;
  readonly getLag?: string;
  readonly update?: string;
  readonly naturalKey?: string;
  readonly owner?: string;
  readonly token?: string;
  readonly idempotency?: string;
}

const isPath = (text: string): boolean => /^\/[^\s?#\\]*$/.test(text);

/** The questions, those first that cost most. */
export const questions: readonly Question[] = [
  {
    flags: "--delete-by <where>",
    option: "deleteBy",
    gap: "operations.delete.identifyBy",
    asks: "how a delete names its rule: query:NAME, body:NAME, header:NAME, or its path with {ruleId}, such as /api/v1/merchants/rules/{ruleId}",
    read: (answer) => {
      const [, place = "", name = ""] = /^(query|body|header):(\S+)$/.exec(answer) ?? [];
      if (place !== "") return [{ at: "/operations/delete/identifyBy", value: { in: place, name } }];
      if (!isPath(answer) || !answer.includes("{ruleId}"))
        return "query:NAME, body:NAME, header:NAME, or a path that has {ruleId}";
      return [
        { at: "/operations/delete/path", value: answer },
        { at: "/operations/delete/identifyBy", value: { in: "path" } },
      ];
    },
  },
  {
    flags: "--list <path>",
    option: "list",
    gap: "operations.list",
    asks: "the path by which all rules are listed, such as /api/v1/merchants/rules",
    read: (answer) => (isPath(answer) ? [{ at: "/operations/list/path", value: answer }] : "a path that begins with /"),
  },
  {
    flags: "--list-items <pointer>",
    option: "listItems",
    gap: "operations.list.items",
    after: "list",
    asks: "where the list's answer has the array of rules, such as /rules; root where the answer is the array",
    read: (answer) => {
      const pointer = answer === "root" ? "" : answer;
      return isPointer(pointer) ? [{ at: "/operations/list/items", value: pointer }] : `root, or ${aPointer}`;
    },
  },
  {
    flags: "--list-lag <ms>",
    option: "listLag",
    gap: "operations.list.lagMs",
    after: "list",
    asks: "how many milliseconds after a write the list may still show what was before, such as 0",
    read: (answer) => lagAt("/operations/list/lagMs", answer),
  },
  {
    flags: "--get-lag <ms>",
    option: "getLag",
    gap: "operations.get.lagMs",
    asks: "how many milliseconds after a write a read of the rule may still show what was before, such as 0",
    read: (answer) => lagAt("/operations/get/lagMs", answer),
  },
  {
    flags: "--update <request>",
    option: "update",
    gap: "operations.update",
    asks: "the request that changes a rule, such as PUT /api/v1/merchants/rules/{ruleId}; PATCH and POST, too",
    read: (answer) => {
      const [, method = "", path = ""] = /^(PUT|PATCH|POST) (\S+)$/.exec(answer) ?? [];
      if (!isPath(path) || !path.includes("{ruleId}"))
        return "PUT, PATCH or POST, a blank, and a path that has {ruleId}";
      return [
        { at: "/operations/update/method", value: method },
        { at: "/operations/update/path", value: path },
      ];
    },
  },
  {
    flags: "--natural-key <pointer>",
    option: "naturalKey",
    gap: "rule.naturalKey",
    asks: "the field that is unique among a merchant's rules, such as /name",
    read: (answer) => pointerAt("/rule/naturalKey", answer),
  },
  {
    flags: "--owner <pointer>",
    option: "owner",
    gap: "rule.owner",
    asks: "a field that keeps a note of 200 characters as it is, and that no rule uses, such as /metadata/managedBy",
    read: (answer) => pointerAt("/rule/owner", answer, (at) => ({ at })),
  },
  {
    flags: "--token <path>",
    option: "token",
    gap: "auth.token",
    asks: "the path that gives a token for a client id and a secret as RFC 6749 (4.4) has it, such as /api/v1/auth/token",
    read: (answer) => {
      if (!isPath(answer)) return "a path that begins with /";
      const fields = { grant_type: "client_credentials", client_id: "{clientId}", client_secret: "{clientSecret}" };
      return [{ at: "/auth/token", value: { path: answer, encoding: "form", fields } }];
    },
  },
  {
    flags: "--idempotency <header>",
    option: "idempotency",
    gap: "idempotency",
    asks: "the header by which the service recognises a request that is sent twice, such as Idempotency-Key",
    read: (answer) =>
      headerNamePattern.test(answer) ? [{ at: "/idempotency", value: { header: answer } }] : "the name of a header",
  },
];

function lagAt(at: string, answer: string) {
  return /^\d{1,6}$/.test(answer) ? [{ at, value: Number(answer) }] : "a whole number";
}

const aPointer = "a JSON Pointer (RFC 6901), such as /name";

function pointerAt(at: string, answer: string, wrapped: (pointer: string) => Json = (pointer) => pointer) {
  return answer !== "" && isPointer(answer) ? [{ at, value: wrapped(answer) }] : aPointer;
}
