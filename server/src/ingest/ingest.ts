import type { Event, Ingested, PosthornError, Reply, Scheme, Verified } from "posthorn";
import { diagnose, isPosthornError, readEvents, schemeAnswering } from "posthorn";
import { isWorse, refusalOf, repeat, replyTo, UNAVAILABLE } from "posthorn/gateway";
import type { IngestedEvent } from "../observe/activity.js";
import type { ServerParts } from "../parts.js";
import { IngestLines } from "./ingest-lines.js";
import { incomingEvent } from "./incoming-event.js";
import type { NamedEvent } from "./incoming-event.js";
import { verifiedRequest } from "./live-source.js";
import type { LiveSource } from "./live-source.js";
import { originOf, withOrigin } from "./received-request.js";
import type { Origin, ReceivedRequest } from "./received-request.js";
import type { Rejection } from "./rejected-requests.js";
import { RejectedRequests } from "./rejected-requests.js";
import { RepeatedEvents } from "./repeated-events.js";
import type { CachedSource } from "./source-cache.js";
import { SourceCache } from "./source-cache.js";
import { StoreFailures } from "./store-failures.js";

export type IngestParts = Pick<
  ServerParts,
  "outbox" | "registry" | "metrics" | "activity" | "log" | "clock" | "settings"
>;

/** Receives the requests of providers. */
export interface Ingest {
  /**
   * Verifies a request and stores each of its events once. The reply comes when they are durable, or at once when there
   * is nothing to store. Never throws because of what a sender sent.
   */
  receive(source: string, request: ReceivedRequest): Reply | Promise<Reply>;
  /** Records a request that could not be read as rejected, and returns the reply. */
  refuse(source: string, request: ReceivedRequest, refusal: Refusal): Promise<Reply>;
  /** The largest body that a source takes: the setting, or more where the provider sends more. */
  bodyLimit(source: string): number;
  /** Reads changed sources now. */
  refresh(): Promise<void>;
  /** Reads the sources, and starts the loops that read changes, write rejected requests and forget old names. */
  start(): Promise<void>;
  /** Ends the loops and writes the last rejected requests. */
  stop(): Promise<void>;
}

export interface Refusal extends Rejection {
  readonly status: number;
}

export function createIngest(parts: IngestParts): Ingest {
  return new GatewayIngest(parts);
}

// Requests in progress at once. More than that means that the database does not keep up; without a limit they would fill the
// memory.
const MOST_UNDER_WAY = 10_000;
const MOST_UNDER_WAY_BYTES = 128 * 1024 * 1024;
// A hostile sender could put a million events into a body of one megabyte.
const MOST_EVENTS = 10_000;
// As for a wrong signature: a stranger must not learn which sources there are.
const UNKNOWN: Reply = { status: 401 };
const FLUSH_EVERY_MS = 250;
const FORGET_EVERY_MS = 60_000;
const FORGET_AT_ONCE = 5000;

class GatewayIngest implements Ingest {
  readonly #parts: IngestParts;
  readonly #sources: SourceCache;
  readonly #rejected: RejectedRequests;
  readonly #repeated: RepeatedEvents;
  readonly #failures: StoreFailures;
  readonly #lines: IngestLines;
  readonly #origin: Origin;
  readonly #ended = new AbortController();
  #loops: readonly Promise<void>[] = [];
  #underWay = 0;
  #underWayBytes = 0;

  constructor(parts: IngestParts) {
    const { settings } = parts;
    this.#parts = parts;
    this.#sources = new SourceCache(parts);
    this.#rejected = new RejectedRequests({
      ...parts,
      keepPerSource: settings.rejectedPerSource,
      keepBodyBytes: settings.rejectedBodyBytes,
    });
    this.#repeated = new RepeatedEvents(parts);
    this.#failures = new StoreFailures(parts);
    this.#lines = new IngestLines(parts);
    this.#origin = originOf(settings);
  }

  receive(name: string, request: ReceivedRequest): Reply | Promise<Reply> {
    const source = this.#sources.get(name);
    return source === undefined ? this.#receiveUnknown(name, request) : this.#admit(source, request);
  }

  async refuse(name: string, request: ReceivedRequest, refusal: Refusal): Promise<Reply> {
    const known = this.#sources.get(name) ?? (await this.#find(name));
    if (known === UNAVAILABLE) return UNAVAILABLE;
    if (!("status" in known)) this.#reject(name, request, () => refusal);
    // The same without a source of this name: otherwise a large body would tell which names there are.
    return { status: refusal.status };
  }

  bodyLimit(name: string): number {
    const source = this.#sources.peek(name);
    const sent = source === undefined || "broken" in source ? 0 : (source.verifier.scheme.maxBodyBytes ?? 0);
    return Math.max(this.#parts.settings.maxBodyBytes, sent);
  }

  refresh(): Promise<void> {
    return this.#sources.refresh();
  }

  async start(): Promise<void> {
    await this.#sources.refresh();
    const { clock, settings, outbox, log } = this.#parts;
    const { signal } = this.#ended;
    const failed = (what: string) => (error: unknown) => log.warn({ err: error }, what);
    this.#loops = [
      repeat({
        everyMs: settings.sourcePollMs,
        clock,
        signal,
        work: () => this.#sources.refresh(),
        failed: failed("sources could not be looked at"),
      }),
      repeat({
        everyMs: FLUSH_EVERY_MS,
        clock,
        signal,
        work: () => this.#rejected.flush(),
        failed: failed("rejected requests could not be kept"),
      }),
      repeat({
        everyMs: FLUSH_EVERY_MS,
        clock,
        signal,
        work: () => this.#repeated.flush(),
        failed: failed("duplicates and conflicts could not be kept"),
      }),
      repeat({
        everyMs: FORGET_EVERY_MS,
        clock,
        signal,
        work: async () => (await outbox.forgetNames({ maxNames: FORGET_AT_ONCE })) >= FORGET_AT_ONCE,
        failed: failed("names whose window has passed could not be forgotten"),
      }),
    ];
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    this.#sources.close();
    await Promise.all(this.#loops);
    await Promise.all([this.#rejected.flush(), this.#repeated.flush()]);
  }

  /** Looks for a source that is not in the cache; returns the reply when there is none. */
  async #find(name: string): Promise<CachedSource | Reply> {
    try {
      const found = await this.#sources.find(name);
      if (found !== undefined) return found;
    } catch (error) {
      // Not 401: a provider may disable an address that refuses.
      this.#failures.note("sources", error);
      return UNAVAILABLE;
    }
    return UNKNOWN;
  }

  async #receiveUnknown(name: string, request: ReceivedRequest): Promise<Reply> {
    const found = await this.#find(name);
    return "status" in found ? found : this.#admit(found, request);
  }

  // No `async` from here to the store: a promise per step took as long as verifying the signature.
  #admit(source: CachedSource, request: ReceivedRequest): Reply | Promise<Reply> {
    if ("broken" in source) return UNAVAILABLE;
    if (this.#underWay >= MOST_UNDER_WAY || this.#underWayBytes >= MOST_UNDER_WAY_BYTES)
      return replyTo("saturated", source.verifier.scheme);
    return this.#take(source, request);
  }

  #take(live: LiveSource, received: ReceivedRequest): Reply | Promise<Reply> {
    const request = live.needsOrigin ? withOrigin(received, this.#origin) : received;
    let events: readonly Event[];
    let scheme: Scheme;
    let verified: Verified;
    try {
      verified = verifiedRequest(live, request);
      const handshake = live.unverified ? undefined : live.verifier.scheme.handshake?.(verified);
      if (handshake !== undefined) {
        this.#counted({ source: live.record.name, verdict: "handshake" });
        return handshake;
      }
      events = readEvents(verified, live.record.name);
      scheme = schemeAnswering(verified);
    } catch (error) {
      return this.#refused(live, request, error);
    }
    if (events.length > MOST_EVENTS) return this.#tooMany(live, request, events.length);
    const verifiedBy = live.unverified ? undefined : verified.key;
    return this.#store(live, request, { events, scheme, verifiedBy });
  }

  #store(
    live: LiveSource,
    request: ReceivedRequest,
    { events, scheme, verifiedBy }: ReadEvents,
  ): Reply | Promise<Reply> {
    const bytes = request.body.length;
    this.#underWay++;
    this.#underWayBytes += bytes;
    const done = (): void => {
      this.#underWay--;
      this.#underWayBytes -= bytes;
    };
    const failed = (error: unknown): Reply => {
      done();
      // Some events may be stored: they are duplicates when the sender retries.
      this.#counted({ source: live.record.name, verdict: "failed" });
      this.#failures.note("ingest", error);
      return UNAVAILABLE;
    };
    try {
      const arrival = { request, nowMs: this.#parts.clock.now(), verifiedBy };
      const named = events.map((event) => incomingEvent(live, event, arrival));
      return this.#ingest(
        named,
        (ingested) => {
          done();
          return this.#stored(live, request, { named, ingested, scheme });
        },
        failed,
      );
    } catch (error) {
      return failed(error);
    }
  }

  /** Calls the store for all events at once, so that they share one commit. */
  #ingest(
    named: readonly NamedEvent[],
    stored: (ingested: readonly Ingested[]) => Reply,
    failed: (error: unknown) => Reply,
  ): Reply | Promise<Reply> {
    const { outbox } = this.#parts;
    const [first] = named;
    if (first === undefined) return stored([]);
    if (named.length === 1) return outbox.ingest(first.incoming).then((only) => stored([only]), failed);
    return Promise.all(named.map(({ incoming }) => outbox.ingest(incoming))).then(stored, failed);
  }

  #stored(live: LiveSource, request: ReceivedRequest, { named, ingested, scheme }: StoredEvents): Reply {
    const { name } = live.record;
    ingested.forEach(({ kind, id }, n) =>
      this.#counted({ source: name, verdict: kind, type: named[n]?.incoming.event.type ?? "", eventId: id }),
    );
    const worst = worstOf(ingested);
    if (worst !== undefined && worst.kind !== "stored")
      named.forEach((event, n) => this.#repeated.add(ingested[n] ?? worst, event, request));
    if (worst?.kind === "conflict") this.#conflict(name, request, worst.id);
    const fellBack = named.some((each) => each.fellBack);
    return replyTo(worst?.kind ?? "skipped", scheme, { event: worst?.id, fellBack });
  }

  #refused(live: LiveSource, request: ReceivedRequest, error: unknown): Reply {
    // Any other error is a bug in a scheme: the sender cannot fix it, and retries.
    if (!isPosthornError(error)) {
      this.#parts.log.error({ err: error, source: live.record.name }, "request could not be read");
      return UNAVAILABLE;
    }
    this.#reject(live.record.name, request, () => ({
      code: error.code,
      message: error.message,
      diagnosis: live.unverified ? [] : diagnosisOf(live, request, error),
    }));
    return live.unverified ? { status: 400 } : refusalOf(error.code);
  }

  #tooMany(live: LiveSource, request: ReceivedRequest, events: number): Reply {
    this.#reject(live.record.name, request, () => ({
      code: "events_too_many",
      message: `The request carries ${events} events; at most ${MOST_EVENTS} are taken at once.`,
      diagnosis: [],
    }));
    return { status: 413 };
  }

  #conflict(name: string, request: ReceivedRequest, id: string): void {
    if (!this.#rejected.admits(name)) return;
    this.#rejected.add(name, request, {
      code: "conflict",
      message: `The event was stored before as ${id}, with another body. This one was not stored.`,
      diagnosis: [],
    });
  }

  #reject(name: string, request: ReceivedRequest, explain: () => Rejection): void {
    const admitted = this.#rejected.admits(name);
    const rejection = admitted ? explain() : undefined;
    if (rejection !== undefined) this.#rejected.add(name, request, rejection);
    this.#counted({
      source: name,
      verdict: "rejected",
      ...(rejection !== undefined && { code: rejection.code }),
    });
  }

  #counted(event: IngestedEvent): void {
    this.#lines.write(event);
    this.#parts.metrics.ingested(event.source, event.verdict);
    this.#parts.activity.ingested(event);
  }
}

/** What a verified request carries. */
interface ReadEvents {
  readonly events: readonly Event[];
  readonly scheme: Scheme;
  /** The key that verified it; undefined where nobody signs. */
  readonly verifiedBy: string | undefined;
}

/** What became of a request's events, and the scheme in whose terms the sender is answered. */
interface StoredEvents {
  readonly named: readonly NamedEvent[];
  readonly ingested: readonly Ingested[];
  readonly scheme: Scheme;
}

/** The event that the reply reports; undefined for a request without events. */
function worstOf(all: readonly Ingested[]): Ingested | undefined {
  let worst = all[0];
  for (const each of all) if (worst !== undefined && isWorse(each.kind, worst.kind)) worst = each;
  return worst;
}

/** Runs forensics only for requests that are recorded: explaining every request of a flood would take all CPU time. */
function diagnosisOf(
  { verifier }: LiveSource,
  request: ReceivedRequest,
  error: PosthornError,
): readonly string[] {
  const keys = typeof verifier.keys === "function" ? [] : verifier.keys.keys;
  return diagnose.sync({ verifier, request, keys, error });
}
