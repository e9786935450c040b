/**
 * `posthorn/verify`: sign and verify Standard Webhooks, and nothing else. Small enough for the edge.
 *
 * @module
 */
export { isPosthornError, PosthornError } from "./posthorn-error.js";
export type { ErrorDetail } from "./posthorn-error.js";
export type { Clock } from "./clock.js";
export type { Event, LanePosition, Stamp } from "./event.js";
export type { Observer, Signal } from "./observer.js";
export type { HeaderBag } from "./signature/headers/headers.js";
export { keySetFromJwks } from "./signature/keys/jwks.js";
export type { Algorithm, Key, KeyHint, KeySet, KeySource } from "./signature/keys/key.js";
export { readEvents } from "./signature/read-events.js";
export type {
  DescribedScheme,
  Diagnose,
  Refusal,
  Reply,
  Scheme,
  SignedRequest,
  Verified,
  Verifier,
} from "./signature/scheme.js";
export { schemeAnswering, successReply } from "./signature/success-reply.js";
export { standardWebhooks } from "./signature/schemes/standard.js";
export type { StandardOptions } from "./signature/schemes/standard.js";
export { generateKeyPair, generateSecret } from "./signature/keys/secret.js";
export type { SecretEncoding } from "./signature/keys/secret.js";
export { createSigner, sign, signSync } from "./signature/sign.js";
export type { Signable, SignedHeaders, Signer } from "./signature/sign.js";
export type { SignatureErrorCode } from "./signature/signature-errors.js";
export type { NamedSecret, VerifierOptions } from "./signature/verifier.js";
export { verify, verifySync } from "./signature/verify.js";
export { checkHeaders } from "./signature/headers/check-headers.js";
