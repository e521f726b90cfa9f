import { z } from "zod";
import { fixed, path, pointer, says, sending, statuses, strict } from "./schema-parts.ts";

const value = z.union([z.string(), z.number(), z.boolean()]);

/** A request by which the service gives one field of a rule one value. */
export const transition = strict({
  at: pointer.meta(says("The field that the request changes.", "/status")),
  to: value.meta(says("The value that the field has after it.", "active")),
  from: z
    .array(value)
    .default([])
    .meta(
      says(
        "The values from which the service takes this step. From others it is reached by other steps, the fewest. Without it: any.",
        ["draft"],
      ),
    ),
  method: z.enum(["POST", "PUT", "PATCH", "DELETE"]).default("POST").meta(says("The HTTP method.", "PUT")),
  path: path.meta({ examples: ["/api/v1/merchants/rules/{ruleId}/activate"] }),
  ...fixed,
  ...sending,
  waitMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(0)
    .meta(
      says(
        "How long the field may take, in milliseconds: before the step to have a value of from, and after it to have the value to.",
        30_000,
      ),
    ),
  success: statuses.default([200]),
});
