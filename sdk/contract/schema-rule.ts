import { z } from "zod";
import { formNames } from "../json/normal-form.ts";
import {
  fixed,
  flag,
  headerName,
  integer,
  listOf,
  oneOf,
  orNull,
  path,
  pointer,
  pointerOrNull,
  pointerOrRoot,
  says,
  scalar,
  sending,
  statuses,
  strict,
} from "./schema-parts.ts";

const marked = strict({
  at: pointer.meta(says("Where a rule says so.", "/status")),
  is: z
    .array(scalar)
    .min(1)
    .meta(says("The values that say so.", ["deleted"])),
});
const markedRules = listOf(marked);

const owner = strict({
  at: pointer.meta(
    says(
      "Where a rule holds the mark: a text of at most 200 bytes. It must not be a field of the definition.",
      "/metadata/managedBy",
    ),
  ),
});

const form = strict({
  at: pointer.meta(
    says("Where the value stands. A segment * stands for every element or field.", "/amount", "/conditions/*/value"),
  ),
  is: z
    .enum(formNames)
    .optional()
    .meta(
      says(
        'The form. decimal: a number, or a text that is one, so that 10 is "10.00". dateTime: an instant by RFC 3339, in any time zone. trimmed: a text without blanks at its ends. lower, upper: a text in small or capital letters. distinct: an array in which each element counts once. empty: null, an empty text and an empty list are one value. Without it the value is compared as it is written.',
        "decimal",
      ),
    ),
  default: z
    .json()
    .optional()
    .meta(says("The value that the field has where it is not there. Without it a missing field has none.", true)),
});

/** A request by which the service gives one field of a rule one value. */
const transition = strict({
  at: pointer.meta(says("The field that the request changes.", "/status")),
  to: scalar.meta(says("The value that the field has after it.", "active")),
  from: listOf(scalar).meta(
    says(
      "The values from which the service takes this step. From others it is reached by other steps, the fewest. Without it: any.",
      ["draft"],
    ),
  ),
  method: oneOf(["POST", "PUT", "PATCH", "DELETE"]).meta(says("The HTTP method.", "PUT")),
  path: path.meta({ examples: ["/api/v1/merchants/rules/{ruleId}/activate"] }),
  ...fixed,
  ...sending,
  waitMs: integer({ min: 0, max: 600_000, default: 0 }).meta(
    says(
      "How long the field may take, in milliseconds: before the step to have a value of from, and after it to have the value to.",
      30_000,
    ),
  ),
  beforeDelete: flag(
    "Whether the service deletes a rule only once the field has this value. true: a rule is brought there before it is deleted, also where it is replaced.",
  ),
  success: statuses.default([200]),
});

const idInHeader = strict({
  header: headerName.meta(says("The response header that has the id.", "Location")),
  segment: orNull(z.literal("last")).meta(
    says("The part of its value that is the id. last: the last segment of the path of a URL. null: the whole.", "last"),
  ),
});

/** The service's rules: ids, keys, fields. */
export const rule = strict({
  id: z
    .array(z.union([pointer, idInHeader]))
    .min(1)
    .default(["/ruleId", "/id"])
    .meta(
      says(
        "Where a response has the rule's id. It is looked for inside the envelope first, then in the whole response; in a list, in the whole item. The first pointer that finds something wins. A header is looked at where the response to a write has the id nowhere else.",
        ["/data/id"],
        ["/tagDefinitionId", { header: "Location", segment: "last" }],
      ),
    ),
  idScope: orNull(z.enum(["service", "merchant"])).meta(
    says(
      "Within what a rule's id is unique, for ever. service: no other merchant of the service ever has it. merchant: another merchant may have a rule with the same id, or the service gives an id again. null: by its form; a UUID, a ULID or 64 random bits count as service, all else as merchant.",
      "service",
    ),
  ),
  envelope: pointerOrRoot.meta(says('Where a response has the rule. "": the whole response is the rule.', "/data")),
  schema: orNull(z.record(z.string(), z.json())).meta(
    says(
      "JSON Schema of a definition (2020-12, or draft-07 where its $schema says so). A preview names each path that it refuses. null: definitions are not checked.",
      { type: "object", required: ["name"] },
    ),
  ),
  naturalKey: pointerOrNull.meta(
    says(
      "Where a rule has what is unique among a merchant's rules. By it a rule is found whose id was lost, so a preview refuses a definition that has nothing there, unless rule.readOnly lists it. null: such a rule is not found, and adopt needs a ruleId.",
      "/name",
    ),
  ),
  owner: orNull(owner).describe(
    "Where the service can keep whose a rule is. Every create and update writes a mark there. null: none is written, and the service cannot tell owners apart.",
  ),
  gone: markedRules.meta(
    says(
      "Rules that the service still answers after they were deleted. They count as absent. Without it they count as present.",
      [{ at: "/status", is: ["deleted"] }],
    ),
  ),
  transitions: listOf(transition).meta(
    says(
      "Fields that the service changes by requests of their own: activate, deactivate, publish a draft. A program declares such a field like any other. Create and update never send it; where the rule has another value after them, these requests follow. Without it a field is sent with the others.",
      [
        { at: "/status", to: "active", path: "/api/v1/merchants/rules/{ruleId}/activate" },
        { at: "/status", to: "inactive", path: "/api/v1/merchants/rules/{ruleId}/deactivate" },
      ],
    ),
  ),
  foreign: markedRules.meta(
    says(
      "The service's own rules. They are never adopted, changed, deleted or reported as unmanaged. Without it they are like any other rule.",
      [{ at: "/origin", is: ["system"] }],
    ),
  ),
  readOnly: z
    .array(pointer)
    .default(["/createdAt", "/updatedAt"])
    .meta(
      says(
        "What the service itself adds to a rule, beside its id. It does not count where a whole rule is compared (recover), and export leaves it out.",
        ["/createdAt", "/version"],
      ),
    ),
  undeclared: z
    .enum(["report", "fail", "ignore"])
    .default("report")
    .meta(
      says(
        "What is said of a field that no program declares and that came to a rule since the last write. report: drift and plan --refresh name it. fail: and a run that would write the rule is refused. ignore: nothing.",
        "fail",
      ),
    ),
  changedBy: pointerOrNull.meta(
    says(
      "Where a rule says who changed it last. Reports on drift say it; it is the service's own, as what readOnly names. null: nobody is named.",
      "/updatedBy",
    ),
  ),
  changedAt: pointerOrNull.meta(
    says(
      "Where a rule says when it was changed last. Reports on drift say it in the service's words; it is the service's own, as what readOnly names. null: no time is named.",
      "/updatedAt",
    ),
  ),
  writeOnly: listOf(pointer).meta(
    says(
      "What the service takes and does not show again: a reading leaves it out, or masks it. It is compared with the state alone, and each update sends it. A segment * stands for every element or field. Without it a field that is not shown as it was sent is an error.",
      ["/actions/*/apiKey"],
    ),
  ),
  immutable: listOf(pointer).meta(
    says(
      "Paths at which a change replaces the rule. A segment * stands for every element or field. Without it a change is an update.",
      ["/name"],
    ),
  ),
  unordered: listOf(pointer).meta(
    says(
      "Paths of arrays whose order means nothing. A segment * stands for every element or field. Without it another order is a change.",
      ["/conditions"],
    ),
  ),
  forms: listOf(form).meta(
    says(
      "How the service stores what it is sent. Values that are equal in that form are no difference. What is sent, and what the state holds, is what is declared. Without it the service must answer each value as it was sent.",
      [
        { at: "/amount", is: "decimal" },
        { at: "/enabled", default: true },
      ],
    ),
  ),
  secret: listOf(pointer).meta(
    says(
      "Paths whose values are secrets: never printed, and encrypted in the state. A segment * stands for every element or field. Without it only those values are secrets that the program marks with pulumi.secret.",
      ["/actions/*/apiKey"],
    ),
  ),
});
