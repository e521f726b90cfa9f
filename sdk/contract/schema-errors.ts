import { z } from "zod";
import { headerName, pointer, says, strict } from "./schema-parts.ts";

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
