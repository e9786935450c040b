import type { Key } from "../keys/key.js";
import type { SignedRequest, Verifier } from "../scheme.js";

/** The request, verifier or keys as they may have been when it was signed, and what it means if a signature then holds. */
export interface Variant {
  readonly says: string;
  readonly request?: SignedRequest;
  readonly verifier?: Verifier;
  readonly keys?: readonly Key[];
}
