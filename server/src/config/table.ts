import type { Kind, Raw } from "./kinds.js";
import {
  addressRange,
  bytes,
  count,
  duration,
  listenAddress,
  listOf,
  oneOf,
  postgresUrl,
  publicAddress,
  text,
  textLike,
  yesOrNo,
} from "./kinds.js";
import { RETENTION_SETTINGS } from "./retention-settings.js";
import { SECRET_SETTINGS } from "./secret-settings.js";
import type { Settings } from "./settings.js";

/** One setting. Its flag, variable, line of the file and docs are all made from this row. */
export interface Setting<Name extends keyof Settings = keyof Settings> {
  readonly name: Name;
  /** In the file; the flag is the same with `-`, the variable in capitals after `POSTHORN_`. */
  readonly key: string;
  readonly kind: Kind<Settings[Name]>;
  /** As it is written in the file; undefined where there is none. */
  readonly default: Raw | undefined;
  /** Shown in the file where there is no default. */
  readonly example?: string;
  /** Sentences; the first one is for `--help`. */
  readonly doc: readonly [string, ...string[]];
  /** For `--help`, of a switch whose flag turns it off. */
  readonly flagSays?: string;
  /** `whole`: never shown. `password`: shown without the password of its URL. */
  readonly secret?: "whole" | "password";
}

export type AnySetting = { [Name in keyof Settings]: Setting<Name> }[keyof Settings];

export interface Section {
  readonly title: string;
  readonly settings: readonly AnySetting[];
}

const SECOND = 1000;
const HOUR = 3_600_000;
const KIB = 1024;
const MIB = KIB * KIB;

const listening: Section = {
  title: "What it is and where it listens",
  settings: [
    {
      name: "listen",
      key: "listen",
      kind: listenAddress,
      default: "127.0.0.1:8710",
      doc: [
        "The address of ingest, API and metrics.",
        "Another address than loopback is refused until there is a token: first_token, or `posthorn token create --offline`.",
      ],
    },
    {
      name: "roles",
      key: "roles",
      kind: listOf(oneOf(["ingest", "dispatch", "api"]), { least: 1 }),
      default: ["ingest", "dispatch", "api"],
      doc: [
        "What this node does: take events in, deliver them, answer the admin API.",
        "Nodes on one Postgres may share the work. An SQLite file has one process, which should do it all.",
      ],
    },
    {
      name: "dev",
      key: "dev",
      kind: yesOrNo,
      default: false,
      doc: [
        "Allows endpoints on loopback addresses and without TLS.",
        "For development: on a server, whoever may create an endpoint could reach what only the machine itself should.",
      ],
    },
    {
      name: "behindProxy",
      key: "behind_proxy",
      kind: yesOrNo,
      default: false,
      doc: [
        "One proxy stands in front, speaks TLS and appends to x-forwarded-for.",
        "The last address of that header is then taken for the client's. Without a proxy anybody could write it.",
      ],
    },
    {
      name: "publicUrl",
      key: "public_url",
      kind: publicAddress,
      default: undefined,
      example: "https://hooks.example.com",
      doc: [
        "Where providers reach it: `posthorn source add` prints the address to paste.",
        "Also what it takes for the URL of a request, where a signature covers it and its source names no publicUrl.",
      ],
    },
    {
      name: "hosts",
      key: "hosts",
      kind: listOf(textLike(/^[a-z0-9.\-_:[\]]{1,253}$/i, "a host name", "name"), { least: 0 }),
      default: [],
      doc: [
        "Host names by which it may be called, besides localhost and those of `listen`.",
        "On loopback other names are refused: a web page could else reach it through a name of its own (DNS rebinding).",
      ],
    },
  ],
};

const database: Section = {
  title: "The database",
  settings: [
    {
      name: "database",
      key: "database",
      kind: postgresUrl,
      default: undefined,
      example: "postgres://posthorn:password@db.example.com:5432/posthorn",
      secret: "password",
      doc: [
        "The URL of a Postgres database (15 to 18), which any number of nodes may share.",
        "Without it, events are kept in an SQLite file in the data directory.",
      ],
    },
    {
      name: "databaseFile",
      key: "database_file",
      kind: text,
      default: undefined,
      example: "/run/secrets/posthorn-database",
      doc: [
        "A file that holds the URL of the database, readable by its owner only: a password in it is in no environment.",
        "In place of `database`.",
      ],
    },
    {
      name: "schema",
      key: "schema",
      kind: textLike(/^[a-z_][a-z0-9_]{0,62}$/, "a schema name of lower-case letters, digits and _", "name"),
      default: "posthorn",
      doc: ["The schema of Postgres in which the tables are."],
    },
    {
      name: "databaseConnections",
      key: "database_connections",
      kind: count(2, 1000),
      default: 10,
      doc: ["Connections to Postgres that this node opens at most."],
    },
    {
      name: "dataDir",
      key: "data_dir",
      kind: text,
      default: "./posthorn-data",
      doc: [
        "The directory of the SQLite file, the master key and the address and token for the CLI.",
        "A relative path starts at the working directory. One process at a time holds it.",
      ],
    },
    {
      name: "migrate",
      key: "migrate",
      kind: yesOrNo,
      default: true,
      flagSays: "Does not create or change tables at start: that is left to `posthorn migrate`.",
      doc: [
        "Creates and changes the tables at start.",
        "Turn it off where the server's role may not: it then refuses to start until `posthorn migrate` has been run.",
        "A node on Postgres that has the role api alone never does: the tables may be those of an application.",
      ],
    },
  ],
};

const requests: Section = {
  title: "Limits of requests",
  settings: [
    {
      name: "maxBodyBytes",
      key: "max_body",
      kind: bytes(KIB, 64 * MIB),
      default: "1MiB",
      doc: [
        "The largest body that is taken in, published or read by the API; a larger one gets 413.",
        "A source of a provider that sends more takes as much as that (GitHub, GitLab: 25 MiB), 256 MiB of such bodies at once.",
      ],
    },
    {
      name: "maxHeaderBytes",
      key: "max_headers",
      kind: bytes(4 * KIB, 256 * KIB),
      default: "16KiB",
      doc: ["All headers of a request together; more get 431."],
    },
    {
      name: "requestTimeoutMs",
      key: "request_timeout",
      kind: duration(SECOND, 300 * SECOND),
      default: "1m",
      doc: ["For a whole request, from its first byte to its last."],
    },
    {
      name: "maxConnections",
      key: "max_connections",
      kind: count(10, 1_000_000),
      default: 10_000,
      doc: ["Connections that may be open at once; further ones are closed."],
    },
    {
      name: "failedTokensPerMinute",
      key: "failed_tokens_per_minute",
      kind: count(1, 100_000),
      default: 20,
      doc: ["Requests with a wrong token that one address may make in a minute, before it gets 429."],
    },
  ],
};

const ingest: Section = {
  title: "Ingest",
  settings: [
    {
      name: "rejectedPerSource",
      key: "rejected_per_source",
      kind: count(0, 100_000),
      default: 1000,
      doc: ["Rejected requests that are kept of each source, for people to look at; the oldest go first."],
    },
    {
      name: "rejectedBodyBytes",
      key: "rejected_body",
      kind: bytes(0, 32 * MIB),
      default: "256KiB",
      doc: [
        "How much of the body of a rejected request is kept.",
        "One that is kept whole can be taken in again with `posthorn rejected retry`, when its source is mended.",
      ],
    },
    {
      name: "sourcePollMs",
      key: "source_poll",
      kind: duration(100, 60 * SECOND),
      default: "1s",
      doc: ["How often a node looks for sources that another node has changed."],
    },
  ],
};

const delivery: Section = {
  title: "Delivery",
  settings: [
    {
      name: "slots",
      key: "slots",
      kind: count(1, 10_000),
      default: 128,
      doc: ["Attempts that this node has under way at once, to all endpoints together."],
    },
    {
      name: "attemptTimeoutMs",
      key: "attempt_timeout",
      kind: duration(100, 10 * 60 * SECOND),
      default: "15s",
      doc: ["For a whole attempt: name, connection, request and answer."],
    },
    {
      name: "leaseMs",
      key: "lease",
      kind: duration(6 * SECOND, HOUR),
      default: "30s",
      doc: [
        "How long a node holds what it has claimed. If it dies, another goes on after this time.",
        "More than attempt_timeout and 5s: an attempt could else outlive its lease, and be made by two.",
      ],
    },
    {
      name: "pollMs",
      key: "poll",
      kind: duration(10, 60 * SECOND),
      default: "250ms",
      doc: ["How often a node looks for work of which nobody has told it."],
    },
    {
      name: "allowAddresses",
      key: "allow_addresses",
      kind: listOf(addressRange, { least: 0 }),
      default: [],
      example: "10.1.0.0/16",
      doc: [
        "Private addresses in which endpoints may be; all others are refused.",
        "As narrow as can be: whoever may create an endpoint reaches everything in them.",
      ],
    },
  ],
};

const running: Section = {
  title: "Logs and stopping",
  settings: [
    {
      name: "logLevel",
      key: "log_level",
      kind: oneOf(["debug", "info", "warn", "error", "silent"]),
      default: "info",
      doc: ["What is logged: `info` has one line for each attempt."],
    },
    {
      name: "logFormat",
      key: "log_format",
      kind: oneOf(["auto", "json", "pretty"]),
      default: "auto",
      doc: ["JSON lines, or lines for people; `auto` is for people on a terminal."],
    },
    {
      name: "stopTimeoutMs",
      key: "stop_timeout",
      kind: duration(SECOND, 600 * SECOND),
      default: "20s",
      doc: [
        "For a clean stop, all of it.",
        "What is still under way then is cut off; its events are delivered again by the next start or another node.",
      ],
    },
  ],
};

export const SECTIONS: readonly Section[] = [
  listening,
  database,
  { title: "Secrets", settings: SECRET_SETTINGS },
  requests,
  ingest,
  delivery,
  { title: "Retention", settings: RETENTION_SETTINGS },
  running,
];

export const SETTINGS: readonly AnySetting[] = SECTIONS.flatMap((section) => section.settings);

export function flagOf({ key, kind, default: byDefault }: AnySetting): string {
  const name = key.replaceAll("_", "-");
  if (kind.placeholder === undefined) return byDefault === true ? `--no-${name}` : `--${name}`;
  return `--${name}`;
}

export function variableOf({ key }: AnySetting): string {
  return `POSTHORN_${key.toUpperCase()}`;
}
