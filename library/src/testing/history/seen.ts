/** Names one event, as the inbox does. */
export interface EventName {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
}

/** Some bytes, by the lower-case hexadecimal SHA-256 that whoever saw them computed itself. */
export interface SeenBytes {
  readonly bodyHash: string;
}

/** Why nothing is known, or nothing was done. */
export interface Why {
  readonly why: string;
}
