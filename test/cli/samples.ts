import type {
  DeadLetter,
  Delivery,
  Endpoint,
  EventSummary,
  Lane,
  Operation,
  RejectedRequest,
  SetAside,
  Source,
  Status,
  Token,
} from "posthorn/client";

// What docs/cli.md shows, and what tests start from.

export const NOW_MS: number = Date.parse("2027-01-31T12:00:00Z");

export const SOURCE: Source = {
  name: "stripe",
  scheme: "stripe",
  options: {},
  tenant: "default",
  dedup: { by: "id" },
  windowS: 1_209_600,
  key: { json: "/data/object/customer" },
  forwardHeaders: ["x-shop-*"],
  secretCount: 1,
  path: "/in/stripe",
  url: null,
  createdAt: "2027-01-30T09:00:00.000Z",
};

export const ENDPOINT: Endpoint = {
  id: "ep_shop",
  url: "https://shop.example.com/webhooks",
  tenant: "default",
  sources: ["*"],
  types: ["invoice.*"],
  order: "key",
  dead: null,
  maxInFlight: 64,
  retry: { kind: "exponential", firstMs: 1000, factor: 4, capMs: 36_000_000, maxAttempts: 15, jitter: 0.2 },
  state: "active",
  because: null,
  secretCount: 1,
  version: 1,
};

export const EVENT: EventSummary = {
  id: "evt_2ZbGqk",
  tenant: "default",
  source: "stripe",
  type: "invoice.paid",
  key: "cus_9",
  time: "2027-01-31T11:50:00.000Z",
  contentType: "application/json",
  bodyBytes: 1434,
  direction: "out",
  writtenAt: "2026-11-16T00:00:00.000Z",
  providerId: null,
  verifiedBy: null,
  causedBy: null,
  deliverAt: null,
  expiresAt: null,
};

export const DELIVERY: Delivery = {
  id: "dlv_12_7",
  eventId: "evt_2ZbGqk",
  endpointId: "ep_shop",
  tenant: "default",
  type: "invoice.paid",
  laneId: "12",
  key: "cus_9",
  sequence: "7",
  round: 1,
  state: "retrying",
  because: null,
  attempts: 2,
  lastStatus: 503,
  lastError: null,
  lastAttemptAt: "2027-01-31T11:55:00.000Z",
  dueInMs: 192_000,
};

export const LANES: readonly Lane[] = [
  {
    id: "12",
    tenant: "default",
    endpointId: "ep_shop",
    key: "cus_9",
    state: "halted",
    depth: "41",
    head: "7",
    headId: "dlv_12_7",
    failures: 15,
    blockedMs: 7_500_000,
    dueInMs: null,
  },
  {
    id: "31",
    tenant: "default",
    endpointId: "ep_shop",
    key: "cus_4",
    state: "flowing",
    depth: "2",
    head: "118",
    headId: "dlv_31_118",
    failures: 0,
    blockedMs: null,
    dueInMs: 0,
  },
];

export const DEAD: DeadLetter = {
  id: "dlv_12_7",
  laneId: "12",
  tenant: "default",
  endpointId: "ep_shop",
  key: "cus_9",
  sequence: "7",
  eventId: "evt_2ZbGqk",
  type: "invoice.paid",
  round: 1,
  because: "exhausted",
  diedAt: "2027-01-31T10:00:00.000Z",
  attempts: 15,
  lastStatus: 503,
  lastError: null,
  blocks: true,
};

export const SET_ASIDE: SetAside = {
  id: "12",
  tenant: "default",
  eventId: "evt_2ZbGqk",
  type: "invoice.paid",
  error: "refused by a trigger",
  setAsideAt: "2027-01-31T11:58:00.000Z",
};

export const REJECTED: RejectedRequest = {
  id: "rej_7Qm2",
  source: "stripe",
  receivedAt: "2027-01-31T11:58:00.000Z",
  method: "POST",
  headers: { "content-type": "application/json", "user-agent": "Stripe/1.0" },
  bodyBytes: 1434,
  code: "signature_mismatch",
  message:
    "No signature in the request matches any of the 1 given key(s). The body was parsed and written again without spaces.",
  retryable: true,
  diagnosis: ["The body was parsed and written again without spaces."],
};

export const TOKEN: Token = {
  id: "tok_4f",
  name: "ci",
  scope: "full",
  fingerprint: "9f86d081884c",
  createdAt: "2027-01-01T00:00:00.000Z",
  expiresAt: null,
  lastUsedAt: "2027-01-31T11:30:00.000Z",
};

export const OPERATION: Operation = {
  id: "op_1",
  verb: "redrive",
  filter: { dead: { endpoint: "ep_shop" } },
  state: "planned",
  plan: {
    words: "Redrive 3 deliveries of 2 lanes to ep_shop, in order.",
    count: 3,
    more: false,
    lanes: 2,
    waitingBehind: 40,
    endpoints: [{ id: "ep_shop", count: 3, state: "active" }],
    oldest: DEAD,
    newest: DEAD,
    sample: [DEAD],
    next: [
      {
        laneId: "12",
        endpointId: "ep_shop",
        key: "cus_9",
        deliveryId: "dlv_12_7",
        place: "head",
        waiting: 40,
      },
    ],
    warnings: [
      {
        code: "forgotten_ids",
        text: "1 delivery died more than 24 hours ago: the receiver may have forgotten its id, and take what it has for new.",
        count: 1,
      },
    ],
  },
  rate: 100,
  done: 0,
  results: {},
  message: null,
  by: { token: "tok_4f", name: "ci", via: "token" },
  stoppedBy: null,
  note: null,
  node: null,
  plannedAt: "2027-01-31T11:59:00.000Z",
  startedAt: null,
  endedAt: null,
};

export const STATUS: Status = {
  sentence: "1 lane is halted; 40 events wait behind it. Oldest due: 2 h 5 min.",
  ok: false,
  at: "2027-01-31T12:00:00.000Z",
  version: "0.1.0",
  nodes: [
    {
      name: "node-1",
      roles: ["ingest", "dispatch", "api"],
      version: "0.1.0",
      startedAt: "2027-01-31T08:00:00.000Z",
      seenAt: "2027-01-31T11:59:58.000Z",
      seenMs: 2000,
    },
  ],
  counts: {
    waiting: 41,
    staged: 0,
    dead: 1,
    haltedLanes: 1,
    parkedLanes: 0,
    retryingLanes: 0,
    blockedDeliveries: 41,
    oldestDueMs: 0,
    oldestUndeliveredMs: 7_500_000,
    exact: true,
  },
  needs: [
    {
      kind: "lane_halted",
      level: "bad",
      text: "halted: ep_shop · cus_9; 40 events behind it, 2 h 5 min",
      endpointId: "ep_shop",
      laneId: "12",
      key: "cus_9",
      source: null,
      count: 41,
      sinceMs: 7_500_000,
      because: null,
    },
  ],
  endpoints: [
    {
      id: "ep_shop",
      tenant: "default",
      url: "https://shop.example.com/hooks",
      state: "halted",
      configured: "active",
      because: null,
      waiting: 41,
      haltedLanes: 1,
      parkedLanes: 0,
      retryingLanes: 0,
      oldestMs: 7_500_000,
      exact: true,
      recent: { attempts: 12, delivered: 9, failed: 3, dead: 1, p50Ms: 12, p99Ms: 40, lagP99Ms: 84 },
    },
  ],
  sources: [
    {
      name: "stripe",
      tenant: "default",
      scheme: "stripe",
      state: "active",
      lastAt: "2027-01-31T11:59:00.000Z",
      recent: { in: 12, stored: 10, duplicate: 2, conflict: 0, rejected: 0 },
    },
  ],
};
