import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { MerchantRulesError } from "../errors.ts";
import { type BaseUrl, type Connection, isUnchecked } from "./connection.ts";

/** What a handshake needs: whether the service's certificate is checked, and the client's own one as PEM. */
export interface Tls {
  readonly rejectUnauthorized: boolean;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Reads the TLS settings of a connection for one of its addresses.
 * @throws MerchantRulesError SETTINGS_INVALID: an address without TLS, a file that cannot be read or has another content, a key
 * that is not the certificate's. No message has anything of a file's content
 */
export function tlsOf(base: BaseUrl, connection: Pick<Connection, "insecureTls" | "clientCertificate">): Tls {
  // Said, because what is left out NODE_TLS_REJECT_UNAUTHORIZED decides: credentials would go to whoever answers.
  const rejectUnauthorized = !isUnchecked(base, connection.insecureTls);
  if (connection.clientCertificate === undefined) return { rejectUnauthorized };
  const { certificate, key } = connection.clientCertificate;
  if (!base.origin.startsWith("https:"))
    throw refused(`it is for https, and ${base.origin} has no TLS`, "write the address as https://, or leave both out");
  const [cert, keyText] = [contentOf("clientCertificate", certificate), contentOf("clientKey", key)];
  const own = parsed(
    () => new X509Certificate(cert),
    `the file of clientCertificate, ${certificate}, holds no certificate`,
  );
  const secret = parsed(
    () => createPrivateKey(keyText),
    `the file of clientKey, ${key}, holds no private key that can be read without a passphrase`,
  );
  if (!own.checkPrivateKey(secret))
    throw refused(
      `the key in ${key} is not that of the certificate in ${certificate}`,
      "name the two files of one pair",
    );
  return { rejectUnauthorized, cert, key: keyText };
}

function contentOf(setting: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    // Without the name, in whose place the key itself may stand.
    const advice = "name a file in PEM, and let this process read it";
    throw refused(`the file of ${setting} cannot be read (${code})`, advice);
  }
}

function parsed<T>(parse: () => T, fault: string): T {
  try {
    return parse();
  } catch {
    throw refused(fault, "name a file in PEM, which begins with -----BEGIN");
  }
}

function refused(reason: string, advice: string): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: "present a client certificate", advice });
}
