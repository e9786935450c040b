/** What a node does. One process may do all of it. */
export type Role = "ingest" | "dispatch" | "api";

export interface ListenAddress {
  /** A name or an address, without brackets. */
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Every setting, checked, complete and frozen: nothing after this sees a flag, a variable or the file. */
export interface Settings {
  readonly listen: ListenAddress;
  readonly roles: readonly Role[];
  /** Allows endpoints on loopback and without TLS. */
  readonly dev: boolean;
  /** A proxy in front of it speaks TLS and sets `x-forwarded-for`. */
  readonly behindProxy: boolean;
  /** Names by which it may be called besides those of `listen`. */
  readonly hosts: readonly string[];

  /** Where others reach it, without a slash at its end: what providers are given. */
  readonly publicUrl: string | undefined;

  /** Of Postgres; undefined = SQLite in the data directory. Secret: it may hold a password. */
  readonly database: string | undefined;
  /** A file that holds `database`. */
  readonly databaseFile: string | undefined;
  /** Of Postgres. */
  readonly schema: string;
  /** Connections to Postgres. */
  readonly databaseConnections: number;
  readonly dataDir: string;
  /** Whether tables are created and changed at start. */
  readonly migrate: boolean;

  /** Base64 of 32 bytes. Secret. */
  readonly masterKey: string | undefined;
  /** @default master.key in the data directory, for SQLite */
  readonly masterKeyFile: string | undefined;
  /** Whether a group may read the files of the key and of the database's URL. */
  readonly groupMayReadKeys: boolean;
  /** The first token, in place of a random one. Secret. */
  readonly firstToken: string | undefined;

  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  /** For a whole request, from its first byte. */
  readonly requestTimeoutMs: number;
  /** Connections at once; further ones are refused. */
  readonly maxConnections: number;
  /** Failed tokens of one address in a minute. */
  readonly failedTokensPerMinute: number;

  /** How many rejected requests are kept of each source. */
  readonly rejectedPerSource: number;
  /** How much of the body of a rejected request is kept. */
  readonly rejectedBodyBytes: number;
  /** How often a node looks for sources that another has changed. */
  readonly sourcePollMs: number;

  /** Attempts under way at once. */
  readonly slots: number;
  /** For a whole attempt. */
  readonly attemptTimeoutMs: number;
  readonly leaseMs: number;
  readonly pollMs: number;
  /** Private ranges in which endpoints may be, as `10.1.0.0/16`. */
  readonly allowAddresses: readonly string[];

  readonly retentionEventsMs: number;
  readonly retentionAttemptsMs: number;
  readonly retentionAnswersMs: number;
  readonly retentionCancelledMs: number;
  /** From the moment on when they were resolved. */
  readonly retentionDeadMs: number;
  /** From the moment on when they were resolved. */
  readonly retentionSetAsideMs: number;
  readonly retentionIdsMs: number;
  readonly retentionRejectedMs: number;
  /** Rows in a second. */
  readonly retentionRate: number;

  readonly logLevel: LogLevel;
  /** `auto`: for people on a terminal, JSON elsewhere. */
  readonly logFormat: "auto" | "json" | "pretty";
  /** For a clean stop, all of it. */
  readonly stopTimeoutMs: number;
}
