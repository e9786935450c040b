import type { ApplyLimits } from "../../../inbox/worker-store.js";
import type { Claim, ClaimedDelivery } from "../../../lanes/lane-store.js";
import { acknowledged, fittingRun } from "../../../lanes/lane.js";
import { readReceipt } from "../../../receipt.js";
import { bigint, bytes, columns, instant, milliseconds, number, optional, text } from "../client/columns.js";
import type { Answer, Statement } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { headersOf, MAX_RUN_BODY } from "./lane-row.js";
import { raised } from "./run.js";

/** The settlement of a claim by its own transaction. */
export interface RunSettlement {
  /** Of the lease on the lane's next head, if that is taken. */
  readonly epoch: bigint;
  statement(count: number, xid: string | undefined): Statement;
}

export function settleRun(claim: Claim, limits: ApplyLimits, tables: Tables): RunSettlement {
  const epoch = raised(claim);
  const { worker, leaseMs, run, next } = limits;
  return {
    epoch,
    statement: (count, xid) => ({
      text: SETTLE(tables),
      params: [
        claim.kind,
        String(claim.id),
        String(claim.epoch),
        String(claim.run[0].sequence),
        String(count),
        worker,
        xid ?? null,
        next ? String(epoch) : null,
        String(leaseMs),
        String(Math.max(1, run.maxEvents)),
        String(MAX_RUN_BODY),
      ],
      prepared: true,
    }),
  };
}

interface NextValues {
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
      $9::text::float8, $10::text::int4, $11::text::int4
    )`,
);

interface Settled {
  readonly count: number;
  readonly epoch: bigint;
  readonly limits: ApplyLimits;
}

/** The claim that the settlement has leased; undefined where it has leased nothing. */
export function nextClaimOf(
  claim: Claim,
  { count, epoch, limits }: Settled,
  answer: Answer,
): Claim | undefined {
  const { last } = acknowledged(claim.run[0].sequence, count);
  const deliveries: ClaimedDelivery[] = [];
  for (const row of answer.rows) {
    const { sequence, round, expiresInMs, headers, receipt, body, ...event } = NEXT.read(row);
    // A body that was not read ends the run before it, and so does an event that is gone.
    if (body === undefined || sequence !== (last ?? 0n) + 1n + BigInt(deliveries.length)) break;
    const more = { body, headers: headers === undefined ? undefined : headersOf(headers) };
    const known = receipt === undefined ? undefined : readReceipt(receipt);
    deliveries.push({ sequence, round, event: { ...event, ...more, receipt: known }, expiresInMs });
  }
  const sizes = deliveries.map(({ event }) => event.body.length);
  const [first, ...others] = deliveries.slice(0, fittingRun(sizes, limits.run));
  if (first === undefined) return undefined;
  return { ...claim, epoch, after: last, run: [first, ...others], attempts: 0, failures: 0 };
}
