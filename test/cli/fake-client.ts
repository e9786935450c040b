import { PosthornError } from "posthorn/client";
import type { Client, Page } from "posthorn/client";
import {
  CONSUMER,
  DEAD,
  DELIVERY,
  ENDPOINT,
  EVENT,
  HELD,
  INBOX_ROW,
  LANES,
  OPERATION,
  REJECTED,
  SET_ASIDE,
  SOURCE,
  STATUS,
  TOKEN,
} from "./samples.js";

/** A call that a command made. */
export type Call = readonly [name: string, ...args: readonly unknown[]];

type Answers = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface FakeClient extends Client {
  readonly calls: readonly Call[];
}

/** A client that answers with samples, or with what a test gives, and writes down what it was asked. */
export function fakeClient(answers: Answers = {}): FakeClient {
  const calls: Call[] = [];
  const all: Answers = { ...SAMPLES, ...answers };
  const call =
    (name: string) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push([name, ...args]);
      await Promise.resolve();
      const answer = all[name] as ((...given: unknown[]) => unknown) | undefined;
      if (answer === undefined) throw new Error(`Nobody expected ${name}.`);
      return answer(...args) as never;
    };
  const group = <Names extends string>(name: string, ...verbs: readonly Names[]) =>
    Object.fromEntries(verbs.map((verb) => [verb, call(`${name}.${verb}`)])) as Record<
      Names,
      (...args: unknown[]) => Promise<never>
    >;
  return {
    sources: group("sources", "list", "create", "get", "update", "remove"),
    endpoints: group(
      "endpoints",
      "list",
      "create",
      "get",
      "update",
      "remove",
      "pause",
      "resume",
      "retry",
      "test",
    ),
    events: group("events", "publish", "list", "get", "body"),
    deliveries: group("deliveries", "list", "get", "attempts", "retry"),
    lanes: group("lanes", "list", "get", "waiting", "skip", "retry"),
    dead: group("dead", "list", "groups", "note"),
    operations: group("operations", "create", "run", "list", "get", "rate", "stop", "items"),
    audit: group("audit", "list"),
    inbox: group("inbox", "list", "get", "redrive", "forget", "held", "release", "refused"),
    consumers: group("consumers", "list", "retry", "pause", "resume", "remove"),
    setAside: group("setAside", "list", "redrive"),
    rejected: group("rejected", "list", "get", "body", "retry"),
    tokens: group("tokens", "list", "create", "remove"),
    session: group("session", "get", "create", "end"),
    series: call("series"),
    settings: call("settings"),
    tail: (...args: unknown[]) => {
      calls.push(["tail", ...args]);
      return (
        (all["tail"] as ((...given: unknown[]) => AsyncIterable<never>) | undefined)?.(...args) ?? nothing()
      );
    },
    status: call("status"),
    story: call("story"),
    search: call("search"),
    redrive: call("redrive"),
    calls,
  };
}

async function* nothing(): AsyncGenerator<never> {
  // Nothing happens.
}

export function page<T>(items: readonly T[], next: string | null = null): Page<T> {
  return { items, next };
}

/** What the client throws when the server answers with a problem. */
export function problem(status: number, code: string, detail: string): PosthornError {
  const kind = status === 404 ? "api_not_found" : status === 401 ? "api_unauthorised" : "api_refused";
  return new PosthornError(kind, detail, {
    detail: { type: "about:blank", title: code, status, code, detail },
  });
}

const SAMPLES: Answers = {
  "sources.list": () => page([SOURCE]),
  "sources.create": (input: object) => ({ ...SOURCE, ...input, secrets: undefined }),
  "sources.get": () => SOURCE,
  "sources.update": () => SOURCE,
  "sources.remove": () => undefined,
  "setAside.list": () => page([SET_ASIDE]),
  "setAside.redrive": () => ({ result: "staged" }),
  "endpoints.list": () => page([ENDPOINT]),
  "endpoints.create": (input: object) => ({
    ...ENDPOINT,
    ...input,
    secrets: undefined,
    secret: "whsec_shown_once_at_creation",
  }),
  "endpoints.get": () => ENDPOINT,
  "endpoints.update": () => ENDPOINT,
  "endpoints.remove": () => undefined,
  "endpoints.pause": () => ({ ...ENDPOINT, state: "paused" }),
  "endpoints.resume": () => ENDPOINT,
  "endpoints.test": () => ({
    eventId: "evt_test_7",
    outcome: "acknowledged",
    status: 200,
    error: null,
    detail: null,
    durationMs: 38,
    answer: Buffer.from("ok").toString("base64"),
  }),
  "events.publish": () => ({ id: EVENT.id, duplicate: false }),
  "events.list": () => page([EVENT]),
  "events.get": () => ({ ...EVENT, headers: { "x-shop": "berlin" }, deliveries: [DELIVERY] }),
  "events.body": () => Buffer.from('{"amount":1999}'),
  "deliveries.list": () => page([DELIVERY]),
  "deliveries.get": () => DELIVERY,
  "deliveries.attempts": () =>
    page(
      [1, 2].map((number) => ({
        round: 1,
        number,
        startedAt: `2027-01-31T11:5${number * 4 - 3}:00.000Z`,
        durationMs: 210 * number,
        outcome: "refused",
        status: 503,
        error: null,
        answer: Buffer.from("Down for maintenance").toString("base64"),
      })),
    ),
  "lanes.list": () => page(LANES),
  "lanes.get": () => LANES[0],
  "endpoints.retry": () => ({ retried: 1 }),
  "deliveries.retry": () => ({ retried: 1 }),
  "lanes.retry": () => ({ retried: 1 }),
  "lanes.skip": () => ({ result: "skipped" }),
  "dead.list": () => page([DEAD]),
  "dead.groups": () =>
    page([
      {
        id: "ep_shop.exhausted.503.none",
        tenant: "default",
        endpointId: "ep_shop",
        because: "exhausted",
        status: 503,
        error: null,
        count: 84,
        firstAt: "2027-01-31T07:02:00.000Z",
        lastAt: "2027-01-31T09:15:00.000Z",
        note: { text: "their database moved, back at 10", by: "ops", at: "2027-01-31T09:20:00.000Z" },
      },
    ]),
  "dead.note": (_group: string, text: string | null) => ({
    note: text === null ? null : { text, by: "ci", at: "2027-01-31T12:00:00.000Z" },
  }),
  "operations.create": () => OPERATION,
  "operations.list": () => page([{ ...OPERATION, state: "finished", done: 3, results: { in_place: 3 } }]),
  "operations.get": () => ({ ...OPERATION, state: "finished", done: 3, results: { in_place: 3 } }),
  "operations.run": () => ({ ...OPERATION, state: "finished", done: 3, results: { in_place: 3 } }),
  "operations.stop": () => ({ ...OPERATION, state: "stopping", done: 2 }),
  "operations.rate": (_id: string, rate: number) => ({ ...OPERATION, state: "running", rate }),
  "inbox.list": () => page([INBOX_ROW]),
  "inbox.get": () => ({
    id: INBOX_ROW.id,
    tenant: "default",
    source: "stripe",
    eventId: INBOX_ROW.eventId,
    rows: [INBOX_ROW],
    failures: [
      {
        consumerId: "hnd_billing",
        deliveryId: "dlv_12_7",
        round: 1,
        attempt: 1,
        at: "2027-01-31T11:00:02.000Z",
        outcome: "failed",
        error: "deadlock detected",
        fingerprint: "DatabaseError pay@billing.js:12",
      },
    ],
    deliveries: [DELIVERY],
    refused: [],
  }),
  "inbox.refused": () => page([]),
  "inbox.held": () => page([HELD]),
  "inbox.release": () => ({ id: HELD.id, events: 2, gaps: [{ from: "7", to: "8" }] }),
  "consumers.pause": () => ({
    ...CONSUMER,
    state: "paused",
    because: "the bank is down",
    pausedUntil: "2027-01-31T13:00:00.000Z",
    pausedBy: "ops",
  }),
  "consumers.resume": () => CONSUMER,
  "consumers.remove": () => ({ id: CONSUMER.id, waiting: 2, exact: true }),
  "consumers.list": () => page([CONSUMER]),
  "consumers.retry": () => ({ retried: 2 }),
  status: () => STATUS,
  redrive: () => ({ result: "in_place" }),
  "rejected.list": () => page([REJECTED]),
  "rejected.get": () => REJECTED,
  "rejected.retry": () => ({ events: [{ id: "evt_1", verdict: "stored" }] }),
  "rejected.body": () => Buffer.from("{}"),
  "tokens.list": () => page([TOKEN]),
  "tokens.create": (input: object) => ({
    ...TOKEN,
    ...input,
    token: "phk_shown_once",
  }),
  "tokens.remove": () => undefined,
};
