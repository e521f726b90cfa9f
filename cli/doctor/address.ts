import { lookup } from "node:dns/promises";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";
import type { ClientSettings } from "../../provider/settings/connection-settings.ts";
import { parseBaseUrl } from "../../sdk/client/connection.ts";
import { type Tls, tlsOf } from "../../sdk/client/tls.ts";
import { reasonOf } from "../../sdk/json/json.ts";
import type { Diagnosis } from "./diagnosis.ts";

const timeoutMs = 10_000;
const soonMs = 14 * 24 * 3_600_000;

/** Checks whether something responds at the address, and by which way: name, proxy, TLS. @returns whether to go on */
export async function lookAtAddress(
  { baseUrl, ...settings }: Pick<ClientSettings, "baseUrl" | "insecureTls" | "clientCertificate">,
  findings: Diagnosis,
): Promise<boolean> {
  const base = parseBaseUrl(baseUrl, "baseUrl");
  const { origin, isLoopback } = base;
  let tls: Tls;
  try {
    tls = tlsOf(base, settings);
  } catch (error) {
    findings.error("address", error);
    return false;
  }
  if (!tls.rejectUnauthorized)
    findings.warning(
      "address",
      `the certificate of ${origin} is not checked`,
      "remove the setting insecureTls, and name the file of an own authority in NODE_EXTRA_CA_CERTS",
    );
  const url = new URL(origin);
  const proxy = isLoopback ? undefined : proxyFor(url, process.env);
  if (proxy !== undefined) {
    const { host } = URL.canParse(proxy.value) ? new URL(proxy.value) : { host: "a text that is no URL" };
    findings.ok(
      "address",
      `${origin}, by the proxy ${host} (environment ${proxy.name}); name and TLS are the proxy's to find`,
    );
    return true;
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  try {
    await lookup(host);
  } catch (error) {
    const toDo =
      "correct the name in baseUrl; where only a proxy or a VPN knows it, set HTTPS_PROXY or connect to the VPN";
    findings.failed("address", `the name ${host} is not known here (${reasonOf(error)})`, toDo);
    return false;
  }
  try {
    const socket = await connected(
      url.protocol === "https:"
        ? connectTls({ host, port, servername: nameOf(host), ...tls })
        : connectPlain({ host, port }),
    );
    if (socket instanceof TLSSocket) sayTls(origin, socket, findings);
    else findings.ok("address", `${origin} takes connections, without TLS, on this machine`);
    socket.destroy();
    return true;
  } catch (error) {
    findings.failed("address", `${origin} cannot be reached: ${reasonOf(error)}`, adviceFor(codeOf(error)));
    return false;
  }
}

function sayTls(origin: string, socket: TLSSocket, findings: Diagnosis): void {
  const until = new Date(socket.getPeerCertificate().valid_to);
  const found = `${origin} takes connections, ${socket.getProtocol() ?? "TLS"}; its certificate ends ${until.toISOString().slice(0, 10)}`;
  if (until.getTime() - Date.now() < soonMs)
    findings.warning("address", found, "tell the service's operators that the certificate ends soon");
  else findings.ok("address", found);
}

/** Returns the name for TLS: empty for an address, which Server Name Indication does not take. */
function nameOf(host: string): string {
  return /^[\d.]+$|:/.test(host) ? "" : host;
}

function connected(socket: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => resolve(socket));
  socket.on("error", reject);
  return promise.finally(() => clearTimeout(timer));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function adviceFor(code: string): string {
  if (code === "ECONNREFUSED") return "start the service, or correct host and port of baseUrl; nothing listens there";
  if (code === "CERT_HAS_EXPIRED")
    return "tell the service's operators that the certificate has ended; or set this machine's clock";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "write in baseUrl a name that the certificate is for";
  if (/CERT|SIGNATURE|ISSUER/.test(code))
    return "where your company signs certificates itself, name its file in the variable NODE_EXTRA_CA_CERTS";
  if (/SSL|TLS|EPROTO/.test(code)) return "correct scheme and port of baseUrl: what answers there speaks no TLS";
  return "correct baseUrl, or look at firewall, VPN and HTTPS_PROXY";
}

interface Proxy {
  readonly name: string;
  readonly value: string;
}

/** Finds the variable whose proxy requests to an address take. */
function proxyFor(url: URL, environment: NodeJS.ProcessEnv): Proxy | undefined {
  const exempt = (environment.no_proxy ?? environment.NO_PROXY ?? "").split(/[,\s]+/).filter((each) => each !== "");
  const isExempt = exempt.some((each) => {
    const [name = "", port] = each.replace(/^\*?\./, "").split(":");
    const isHost = each === "*" || url.hostname === name || url.hostname.endsWith(`.${name}`);
    return isHost && (port === undefined || port === (url.port || "443"));
  });
  const names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];
  const found = names.find((name) => (environment[name] ?? "") !== "");
  return found === undefined || isExempt ? undefined : { name: found, value: environment[found] ?? "" };
}
