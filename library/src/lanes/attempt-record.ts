/**
 * What an attempt came to. `lapsed`: its claim ended by expiry, and nobody knows what came of it. `failed`: a handler threw,
 * and its transaction was rolled back. `postponed`: a handler asked for its event again, which is no failure.
 */
export type AttemptOutcome =
  | "acknowledged"
  | "refused"
  | "unreachable"
  | "unknown"
  | "forbidden"
  | "lapsed"
  | "failed"
  | "postponed";

/** One attempt, as history keeps it. */
export interface AttemptRecord {
  readonly sequence: bigint;
  readonly round: number;
  /** 1 for the first of its round. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
  readonly status: number | undefined;
  /**
   * The class of the error: `timeout`, `dns`, `reset` …; where the address guard refused the endpoint, its sentence, which says
   * what would allow it. Undefined where a status says it all.
   */
  readonly error: string | undefined;
  /** The first bytes of the answer. */
  readonly answer: Uint8Array | undefined;
  /** Where it went and how; undefined for a lapsed attempt, of which nobody knows. */
  readonly details?: AttemptDetails | undefined;
}

/** Where an attempt went, and how it got there. */
export interface AttemptDetails {
  /** As it was sent. */
  readonly url: string;
  /** The address that was reached; undefined where no connection stood. */
  readonly address: string | undefined;
  /** As they were sent, without what could be used again; kept of attempts that were not acknowledged. */
  readonly requestHeaders: Readonly<Record<string, string>> | undefined;
  readonly timings: AttemptTimings | undefined;
  /** Failures of one cause have the same: `connect ECONNREFUSED`, `status 503`. Undefined where it was acknowledged. */
  readonly fingerprint: string | undefined;
}

/** How long each step took, in milliseconds. A connection that stood already has no first three; a step that was not reached has none. */
export interface AttemptTimings {
  readonly dnsMs?: number | undefined;
  readonly connectMs?: number | undefined;
  readonly tlsMs?: number | undefined;
  /** From the start of the attempt to the first byte of the answer. */
  readonly firstByteMs?: number | undefined;
  readonly totalMs: number;
}

/** The texts that a store keeps of an attempt's details: url, address, request headers and timings as JSON, fingerprint. */
export function detailTexts({ details }: Pick<AttemptRecord, "details">): readonly (string | undefined)[] {
  if (details === undefined) return [undefined, undefined, undefined, undefined, undefined];
  const { url, address, requestHeaders, timings, fingerprint } = details;
  return [url, address, jsonOf(requestHeaders), jsonOf(timings), fingerprint];
}

/** The details that a store has kept. */
export function readDetails(texts: readonly (string | null | undefined)[]): Pick<AttemptRecord, "details"> {
  const [url, address, requestHeaders, timings, fingerprint] = texts.map((text) => text ?? undefined);
  if (url === undefined) return {};
  const details = {
    url,
    address,
    requestHeaders: valueOf(requestHeaders) as AttemptDetails["requestHeaders"],
    timings: valueOf(timings) as AttemptTimings | undefined,
    fingerprint,
  };
  return { details };
}

function jsonOf(value: object | undefined): string | undefined {
  return value && JSON.stringify(value);
}

function valueOf(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json);
}
