import type { Kind } from "./kinds.js";
import { count, duration } from "./kinds.js";

const SECOND = 1000;
const DAY = 86_400_000;

const window: Kind<number> = duration(SECOND, 36_500 * DAY);

/** Settings of what is removed when it is old. */
export const RETENTION_SETTINGS = [
  {
    name: "retentionEventsMs",
    key: "retention_events",
    kind: window,
    default: "30d",
    doc: [
      "How long events are kept, from their writing on.",
      "An event of which a delivery is open, or a dead letter not resolved, stays. It takes its attempts with it.",
    ],
  },
  {
    name: "retentionAttemptsMs",
    key: "retention_attempts",
    kind: window,
    default: "30d",
    doc: ["How long attempts are kept, from the writing of their event on."],
  },
  {
    name: "retentionAnswersMs",
    key: "retention_answers",
    kind: window,
    default: "30d",
    doc: ["How long the answers of endpoints are kept, from the writing of their event on."],
  },
  {
    name: "retentionCancelledMs",
    key: "retention_cancelled",
    kind: window,
    default: "30d",
    doc: ["How long cancelled deliveries are kept."],
  },
  {
    name: "retentionDeadMs",
    key: "retention_dead",
    kind: window,
    default: "90d",
    doc: ["How long dead letters are kept after they were redriven or skipped; others stay."],
  },
  {
    name: "retentionSetAsideMs",
    key: "retention_set_aside",
    kind: window,
    default: "30d",
    doc: ["How long events that could not be given their places are kept after they were resolved."],
  },
  {
    name: "retentionIdsMs",
    key: "retention_ids",
    kind: window,
    default: "30d",
    doc: ["How long an id that a publisher gave is known; at least as long as its event."],
  },
  {
    name: "retentionRejectedMs",
    key: "retention_rejected",
    kind: window,
    default: "30d",
    doc: ["How long rejected requests are kept."],
  },
  {
    name: "retentionRate",
    key: "retention_rate",
    kind: count(1, 1_000_000),
    default: 10_000,
    doc: ["Rows that are removed in a second, at most. Removal rests at least as long as it works."],
  },
] as const;
