import { PROVIDER_SCHEMES } from "posthorn/providers";
import type { RetentionCensus } from "posthorn/operator";
import { LEAST_FREE_BYTES } from "../../observe/status-view.js";
import type { SchemaAge } from "../../parts.js";
import { NEWER_TABLES } from "../../store/schema-age.js";
import type { SourceRecord } from "../../store/source.js";
import { size } from "../../terminal/for-people.js";

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly level: "ok" | "warn" | "fail";
  readonly found: string;
  readonly cure: string | undefined;
}

export function ok(check: string, found: string): Finding {
  return { check, level: "ok", found, cure: undefined };
}

export function warn(check: string, found: string, cure: string): Finding {
  return { check, level: "warn", found, cure };
}

export function fail(check: string, found: string, cure: string): Finding {
  return { check, level: "fail", found, cure };
}

export function judgeDurability(lost: readonly string[], kind: "sqlite" | "postgres"): Finding {
  if (lost.length === 0) return ok("durability", "an answered event survives a power loss");
  const cure =
    kind === "sqlite"
      ? "Move the data directory to a local disk: the file system refuses what SQLite needs."
      : "Turn these settings of Postgres on; an event that was answered with 200 could else vanish.";
  return fail("durability", lost.join("; "), cure);
}

const SKEW_WARN_MS = 2000;
const SKEW_FAIL_MS = 60_000;

/** `skewMs` is how far the database's clock is ahead of ours, accurate to half the query's time. */
export function judgeClock(skewMs: number | undefined, uncertainMs: number): Finding {
  if (skewMs === undefined) return ok("clock", "the database has this machine's clock");
  const least = Math.max(0, Math.abs(skewMs) - uncertainMs);
  const found = `the database's clock is ${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? "behind" : "ahead"}`;
  const cure =
    "Let NTP keep both clocks: signatures of senders are checked by this one, what is due by the other.";
  if (least >= SKEW_FAIL_MS) return fail("clock", found, cure);
  return least >= SKEW_WARN_MS ? warn("clock", found, cure) : ok("clock", found);
}

/** A provider may still redeliver when its event's name has been forgotten: the event would be stored twice. */
export function judgeWindow({ name, scheme, windowS }: SourceRecord): Finding {
  const check = `window of ${name}`;
  const known = PROVIDER_SCHEMES.find((each) => each.name === scheme);
  if (known === undefined) return ok(check, `${days(windowS)}; how long its sender retries is not known`);
  const { retryHorizonS, title } = known;
  if (windowS >= retryHorizonS)
    return ok(check, `${days(windowS)}; ${title} retries for ${days(retryHorizonS)}`);
  return fail(
    check,
    `${days(windowS)}, but ${title} retries for ${days(retryHorizonS)}: a late retry would be stored again`,
    `posthorn source update ${name} --window ${retryHorizonS}`,
  );
}

function days(seconds: number): string {
  return seconds % 86_400 === 0 ? `${seconds / 86_400} days` : `${Math.round(seconds / 360) / 10} hours`;
}

/** `place` are the flags that name this database, for the line to paste. */
export function judgeSchema(age: SchemaAge, place = ""): Finding {
  switch (age) {
    case "current":
      return ok("schema", "the tables are those of this version");
    case "older":
      return fail("schema", "the tables are older than this version", `posthorn migrate${place}`);
    case "newer":
      return fail("schema", NEWER_TABLES.found, NEWER_TABLES.cure);
  }
}

/** Committed events get their places in lanes from a node that dispatches, within milliseconds: before that, no endpoint has them. */
export function judgeStage(first: number, later: number): Finding {
  if (first === 0 || later === 0) return ok("dispatch", "no event waits to be given to its endpoints");
  // Under load there are always some; where a node works, they become fewer or are others.
  const found = `${later} events wait to be given to their endpoints`;
  if (later < first) return ok("dispatch", `${found}, and they become fewer`);
  return warn(
    "dispatch",
    `${found}, and no node takes them`,
    "Start a node with the role dispatch (`posthorn serve --roles dispatch`), or look into the log of the one that runs.",
  );
}

/** What could not be given its places reaches nobody until a person looks. */
export function judgeSetAside(events: number): Finding {
  if (events === 0) return ok("set aside", "every event could be given its places");
  return warn(
    "set aside",
    `${events} events could not be given their places, and nobody gets them`,
    "`posthorn set-aside list` says why; `posthorn set-aside redrive ID` tries one again.",
  );
}

const MIB = 1024 ** 2;

export function judgeDisk(freeBytes: number, totalBytes: number): Finding {
  const share = Math.floor((freeBytes / Math.max(1, totalBytes)) * 100);
  const found = `${Math.floor(freeBytes / MIB)} MiB free (${share}%)`;
  const cure = "Make room, or move the data directory: a full disk refuses every event.";
  if (freeBytes < LEAST_FREE_BYTES) return fail("disk", found, cure);
  return share < 10 && freeBytes < 10_240 * MIB ? warn("disk", found, cure) : ok("disk", found);
}

/** Each connection, in or out, is a file. */
export function judgeOpenFiles(limit: number | undefined, needed: number): Finding {
  if (limit === undefined) return ok("open files", "the system tells no limit");
  if (limit >= needed) return ok("open files", `up to ${limit}`);
  return warn(
    "open files",
    `up to ${limit}; max_connections and slots can need ${needed}`,
    `Raise it (ulimit -n ${needed}, or LimitNOFILE= of systemd), or lower max_connections.`,
  );
}

const LATE_MS = 3_600_000;

/** Whether the removal of what is old keeps up. */
export function judgeRetention({ bytes, tables, kinds }: RetentionCensus): Finding {
  const events = kinds.find(({ kind }) => kind === "events");
  const largest = tables.slice(0, 3).map(({ name, bytes: each }) => `${name} ${size(each)}`);
  const sizes = `${size(bytes)}${largest.length === 0 ? "" : ` (${largest.join(", ")})`}`;
  const age = events?.oldestMs === undefined ? "no events" : `oldest event ${inDays(events.oldestMs)} old`;
  const found = `${sizes}, ${age}`;
  const passedMs = events?.passedMs;
  if (passedMs === undefined) return ok("retention", `${found}; old records were not looked for yet`);
  if (passedMs <= LATE_MS)
    return ok("retention", `${found}; looked through ${Math.round(passedMs / 1000)} s ago`);
  return warn(
    "retention",
    `${found}; the last pass over old records ended ${inDays(passedMs)} ago`,
    "See that a node with the role dispatch runs; where one does, raise retention_rate.",
  );
}

function inDays(ms: number): string {
  const hours = ms / 3_600_000;
  return hours < 48 ? `${hours.toFixed(1)} hours` : `${Math.floor(hours / 24)} days`;
}
