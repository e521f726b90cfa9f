import { createCipheriv, createDecipheriv, createHash, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { EngineError } from "../errors.ts";

const rounds = 1_000_000;
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const checkText = "pulumi";

/** The part of a crypter that opens the secrets of a state. */
export type Decrypter = Pick<Crypter, "decrypt">;

/** Encrypts and decrypts strings with AES-256-GCM, in the CLI's form `v1:<nonce>:<ciphertext and tag>`, both base64. */
export class Crypter {
  readonly #key: Buffer;
  /** The state of the passphrase provider: salt, and a known text encrypted with the key. */
  readonly salt: string;

  constructor(key: Buffer, salt: string) {
    this.#key = key;
    this.salt = salt;
  }

  encrypt(text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `v1:${nonce.toString("base64")}:${sealed.toString("base64")}`;
  }

  /** Throws on a string that this key did not encrypt. */
  decrypt(text: string): string {
    const [version, nonce, sealed, ...more] = text.split(":");
    if (version !== "v1" || nonce === undefined || sealed === undefined || more.length > 0) {
      throw new EngineError("STATE_INVALID", "a secret is not in the form v1:<nonce>:<ciphertext>");
    }
    const bytes = Buffer.from(sealed, "base64");
    const iv = Buffer.from(nonce, "base64");
    if (iv.length !== nonceBytes || bytes.length < tagBytes)
      throw new EngineError("STATE_INVALID", "a secret is cut off");
    const decipher = createDecipheriv("aes-256-gcm", this.#key, iv);
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    try {
      return decipher.update(bytes.subarray(0, bytes.length - tagBytes), undefined, "utf8") + decipher.final("utf8");
    } catch (cause) {
      throw new EngineError(
        "PASSPHRASE",
        "a secret cannot be decrypted: it was encrypted with another passphrase or salt",
        { cause },
      );
    }
  }
}

const pbkdf2Async = promisify(pbkdf2);
const derived = new Map<string, Promise<Buffer>>();

/** Derives a key once for one process: a preview and the update after it share it. */
function derive(passphrase: string, salt: Buffer): Promise<Buffer> {
  const name = createHash("sha256").update(salt).update(passphrase).digest("hex");
  const key = derived.get(name) ?? pbkdf2Async(passphrase, salt, rounds, keyBytes, "sha256");
  derived.set(name, key);
  return key;
}

/** Derives the key for an existing `encryptionsalt`; fails on a wrong passphrase. Takes about half a second. */
export async function openCrypter(passphrase: string, salt: string): Promise<Crypter> {
  const [version, bytes, ...check] = salt.split(":");
  if (version !== "v1" || bytes === undefined || check.length !== 3) {
    throw new EngineError(
      "STATE_INVALID",
      "encryptionsalt (in the stack file, or as the salt in the state) is not in the form v1:<salt>:v1:<nonce>:<ciphertext>",
    );
  }
  const crypter = new Crypter(await derive(passphrase, Buffer.from(bytes, "base64")), salt);
  let text: string | undefined;
  try {
    text = crypter.decrypt(check.join(":"));
  } catch {
    text = undefined;
  }
  if (text !== checkText) {
    throw new EngineError(
      "PASSPHRASE",
      "incorrect passphrase: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the one that this stack was created with",
    );
  }
  return crypter;
}

/** Makes a new salt, and the key for it. */
export async function newCrypter(passphrase: string): Promise<Crypter> {
  const salt = randomBytes(8);
  const key = await derive(passphrase, salt);
  const check = new Crypter(key, "").encrypt(checkText);
  return new Crypter(key, `v1:${salt.toString("base64")}:${check}`);
}
