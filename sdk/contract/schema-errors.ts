import { z } from "zod";
import { headerName, listOf, orNull, pointer, says, scalar, strict } from "./schema-parts.ts";

const answers = listOf(
  strict({
    status: orNull(z.int().min(200).max(499)).meta(says("The status of such an answer. null: any.", 422)),
    code: orNull(z.union([z.string().min(1), z.int()])).meta(
      says("The service's own code in such an answer, at errors.code. null: any.", "rule_not_found"),
    ),
  }),
);

/** Where an error response says what went wrong. */
export const errors = strict({
  code: pointer
    .default("/error/code")
    .meta(says("Where an error response has the service's own code. Messages show it.", "/code")),
  message: z
    .union([pointer, z.array(pointer).min(1)])
    .default("/error/message")
    .meta(
      says(
        "Where an error response has the service's own message. Messages show it. A list: of several places each that has a text is shown.",
        "/detail",
        ["/errors/0/title", "/errors/0/detail"],
      ),
    ),
  details: pointer
    .default("/error/details")
    .meta(
      says(
        "Where an error response has details: a list, an object or a text. Messages show the first five, up to 200 characters of each, masked as the message is.",
        "/errors",
      ),
    ),
  failure: listOf(
    strict({
      at: pointer.meta(says("Where a body says so.", "/status")),
      is: orNull(z.array(scalar).min(1)).meta(
        says(
          "The values that say so. null: whatever is there, but for null, false, 0, an empty text and an empty list.",
          ["error"],
        ),
      ),
    }),
  ).meta(
    says(
      "Bodies by which the service says that it has not done what was asked, although the status is a success. Each answer with a 2xx status is held against it. Without it the status alone says whether something was done.",
      [{ at: "/status", is: ["error"] }],
      [{ at: "/error" }],
    ),
  ),
  notFound: answers.meta(
    says(
      "Answers to get, update and delete that mean: there is no such rule. Without it only 404 and 410 mean that. A code alone does not mean it beside 401, 403, 408, 429 or a status from 500 on.",
      [{ status: 400, code: "RULE_NOT_FOUND" }],
    ),
  ),
  exists: answers.meta(
    says(
      "Answers to create and update that mean: another rule has what must be unique, and nothing was written. Without it a 409 is any conflict, and another status none.",
      [{ status: 409 }],
      [{ status: 200 }],
    ),
  ),
  inUse: answers.meta(
    says(
      "Answers to delete that mean: something at the service still uses the rule. Without it a 409 is any conflict, and another status none.",
      [{ status: 409 }],
    ),
  ),
  requestId: strict({
    header: headerName.meta(
      says(
        "The response header that has the id of the request. Messages show it, for the service's operators.",
        "x-trace-id",
      ),
    ),
  })
    .prefault({ header: "x-request-id" })
    .describe("Where a response has the id of its request."),
});

/** Decides whether a status is about credentials, time, rate or an outage: whatever its code, no rule is gone by it. */
export function saysNothingOfRules(status: number): boolean {
  return [401, 403, 408, 429].includes(status) || status >= 500;
}
