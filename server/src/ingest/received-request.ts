import type { SignedRequest } from "posthorn";

/** Headers as Node makes them: names in lower case, repeated ones joined. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request as it came off the wire. */
export interface ReceivedRequest extends SignedRequest {
  readonly headers: RequestHeaders;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}
