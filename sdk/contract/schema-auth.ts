import { z } from "zod";
import {
  fieldName,
  fixed,
  headerName,
  headerValue,
  oneOf,
  orNull,
  path,
  pointer,
  reading,
  says,
  statuses,
  strict,
} from "./schema-parts.ts";

// Documented by the seed, section 5, as far as its method.
const token = strict({
  method: z.literal("POST").default("POST").meta(says("The HTTP method. No other is allowed.", "POST")),
  path: path.meta({ examples: ["/api/v1/auth/token"] }),
  baseUrl: orNull(z.url({ protocol: /^https?$/ })).meta(
    says(
      "The address of the token operation, where it has one of its own. null: the setting baseUrl.",
      "https://login.example.com",
    ),
  ),
  ...fixed,
  encoding: oneOf(["json", "form"]).meta(says("How the body is written.", "form")),
  fields: z.record(fieldName, z.string()).meta(
    says(
      "The fields of the body. Values may name {clientId}, {clientSecret} and a {parameter}. Where client id and secret go by HTTP Basic, headers has Authorization: Basic {basic} (RFC 6749, 2.3.1).",
      {
        client_id: "{clientId}",
        client_secret: "{clientSecret}",
      },
    ),
  ),
  accessToken: pointer.default("/access_token").meta(says("Where the response has the token.", "/data/token")),
  expiresIn: pointer
    .nullable()
    .default("/expires_in")
    .meta(
      says(
        "Where the response has the token's life, in seconds: a number, or a text that is one. null, or nothing there: the token is used until the service refuses it.",
        "/data/expiresIn",
      ),
    ),
  success: statuses.default([200, 201]),
});

export const operationOfIdentity = strict({
  ...reading,
  path: path.meta({ examples: ["/api/v1/merchants/me"] }),
  at: pointer.meta(
    says("Where the response says who the credentials are: a text or a whole number that does not change.", "/id"),
  ),
});

const identityClaim = strict({
  claim: pointer.meta(
    says(
      "Where the token itself says who it is for: a pointer into the claims of a JSON Web Token. No request is sent.",
      "/merchant_id",
    ),
  ),
});

const identityClientId = strict({
  clientId: z
    .literal(true)
    .meta(
      says(
        "The client id stands for the merchant. Only where each merchant has one client id that stays: clients are rotated, and may differ by job.",
        true,
      ),
    ),
});

const identity = z.union([operationOfIdentity, identityClaim, identityClientId]);

const tokenFormat = headerValue.refine((text) => text.includes("{token}") !== text.includes("{basic}"), {
  error: 'allowed: a text that contains {token}, such as "Bearer {token}", or "Basic {basic}"',
});

const present = strict({
  in: z.literal("header").default("header").meta(says("Where the token goes. Nothing else is allowed.", "header")),
  name: headerName.default("Authorization").meta(says("The name of the header.", "X-Api-Key")),
  format: tokenFormat
    .default("Bearer {token}")
    .meta(
      says(
        "The value of the header. {token} stands for the token; {basic} for client id and secret as HTTP Basic has them (RFC 7617), without a token. It may name a {parameter}.",
        "Token {token}",
        "Basic {basic}",
      ),
    ),
});

/** The credentials of requests. */
export const auth = strict({
  // A gap of the seed, section 5.
  present: present
    .nullable()
    .prefault({})
    .describe("How a request carries the token. null: requests carry no credentials."),
  token: orNull(token).describe(
    "The operation that gives a token for client credentials. null: the token itself is a setting.",
  ),
  identity: orNull(identity).describe(
    'Who the credentials are: the operation "who am I", a claim of the token, or the client id. By it the credentials of another merchant are refused before anything is written. null: only rules that are known can show that this is the right place.',
  ),
});
