import { Caller } from "./caller.js";
import type { Call } from "./caller.js";
import { checkClientOptions } from "./client-options.js";
import type { ClientOptions } from "./client-options.js";
import { consumerCalls, inboxCalls } from "./inbox-calls.js";
import type { ConsumerCalls, InboxCalls } from "./inbox-calls.js";
import { auditCalls, deadCalls, operationCalls } from "./operation-calls.js";
import type { AuditCalls, DeadCalls, OperationCalls } from "./operation-calls.js";
import type {
  Attempt,
  CreatedEndpoint,
  CreatedToken,
  Delivery,
  Endpoint,
  EndpointInput,
  EndpointUpdate,
  EventDetail,
  EventInput,
  EventSummary,
  Lane,
  Page,
  PublishedEvent,
  Redriven,
  RedrivenEvent,
  RejectedRequest,
  Session,
  SessionInput,
  SetAside,
  SkipInput,
  RetakenRequest,
  Retried,
  Skipped,
  Source,
  SourceInput,
  SourceUpdate,
  TestInput,
  TestSend,
  Token,
  TokenInput,
} from "./resources.js";

import { followTail } from "./tail.js";
import type { TailOptions } from "./tail.js";
import type {
  Found,
  LaneWaiting,
  Series,
  SeriesQuery,
  SettingsInForce,
  Status,
  Story,
  TailGap,
  TailMessage,
  TailQuery,
} from "./view-resources.js";

/** Which part of a list is wanted. */
export interface PageOptions {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** @default 100, at most 1,000 */
  readonly limit?: number | undefined;
}

/** Event ids are unique within a tenant. */
export interface TenantOptions {
  /** @default "default" */
  readonly tenant?: string | undefined;
}

/** Which events are wanted; what is left out does not matter. */
export interface EventQuery extends PageOptions, TenantOptions {
  readonly source?: string | undefined;
  readonly type?: string | undefined;
  readonly key?: string | undefined;
  /** Stored at this time or later: ISO 8601, or an age such as `24h`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Ids that begin with this; only together with `tenant`. */
  readonly id?: string | undefined;
}

/** What a publication can be told besides its event. */
export interface PublishOptions {
  /** Makes a second publication of the same key a duplicate, where the event has no id. */
  readonly idempotencyKey?: string | undefined;
}

/** Sources: where events come from. */
export interface SourceCalls {
  list(page?: PageOptions): Promise<Page<Source>>;
  create(source: SourceInput): Promise<Source>;
  get(name: string): Promise<Source>;
  update(name: string, change: SourceUpdate): Promise<Source>;
  remove(name: string): Promise<void>;
}

/** Endpoints: where events go. */
export interface EndpointCalls {
  list(page?: PageOptions & TenantOptions): Promise<Page<Endpoint>>;
  /** Where no secret is given, the answer has the one that was made: nobody ever sees it again. */
  create(endpoint: EndpointInput): Promise<CreatedEndpoint>;
  get(id: string): Promise<Endpoint>;
  update(id: string, change: EndpointUpdate): Promise<Endpoint>;
  remove(id: string): Promise<void>;
  pause(id: string): Promise<Endpoint>;
  resume(id: string): Promise<Endpoint>;
  /** Makes all that has failed there due now: after an outage, nobody waits for pauses that had grown meanwhile. */
  retry(id: string): Promise<Retried>;
  /** Sends a signed event that is not stored, and says what the endpoint answered. */
  test(id: string, event?: TestInput): Promise<TestSend>;
}

/** Events: publish and look up. */
export interface EventCalls {
  publish(event: EventInput, options?: PublishOptions): Promise<PublishedEvent>;
  /** All of them in one commit, up to 1,000. */
  publish(events: readonly EventInput[], options?: PublishOptions): Promise<readonly PublishedEvent[]>;
  /** Newest first. */
  list(query?: EventQuery): Promise<Page<EventSummary>>;
  get(id: string, options?: TenantOptions): Promise<EventDetail>;
  body(id: string, options?: TenantOptions): Promise<Uint8Array>;
}

/** Deliveries, and their attempts. */
export interface DeliveryCalls {
  /** Every delivery of one event. */
  list(query: { readonly event: string } & TenantOptions): Promise<Page<Delivery>>;
  get(id: string): Promise<Delivery>;
  /** In order. */
  attempts(id: string): Promise<Page<Attempt>>;
  /** Makes one due now that has failed and waits for its next attempt. */
  retry(id: string): Promise<Retried>;
}

/** Lanes: look into them, and skip a head that blocks. */
export interface LaneCalls {
  /** Blocked ones first, then the others in which something waits. */
  list(query?: PageOptions & { readonly endpoint?: string | undefined }): Promise<Page<Lane>>;
  get(id: string): Promise<Lane>;
  /** What stands in it, from both ends. */
  waiting(
    id: string,
    query?: {
      readonly first?: number | undefined;
      readonly last?: number | undefined;
      readonly before?: number | undefined;
    },
  ): Promise<LaneWaiting>;
  /** Passes over the lane's head, where it is the one that is named, as `head` of the lane tells it; else it is the problem `lane_moved`. */
  skip(id: string, head: string): Promise<Skipped>;
  /** Makes its head due now, where that has failed and waits for its next attempt. */
  retry(id: string): Promise<Retried>;
}

/** Events that could not be given their places. */
export interface SetAsideCalls {
  /** Events that could not be given their places, newest first. */
  list(page?: PageOptions): Promise<Page<SetAside>>;
  /** Lets one have its places after all, at the ends of its lanes. */
  redrive(id: string): Promise<RedrivenEvent>;
}

/** Requests that were refused, kept for their senders' sake. */
export interface RejectedCalls {
  /** Newest first. */
  list(
    query?: PageOptions & {
      readonly source?: string | undefined;
      readonly since?: string | undefined;
      readonly until?: string | undefined;
    },
  ): Promise<Page<RejectedRequest>>;
  get(id: string): Promise<RejectedRequest>;
  /** The first bytes of it. */
  body(id: string): Promise<Uint8Array>;
  /** Takes it in again, by its source as it is now and by the time of its receipt. */
  retry(id: string): Promise<RetakenRequest>;
}

/** Tokens of the API. */
export interface TokenCalls {
  list(page?: PageOptions): Promise<Page<Token>>;
  /** The answer has the token: nobody ever sees it again. */
  create(token: TokenInput): Promise<CreatedToken>;
  remove(id: string): Promise<void>;
}

/** The browser's session. */
export interface SessionCalls {
  get(): Promise<Session>;
  /** Sets a cookie: for pages of the server itself. */
  create(input: SessionInput): Promise<Session>;
  end(): Promise<void>;
}

/** The admin API of a Posthorn server. Calls reject with a PosthornError whose code begins with `api_`. */
export interface Client {
  readonly sources: SourceCalls;
  readonly endpoints: EndpointCalls;
  readonly events: EventCalls;
  readonly deliveries: DeliveryCalls;
  readonly lanes: LaneCalls;
  readonly dead: DeadCalls;
  readonly setAside: SetAsideCalls;
  /** What came in for handlers. */
  readonly inbox: InboxCalls;
  /** Handlers in the processes of hosts. */
  readonly consumers: ConsumerCalls;
  /** What is done to many deliveries at once. */
  readonly operations: OperationCalls;
  /** Who changed what. */
  readonly audit: AuditCalls;
  readonly rejected: RejectedCalls;
  readonly tokens: TokenCalls;
  readonly session: SessionCalls;
  /** What is wrong, in one sentence and as data. */
  status(): Promise<Status>;
  /** Everything that is known of one event: by its id, a delivery's id, or the id that its provider gave it. */
  story(id: string, options?: TenantOptions): Promise<Story>;
  /** What a pasted id, header line or curl leads to. */
  search(text: string, options?: TenantOptions): Promise<{ readonly items: readonly Found[] }>;
  /** Counts over time. */
  series(query?: SeriesQuery): Promise<Series>;
  /** What the node that answers runs with. */
  settings(): Promise<SettingsInForce>;
  /**
   * What happens on the node that answers, as it happens, until the signal aborts. A lost connection is made again and
   * goes on where it was; what was missed in between is told as a gap.
   */
  tail(query?: TailQuery, options?: TailOptions): AsyncIterable<TailMessage | TailGap>;
  /** Makes a dead delivery due again. */
  redrive(deliveryId: string): Promise<Redriven>;
}

/**
 * Makes a client of the server's admin API, in Node and in browsers.
 *
 * @example
 * const client = createClient({ url: "http://127.0.0.1:8710", token: process.env.POSTHORN_TOKEN });
 * await client.events.publish({ type: "order.paid", key: "order_7", data: { amount: 1999 } });
 */
export function createClient(options: ClientOptions): Client {
  const caller = new Caller(checkClientOptions(options));
  return Object.freeze({
    sources: sourceCalls(caller),
    endpoints: endpointCalls(caller),
    events: eventCalls(caller),
    deliveries: deliveryCalls(caller),
    lanes: laneCalls(caller),
    dead: deadCalls(caller),
    setAside: setAsideCalls(caller),
    inbox: inboxCalls(caller),
    consumers: consumerCalls(caller),
    operations: operationCalls(caller),
    audit: auditCalls(caller),
    rejected: rejectedCalls(caller),
    tokens: tokenCalls(caller),
    session: sessionCalls(caller),
    ...viewCalls(caller),
    redrive: (deliveryId: string) => caller.json<Redriven>(post(["deliveries", deliveryId, "redrive"])),
  });
}

function viewCalls(
  caller: Caller,
): Pick<Client, "status" | "story" | "search" | "series" | "settings" | "tail"> {
  return {
    status: () => caller.json(read(["status"])),
    story: (id, options = {}) => caller.json(read(["story", id], options)),
    search: (text, options = {}) => caller.json(read(["search"], { q: text, ...options })),
    series: (query = {}) => caller.json(read(["series"], query)),
    settings: () => caller.json(read(["settings"])),
    tail: (query = {}, options = {}) => followTail(caller, query, options),
  };
}

function sourceCalls(caller: Caller): SourceCalls {
  return {
    list: (page = {}) => caller.json(read(["sources"], page)),
    create: (source) => caller.json(post(["sources"], source)),
    get: (name) => caller.json(read(["sources", name])),
    update: (name, change) => caller.json(patch(["sources", name], change)),
    remove: (name) => caller.nothing(remove(["sources", name])),
  };
}

function endpointCalls(caller: Caller): EndpointCalls {
  return {
    list: (page = {}) => caller.json(read(["endpoints"], page)),
    create: (endpoint) => caller.json(post(["endpoints"], endpoint)),
    get: (id) => caller.json(read(["endpoints", id])),
    update: (id, change) => caller.json(patch(["endpoints", id], change)),
    remove: (id) => caller.nothing(remove(["endpoints", id])),
    pause: (id) => caller.json(post(["endpoints", id, "pause"])),
    resume: (id) => caller.json(post(["endpoints", id, "resume"])),
    retry: (id) => caller.json(again(["endpoints", id, "retry"])),
    test: (id, event = {}) => caller.json(post(["endpoints", id, "test"], event)),
  };
}

function eventCalls(caller: Caller): EventCalls {
  const publish = async (given: EventInput | readonly EventInput[], options: PublishOptions = {}) => {
    const { idempotencyKey } = options;
    const events = Array.isArray(given) ? (given as readonly EventInput[]) : [given as EventInput];
    // Without a name of its own, an event whose first answer was lost would be sent twice.
    const repeatable = idempotencyKey !== undefined || events.every(({ id }) => id !== undefined);
    return caller.json({ method: "POST", path: ["events"], body: given, idempotencyKey, repeatable });
  };
  return {
    publish: publish as EventCalls["publish"],
    list: (query = {}) => caller.json(read(["events"], query)),
    get: (id, options = {}) => caller.json(read(["events", id], options)),
    body: (id, options = {}) => caller.bytes(read(["events", id, "body"], options)),
  };
}

function deliveryCalls(caller: Caller): DeliveryCalls {
  return {
    list: (query) => caller.json(read(["deliveries"], query)),
    get: (id) => caller.json(read(["deliveries", id])),
    attempts: (id) => caller.json(read(["deliveries", id, "attempts"])),
    retry: (id) => caller.json(again(["deliveries", id, "retry"])),
  };
}

function laneCalls(caller: Caller): LaneCalls {
  return {
    list: (query = {}) => caller.json(read(["lanes"], query)),
    get: (id) => caller.json(read(["lanes", id])),
    waiting: (id, query = {}) => caller.json(read(["lanes", id, "waiting"], query)),
    skip: (id, head) => caller.json(post(["lanes", id, "skip"], { head } satisfies SkipInput)),
    retry: (id) => caller.json(again(["lanes", id, "retry"])),
  };
}

function setAsideCalls(caller: Caller): SetAsideCalls {
  return {
    list: (page = {}) => caller.json(read(["set-aside"], page)),
    redrive: (id) => caller.json(post(["set-aside", id, "redrive"])),
  };
}

function rejectedCalls(caller: Caller): RejectedCalls {
  return {
    list: (query = {}) => caller.json(read(["rejected"], query)),
    get: (id) => caller.json(read(["rejected", id])),
    body: (id) => caller.bytes(read(["rejected", id, "body"])),
    retry: (id) => caller.json(post(["rejected", id, "retry"])),
  };
}

function tokenCalls(caller: Caller): TokenCalls {
  return {
    list: (page = {}) => caller.json(read(["tokens"], page)),
    create: (token) => caller.json(post(["tokens"], token)),
    remove: (id) => caller.nothing(remove(["tokens", id])),
  };
}

function sessionCalls(caller: Caller): SessionCalls {
  return {
    get: () => caller.json(read(["session"])),
    create: (input) => caller.json(post(["session"], input)),
    end: () => caller.nothing(remove(["session"])),
  };
}

function read(path: readonly string[], query: object = {}): Call {
  return { method: "GET", path, query: query as NonNullable<Call["query"]>, repeatable: true };
}

function post(path: readonly string[], body?: unknown): Call {
  return { method: "POST", path, body, repeatable: false };
}

/** A POST whose repetition changes nothing more. */
function again(path: readonly string[]): Call {
  return { method: "POST", path, repeatable: true };
}

function patch(path: readonly string[], body: unknown): Call {
  return { method: "PATCH", path, body, repeatable: false };
}

function remove(path: readonly string[]): Call {
  return { method: "DELETE", path, repeatable: false };
}
