import type { Contract } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";

/** The address and the credentials for the rules of one merchant. Credentials live here and nowhere else. */
export interface Connection {
  /** `default`, or its name in the settings; printed in error messages. */
  readonly name: string;
  /** The service's address, without the paths of the contract: https, or http on loopback. */
  readonly baseUrl: string;
  /** The contract of the service. */
  readonly contract: Contract;
  /** Values of the contract's parameters, by name. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The names of parameters that may be secret: messages never show their values. Default: none. */
  readonly secretParameters?: ReadonlySet<string>;
  /** A token, where one is read, or what the contract's token operation needs. */
  readonly credentials: Credentials;
  /** Where the credentials come from, as the message of a 401 says it: `MERCHANT_RULES_TOKEN in the environment`. */
  readonly credentialsFrom?: string | undefined;
  /** The client certificate that TLS presents, and its key without a passphrase: files in PEM, read once. For https alone. Default: none. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined;
  /**
   * Hosts whose certificates are not checked, with commas: names as in `baseUrl`; `true` is every loopback address. Default: none,
   * and NODE_TLS_REJECT_UNAUTHORIZED changes nothing about it.
   */
  readonly insecureTls?: string | undefined;
}

/**
 * As whom requests are sent: a token, or a client id and secret for which the contract's `auth.token` gets one. A token may
 * be the content of a file or the output of a command, which the shell runs in `folder` for at most `timeoutMs` (default:
 * 30,000). It is read before the first request and again after a 401, without the white space around it.
 */
export type Credentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "tokenFile"; readonly file: string }
  | { readonly kind: "tokenCommand"; readonly command: string; readonly folder: string; readonly timeoutMs?: number }
  | { readonly kind: "client"; readonly clientId: string; readonly clientSecret: string };

/** The address of a service. */
export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Comes before every path of the contract; "" or begins with `/`, never ends with one. */
  readonly prefix: string;
  /** True where the host is this machine. Then http is allowed, and no proxy is used. */
  readonly isLoopback: boolean;
}

/**
 * Parses a base URL: https, or http on loopback; a path prefix is allowed.
 * @param setting what messages call it, such as `baseUrl of connection "default"`
 * @throws MerchantRulesError SETTINGS_INVALID; `text` is never printed, because it may hold credentials.
 */
export function parseBaseUrl(text: string, setting: string): BaseUrl {
  const refuse = (found: string, advice: string): never => {
    throw new MerchantRulesError("SETTINGS_INVALID", `${setting} ${found}`, { advice });
  };
  if (!URL.canParse(text)) return refuse("is not a URL", "write it as https://host or https://host/prefix");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    return refuse(
      "holds credentials",
      "leave the part before @ out; a token or client credentials are settings of their own",
    );
  }
  if (text.includes("?") || text.includes("#")) {
    return refuse(
      "holds a query or a fragment",
      "leave out ? and # and what follows; a fixed query belongs in the contract, under operations",
    );
  }
  // The URL parser has normalised the host: `127.1` is `127.0.0.1`, IPv6 has brackets.
  const isLoopback = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback)) {
    return refuse(`begins with ${url.protocol}`, "use https; http is for loopback alone (127.0.0.0/8, ::1, localhost)");
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, ""), isLoopback };
}

/** Decides whether the certificate of an address is not checked, because `insecureTls` of its connection names the host. */
export function isUnchecked({ origin, isLoopback }: BaseUrl, insecureTls = ""): boolean {
  const { protocol, hostname } = new URL(origin);
  const hosts = insecureTls.toLowerCase().split(/[,\s]+/);
  return protocol === "https:" && (hosts.includes(hostname) || (isLoopback && hosts.includes("true")));
}

/**
 * Encodes client id and secret for HTTP Basic (RFC 7617). For a token operation both are form-encoded first (RFC 6749, 2.3.1).
 * @throws MerchantRulesError SETTINGS_INVALID: an id with a colon, which nobody could tell from the secret
 */
export function basicOf(
  { clientId, clientSecret }: Extract<Credentials, { kind: "client" }>,
  { isForToken = false } = {},
): string {
  const encode = (text: string): string => (isForToken ? new URLSearchParams({ "": text }).toString().slice(1) : text);
  const id = encode(clientId);
  if (id.includes(":"))
    throw new MerchantRulesError("SETTINGS_INVALID", "the client id has a colon, which HTTP Basic cannot carry", {
      advice: "give the client id without a colon, as the service wrote it",
    });
  return Buffer.from(`${id}:${encode(clientSecret)}`).toString("base64");
}
