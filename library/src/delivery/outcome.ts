/** What an attempt came to. */
export type Outcome =
  | { readonly kind: "acknowledged"; readonly status: number }
  | { readonly kind: "refused"; readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly kind: "unreachable"; readonly reason: "dns" | "connect" | "tls" }
  /** The request was sent and not answered: it may have landed. */
  | { readonly kind: "unknown"; readonly reason: "timeout" | "reset" | "bad_answer" }
  /** Nothing was sent, because the address guard forbids the endpoint's address. */
  | { readonly kind: "forbidden"; readonly reason: ForbiddenReason };

/** What of a URL or an address is forbidden. */
export type ForbiddenReason = "url" | "scheme" | "credentials" | "port" | "name" | "private_address";
