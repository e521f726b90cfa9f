import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import type { Description } from "./description.ts";

/** Returns the facts on how a request shows who sends it: the first scheme of the operation, or of all. */
export function authFacts(operation: JsonObject, description: Description): [string, Json][] {
  const { security = description.root.security } = operation;
  const [first] = isJsonArray(security) ? security : [];
  if (isJsonArray(security) && (first === undefined || (isJsonObject(first) && Object.keys(first).length === 0)))
    return [["/auth/present", null]];
  const [name] = isJsonObject(first) ? Object.keys(first) : [];
  const schemes = description.object(description.object(description.root.components).securitySchemes);
  const scheme = name === undefined ? {} : description.object(schemes[name]);
  const { type, scheme: kind, in: place, name: header } = scheme;
  if (type === "http" && /^bearer$/i.test(String(kind))) return [["/auth/present", { format: "Bearer {token}" }]];
  if (type === "http" && /^basic$/i.test(String(kind))) return [["/auth/present", { format: "Basic {basic}" }]];
  if (type === "apiKey" && place === "header" && typeof header === "string")
    return [["/auth/present", { name: header, format: "{token}" }]];
  if (type !== "oauth2") return [];
  const { tokenUrl } = description.object(description.object(scheme.flows).clientCredentials);
  return [
    ["/auth/present", { format: "Bearer {token}" }],
    ...(typeof tokenUrl === "string" ? tokenFacts(tokenUrl) : []),
  ];
}

/** Returns the token operation of OAuth 2.0 with client credentials, whose request RFC 6749 (4.4) fixes. */
function tokenFacts(tokenUrl: string): [string, Json][] {
  const isWhole = URL.canParse(tokenUrl);
  const url = new URL(tokenUrl, "https://service.invalid");
  if (url.protocol !== "https:") return [];
  const fields = { grant_type: "client_credentials", client_id: "{clientId}", client_secret: "{clientSecret}" };
  const address = isWhole ? { baseUrl: url.origin } : {};
  return [["/auth/token", { path: url.pathname, ...address, encoding: "form", fields }]];
}
