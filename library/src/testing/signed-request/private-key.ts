import { produce } from "#crypto";
import { concat, decodeBase64, decodeHex } from "../../bytes.js";
import { PosthornError } from "../../posthorn-error.js";
import { Key } from "../../signature/keys/key.js";
import type { SignatureErrorCode } from "../../signature/signature-errors.js";
import type { Sign } from "./sender.js";

// By WebCrypto, so that it runs wherever tests do; the library itself never signs with these.
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const P256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** Signs by RSA, with a private key in PKCS #8. */
export function rsaSigner(privateKey: string): Sign {
  return pkcs8Signer(privateKey, RSA);
}

/** Signs on the curve P-256, with a private key in PKCS #8; the signature is r and s side by side. */
export function ecdsaSigner(privateKey: string): Sign {
  return pkcs8Signer(privateKey, P256);
}

/** Signs by Ed25519, with a seed of 32 bytes in hexadecimal. */
export function ed25519Signer(seed: string): Sign {
  const bytes = decodeHex(seed);
  if (bytes?.length !== 32) throw malformed("Expected the seed of an Ed25519 key: 64 hexadecimal digits.");
  const key = new Key("ed25519_private", "seed", bytes);
  return (content) => produce(key, content);
}

function pkcs8Signer(privateKey: string, parameters: typeof RSA | typeof P256): Sign {
  const der = decodeBase64(privateKey.replaceAll(/-----(BEGIN|END) PRIVATE KEY-----|\s/g, ""));
  if (der === undefined || der.length === 0) {
    throw malformed('Expected a private key in PKCS #8, from "-----BEGIN PRIVATE KEY-----" on.');
  }
  return async (content) => {
    const key = await crypto.subtle.importKey("pkcs8", der, parameters, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign(parameters, key, concat(content)));
  };
}

function malformed(message: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("secret_malformed", `The signing key cannot be read. ${message}`);
}
