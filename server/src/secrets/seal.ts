import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { PosthornError } from "posthorn";
import type { SecretSeal } from "posthorn";

const VERSION = "v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Names a key without revealing anything about it. */
export function keyIdOf(masterKey: Uint8Array): string {
  return createHmac("sha256", masterKey).update("posthorn key id").digest("hex").slice(0, 12);
}

/** Closes secrets with AES-256-GCM, as `v1.<key id>.<iv>.<ciphertext and tag>`. */
export function createSeal(masterKey: Uint8Array): SecretSeal {
  if (masterKey.length !== 32)
    throw new RangeError(`The master key has ${masterKey.length} bytes; expected 32.`);
  return new MasterSeal(masterKey);
}

class MasterSeal implements SecretSeal {
  readonly #key: Uint8Array;
  /** Authenticated with the text, which cannot be passed off as one of another version or key. */
  readonly #head: string;

  constructor(masterKey: Uint8Array) {
    // A key for this use alone: other keys derived from the master key reveal nothing about it.
    this.#key = new Uint8Array(hkdfSync("sha256", masterKey, "", "posthorn seal v1", 32));
    this.#head = `${VERSION}.${keyIdOf(masterKey)}`;
  }

  seal(secret: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv).setAAD(Buffer.from(this.#head));
    const closed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${this.#head}.${iv.toString("base64url")}.${closed.toString("base64url")}`;
  }

  open(sealed: string): string {
    const [version = "", keyId = "", iv = "", closed = "", ...rest] = sealed.split(".");
    if (version !== VERSION || closed === "" || rest.length > 0)
      throw broken("it is not in the form of a sealed secret");
    if (`${version}.${keyId}` !== this.#head) throw otherKey(keyId, this.#head.slice(VERSION.length + 1));
    const bytes = Buffer.from(closed, "base64url");
    // Node accepts shorter tags, which could be guessed.
    if (bytes.length < TAG_BYTES) throw broken("it is cut off");
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#key, Buffer.from(iv, "base64url"), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(this.#head)).setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
      return opened.toString("utf8");
    } catch (cause) {
      throw broken("it was changed", cause);
    }
  }
}

function otherKey(found: string, ours: string): PosthornError {
  const shown = /^[0-9a-f]{12}$/.test(found) ? found : "unknown";
  return new PosthornError(
    "seal_other_key",
    `A secret of the database was sealed under the master key ${shown}, and this server has ${ours}. ` +
      "Start it with the key that the database was used with before.",
    { detail: { found: shown, ours } },
  );
}

function broken(why: string, cause?: unknown): PosthornError {
  return new PosthornError(
    "seal_broken",
    `A secret of the database cannot be opened: ${why}. Set it again.`,
    cause === undefined ? {} : { cause },
  );
}

/** For commands that use no secret, and therefore get no key. */
export const NO_SEAL: SecretSeal = {
  seal: () => {
    throw noKey();
  },
  open: () => {
    throw noKey();
  },
};

function noKey(): PosthornError {
  return new PosthornError("seal_no_key", "A secret was to be used by a command that has no master key.");
}
