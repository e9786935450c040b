/** What dead letters have in common that died alike. Null asks for those that have none. */
export interface DeadGroupFilter {
  readonly tenant?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly because?: string | undefined;
  /** What the attempt by which it died was answered. */
  readonly status?: number | null | undefined;
  /** The class of the error by which it died: `timeout`, `dns` … */
  readonly error?: string | null | undefined;
}

/** Which dead letters are wanted; what is left out does not matter. */
export interface DeadFilter extends DeadGroupFilter {
  /** Of the lane of this key; only together with `endpointId`. */
  readonly key?: string | undefined;
  /** It died at this time or later. */
  readonly since?: Date | undefined;
  /** It died before this time. */
  readonly until?: Date | undefined;
  /** Its number is this one or lower: what has died since then is left out. */
  readonly upTo?: bigint | undefined;
  /** @default "newest" */
  readonly order?: "newest" | "oldest" | undefined;
}
