import type { Call, Caller } from "./caller.js";
import type {
  Consumer,
  Forgot,
  HeldEvent,
  HeldReleased,
  InboxEvent,
  InboxQuery,
  InboxRedriven,
  InboxRow,
  RefusedEvent,
  RemovedConsumer,
} from "./inbox-resources.js";
import type { Page, Retried } from "./resources.js";

interface PageWish {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

interface OfTenant {
  /** @default "default" */
  readonly tenant?: string | undefined;
}

interface Noted {
  /** Why, for the audit. */
  readonly note?: string | undefined;
}

/** The inbox: what came in, and what its handlers made of it. */
export interface InboxCalls {
  /** Newest first. `id` finds ids by their beginning, and takes `source` and `tenant` beside it. */
  list(query?: InboxQuery & PageWish & { readonly id?: string | undefined }): Promise<Page<InboxRow>>;
  /** One event, by `source/event`. */
  get(id: string, options?: OfTenant): Promise<InboxEvent>;
  /** Lets handlers handle what failed or was skipped; with `refused`, what was refused with the body of this hash. */
  redrive(
    id: string,
    options?: OfTenant &
      Noted & { readonly consumer?: string | undefined; readonly refused?: string | undefined },
  ): Promise<InboxRedriven>;
  /** Forgets an event: when its provider sends it again, it is applied as a new one. */
  forget(id: string, options?: OfTenant & Noted): Promise<Forgot>;
  /** Events that wait for others of their key, by source, key and sequence. */
  held(
    query?: PageWish & {
      readonly tenant?: string | undefined;
      readonly source?: string | undefined;
      readonly key?: string | undefined;
    },
  ): Promise<Page<HeldEvent>>;
  /** Gives up what a held event waits for: it goes on now, after those that are held before it. */
  release(id: string, options?: OfTenant & Noted): Promise<HeldReleased>;
  /** Conflicts and stale events. */
  refused(
    query?: PageWish & {
      readonly tenant?: string | undefined;
      readonly source?: string | undefined;
      readonly because?: "conflict" | "stale" | undefined;
    },
  ): Promise<Page<RefusedEvent>>;
}

/** Handlers in the processes of hosts. */
export interface ConsumerCalls {
  list(): Promise<Page<Consumer>>;
  /** Makes all that has failed there due now. */
  retry(id: string): Promise<Retried>;
  /**
   * Lets what comes for a handler wait, in order, for `forMs` or until somebody resumes it. Of two pauses the one that ends
   * later stays: a shorter one is refused.
   */
  pause(id: string, options?: Noted & { readonly forMs?: number | undefined }): Promise<Consumer>;
  /** Ends a pause, whoever or whatever has paused it. */
  resume(id: string, options?: Noted): Promise<Consumer>;
  /**
   * Removes a handler that no worker has any more. Refused while a worker has it; and, unless `cancelWaiting` says that what waits is to be
   * cancelled, while deliveries wait for it or dead letters of it are unresolved.
   */
  remove(
    id: string,
    options?: Noted & { readonly cancelWaiting?: boolean | undefined },
  ): Promise<RemovedConsumer>;
}

export function inboxCalls(caller: Caller): InboxCalls {
  return {
    list: (query = {}) => caller.json(read(["inbox"], query)),
    get: (id, options = {}) => caller.json(read(["inbox", id], options)),
    redrive: (id, options = {}) => caller.json(post(["inbox", id, "redrive"], options)),
    forget: (id, options = {}) => caller.json(post(["inbox", id, "forget"], options)),
    held: (query = {}) => caller.json(read(["held"], query)),
    release: (id, options = {}) => caller.json(post(["held", id, "release"], options)),
    refused: (query = {}) => caller.json(read(["refused"], query)),
  };
}

export function consumerCalls(caller: Caller): ConsumerCalls {
  return {
    list: () => caller.json(read(["consumers"])),
    retry: (id) => caller.json({ method: "POST", path: ["consumers", id, "retry"], repeatable: true }),
    pause: (id, options = {}) => caller.json(post(["consumers", id, "pause"], options)),
    resume: (id, options = {}) => caller.json(post(["consumers", id, "resume"], options)),
    remove: (id, options = {}) =>
      caller.json({ method: "DELETE", path: ["consumers", id], body: options, repeatable: false }),
  };
}

function post(path: readonly string[], body: object): Call {
  return { method: "POST", path, body, repeatable: false };
}

function read(path: readonly string[], query: object = {}): Call {
  return { method: "GET", path, query: query as NonNullable<Call["query"]>, repeatable: true };
}
