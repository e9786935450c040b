import type {
  EndpointStanding,
  Need,
  NodeStanding,
  SourceStanding,
  Status,
  StatusCounts,
} from "posthorn/client";
import { INSTANT, MAYBE_INSTANT, MAYBE_NUMBER, MAYBE_TEXT, TEXTS, whole } from "./text.js";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;
const YES = { type: "boolean" } as const;

const COUNTS = whole<StatusCounts>({
  waiting: { ...COUNT, description: "Deliveries that wait or are under way." },
  staged: { ...COUNT, description: "Events that have no places in lanes yet." },
  held: { ...COUNT, description: "Of these, those that wait for others of their key." },
  dead: { ...COUNT, description: "Dead letters that nobody has resolved." },
  haltedLanes: COUNT,
  parkedLanes: COUNT,
  retryingLanes: COUNT,
  blockedDeliveries: { ...COUNT, description: "In halted and parked lanes, the dead heads included." },
  oldestDueMs: { type: "number" },
  oldestUndeliveredMs: { type: "number", description: "The longest of what is due and what is blocked." },
  exact: { ...YES, description: "False where there is more than is counted." },
});

const NEED = whole<Need>({
  kind: {
    type: "string",
    enum: [
      "store_refusing",
      "no_dispatcher",
      "no_worker",
      "lane_halted",
      "lane_parked",
      "endpoint_disabled",
      "endpoint_failing",
      "source_rejecting",
      "source_silent",
      "dead_letters",
      "lane_retrying",
      "key_held",
      "consumer_paused",
      "endpoint_paused",
    ],
  },
  level: {
    type: "string",
    enum: ["bad", "warn", "note"],
    description:
      "`bad`: somebody gets nothing; `warn`: will not, if it goes on; `note`: somebody asked for it.",
  },
  text: TEXT,
  endpointId: MAYBE_TEXT,
  laneId: MAYBE_TEXT,
  key: MAYBE_TEXT,
  source: MAYBE_TEXT,
  count: COUNT,
  sinceMs: MAYBE_NUMBER,
  because: MAYBE_TEXT,
});

const ENDPOINT = whole<EndpointStanding>({
  id: TEXT,
  tenant: TEXT,
  url: TEXT,
  state: {
    type: "string",
    enum: ["active", "failing", "parked", "halted", "paused", "disabled"],
    description: "The worst that is true of it.",
  },
  configured: { type: "string", enum: ["active", "paused", "disabled"] },
  because: MAYBE_TEXT,
  waiting: COUNT,
  haltedLanes: COUNT,
  parkedLanes: COUNT,
  retryingLanes: COUNT,
  oldestMs: MAYBE_NUMBER,
  exact: YES,
  recent: {
    ...whole<EndpointStanding["recent"]>({
      attempts: COUNT,
      delivered: COUNT,
      failed: COUNT,
      dead: COUNT,
      p50Ms: MAYBE_NUMBER,
      p99Ms: MAYBE_NUMBER,
      lagP99Ms: MAYBE_NUMBER,
    }),
    description: "Of the last ten minutes.",
  },
});

const SOURCE = whole<SourceStanding>({
  name: TEXT,
  tenant: TEXT,
  scheme: TEXT,
  state: { type: "string", enum: ["active", "silent", "rejecting", "new"] },
  lastAt: { ...MAYBE_INSTANT, description: "The last minute or hour in which something came." },
  recent: {
    ...whole<SourceStanding["recent"]>({
      in: COUNT,
      stored: COUNT,
      duplicate: COUNT,
      conflict: COUNT,
      rejected: COUNT,
    }),
    description: "Of the last ten minutes.",
  },
});

export const STATUS: object = {
  $id: "Status",
  ...whole<Status>({
    sentence: { ...TEXT, description: "What is wrong, or `Nothing is stuck.`" },
    ok: { ...YES, description: "True where nothing needs a person." },
    at: { ...INSTANT, description: "When it was counted." },
    version: TEXT,
    nodes: {
      type: "array",
      items: whole<NodeStanding>({
        name: TEXT,
        roles: TEXTS,
        version: TEXT,
        startedAt: INSTANT,
        seenAt: INSTANT,
        seenMs: { type: "number" },
      }),
      description: "Seen within the last minute.",
    },
    counts: COUNTS,
    needs: { type: "array", items: NEED, description: "Worst first, at most 50." },
    endpoints: { type: "array", items: ENDPOINT },
    sources: { type: "array", items: SOURCE },
    consumers: {
      type: "array",
      items: { $ref: "Consumer#" },
      description: "Handlers in the processes of hosts.",
    },
  }),
};
