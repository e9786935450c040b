/** What can be wrong with a signature, a key or the way they were handed in. Printed into docs/errors.md. */
export const SIGNATURE_ERRORS = {
  header_missing: "A header that the scheme needs is not in the request.",
  header_malformed: "A header is in the request but cannot be what the scheme prescribes.",
  headers_too_many: "The request has more headers than are read; a platform may have dropped some already.",
  timestamp_malformed: "The signed time is not a plain whole number in the scheme's unit.",
  timestamp_out_of_range: "The signed time is further from now than the tolerance allows.",
  signature_unsupported:
    "The request carries signatures, but none of a version that the given keys can check.",
  signature_mismatch: "No signature in the request matches any of the given keys.",
  signature_unverifiable:
    "The check could not be made, because the keys could not be brought or read; the cause says why.",
  order_required: "The source demands order, and the request carries no signed order headers.",
  body_not_raw: "The body was handed in as something other than its exact bytes.",
  body_malformed: "The scheme has to read the body, and the body is not what the scheme prescribes.",
  url_required: "The scheme signs the URL, and the public URL of the request is not known.",
  key_out_of_period: "Every key that could check the signature is before or after its time of validity.",
  secret_missing: "No secret or key was handed in.",
  secret_malformed: "A secret or key is not in the form that its scheme prescribes.",
  keys_asynchronous: "verifySync was given keys that only a promise can bring.",
  sync_unavailable: "This runtime has no synchronous cryptography; use verify or sign instead.",
  event_unsignable: "What was to be signed cannot be carried by the wire format.",
  option_invalid: "An option has a value that cannot work.",
} as const;

/** The codes of what goes wrong while verifying and signing. */
export type SignatureErrorCode = keyof typeof SIGNATURE_ERRORS;
