import type { ApplyLimits } from "../../../inbox/worker/worker-store.js";
import type { Claim, ClaimedDelivery, RunLimits } from "../../../lanes/lane-store.js";
import { fittingRun } from "../../../lanes/lane.js";
import { readReceipt } from "../../../receipt.js";
import { bigint, bytes, columns, instant, milliseconds, number, optional, text } from "../client/columns.js";
import type { Answer, Statement } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { headersOf, MAX_RUN_BODY } from "./lane-row.js";
import { raise } from "./run.js";

/** The settlement of a claim by its own transaction. */
export function settleRun(
  claim: Claim,
  { worker, leaseMs, run, next, other }: ApplyLimits,
  tables: Tables,
): (count: number, xid: string | undefined) => Statement {
  return (count, xid) => ({
    text: SETTLE(tables),
    params: [
      claim.kind,
      String(claim.id),
      String(claim.epoch),
      String(claim.run[0].sequence),
      String(count),
      worker,
      xid ?? null,
      next ? String(raise()) : null,
      String(other === true),
      String(leaseMs),
      String(Math.max(1, run.maxEvents)),
      String(MAX_RUN_BODY),
    ],
    prepared: true,
  });
}

interface NextValues {
  readonly laneId: bigint;
  /** Of another lane than the claim's own. */
  readonly generation: bigint | undefined;
  readonly key: string | undefined;
  readonly epoch: bigint;
  readonly head: bigint;
  readonly last: bigint | undefined;
  readonly sequence: bigint;
  readonly round: number;
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  readonly contentType: string;
  readonly time: Date;
  readonly expiresInMs: number | undefined;
  readonly headers: string | undefined;
  readonly receipt: string | undefined;
  readonly body: Uint8Array | undefined;
}

const NEXT = columns<NextValues>({
  laneId: bigint("lane_id"),
  generation: optional(bigint("generation")),
  key: optional(text("key")),
  epoch: bigint("epoch"),
  head: bigint("head_seq"),
  last: optional(bigint("last_seq")),
  sequence: bigint("seq"),
  round: number("round"),
  id: text("public_id"),
  tenant: text("tenant"),
  source: text("source"),
  type: text("type"),
  contentType: text("content_type"),
  time: instant("event_at"),
  expiresInMs: optional(milliseconds("expires_at - clock_timestamp()")),
  headers: optional(text("headers")),
  receipt: optional(text("receipt")),
  body: optional(bytes("body")),
});

const SETTLE = sqlFor(
  ({ settle }) => `
    select ${NEXT.list} from ${settle}(
      $1::text, $2::text::int8, $3::text::int8, $4::text::int8, $5::text::int4, $6::text, $7::text, $8::text::int8,
      $9::text::bool, $10::text::float8, $11::text::int4, $12::text::int4
    )`,
);

/** The claim that the settlement has leased; undefined where it has leased nothing. */
export function nextClaimOf(claim: Claim, run: RunLimits, { rows }: Answer): Claim | undefined {
  const deliveries: ClaimedDelivery[] = [];
  let lane: LeasedLane | undefined;
  for (const row of rows) {
    const { laneId, generation, key, epoch, head, last, ...values } = NEXT.read(row);
    const { sequence, round, expiresInMs, headers, receipt, body, ...event } = values;
    // A body that was not read ends the run before it, and so does an event that is gone.
    if (body === undefined || sequence !== head + BigInt(deliveries.length)) break;
    const more = { body, headers: headers === undefined ? undefined : headersOf(headers) };
    const known = receipt === undefined ? undefined : readReceipt(receipt);
    deliveries.push({ sequence, round, event: { ...event, ...more, receipt: known }, expiresInMs });
    const named = generation === undefined || key === undefined ? claim.lane : { generation, key };
    lane ??= { id: laneId, lane: named, epoch, after: last };
  }
  const sizes = deliveries.map(({ event }) => event.body.length);
  const [first, ...others] = deliveries.slice(0, fittingRun(sizes, run));
  if (first === undefined || lane === undefined) return undefined;
  return { ...claim, ...lane, run: [first, ...others], attempts: 0, failures: 0 };
}

type LeasedLane = Pick<Claim, "id" | "lane" | "epoch" | "after">;
