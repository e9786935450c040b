import type { LaneLaw } from "./lane-law.js";
import type { LogRecord, SightingOf, WireEvent } from "../world/run-log.js";
import type { EventPlan } from "../script/script.js";
import type { Report } from "./violation.js";
import type { WireFacts } from "./wire-facts.js";
import { numberOf } from "../world/wire-event.js";

export interface ReceiptLawParts {
  readonly report: Report;
  readonly lanes: LaneLaw;
  readonly wire: WireFacts;
  /** The bytes of an event that somebody may have published by now; undefined where nobody has. */
  readonly timesOf: (number: number) => { readonly deliverAt?: number; readonly expiresAt?: number };
  readonly publishedBody: (number: number) => string | undefined;
}

/** Judges what is on the wire: what is sent, under which lease, and in which order it is first received (I1, I7, I9, I12). */
export class ReceiptLaw {
  readonly #parts: ReceiptLawParts;

  constructor(parts: ReceiptLawParts) {
    this.#parts = parts;
  }

  observe(record: LogRecord): void {
    if (record.kind === "post") this.#post(record, record.at);
    else if (record.kind === "arrival") this.#arrival(record);
  }

  #post(post: SightingOf<"post">, at: number): void {
    const { report, lanes, publishedBody } = this.#parts;
    const number = numberOf(post.body);
    const body = publishedBody(number);
    if (body === undefined) report("I1", `event ${number} was sent, and nobody had published it`);
    else if (body !== post.body)
      report("I12", `event ${number} was published as ${body} and sent as ${post.body}`);
    const view = lanes.laneAt(post.endpoint, post.key, number);
    const { holder } = view ?? {};
    const isHeld = holder?.node === post.node && holder.life === post.life && at <= holder.endsAt;
    if (view === undefined || !isHeld)
      return report("I9", `event ${number} was sent by node ${post.node}, which has no lease on it`);
    this.#postInTime(number, holder.grantedAt);
    this.#postInRun(view, post);
  }

  /** By the database's clock: what had expired when it was leased is not sent, nor what was not to be delivered yet. */
  #postInTime(number: number, grantedAt: number): void {
    const { deliverAt = -Infinity, expiresAt = Infinity } = this.#parts.timesOf(number);
    const { report } = this.#parts;
    if (grantedAt < deliverAt)
      report("I11", `event ${number} was leased ${deliverAt - grantedAt} ms before it was to be delivered`);
    if (grantedAt > expiresAt)
      report("I11", `event ${number} was leased ${grantedAt - expiresAt} ms after it had expired, and sent`);
  }

  /** Of a run, each is sent when the one before was acknowledged. */
  #postInRun(
    { holder, endpoint, name }: NonNullable<ReturnType<LaneLaw["laneAt"]>>,
    post: SightingOf<"post">,
  ): void {
    const { report, wire } = this.#parts;
    const index = holder?.run.findIndex(({ sequence }) => sequence === (post.sequence ?? 0n)) ?? -1;
    if (index < 0)
      return report("I7", `${post.sequence} of ${name} was sent, and is not in the run that was leased`);
    const before = index > 0 ? holder?.run[index - 1] : undefined;
    if (before !== undefined && post.after !== before.sequence) {
      report(
        "I7",
        `${post.sequence} of ${name} was sent as coming after ${post.after}, not ${before.sequence}`,
      );
    }
    if (before === undefined || wire.answerOf(before.event.id, post, endpoint)?.kind === "acknowledged")
      return;
    report("I7", `${post.sequence} of ${name} was sent before ${before.sequence} was acknowledged`);
  }

  #arrival({ endpoint, key, body, sequence }: WireEvent): void {
    const view = this.#parts.lanes.laneAt(endpoint, key, numberOf(body));
    if (view === undefined || sequence === undefined || view.firstReceipts.has(sequence)) return;
    view.firstReceipts.add(sequence);
    // A dead or cancelled event may still arrive late: its lane has gone on.
    if (sequence < view.latestReceipt && !view.passed.has(sequence)) {
      this.#parts.report("I7", `${sequence} of ${view.name} was first received after ${view.latestReceipt}`);
    }
    if (sequence > view.latestReceipt) view.latestReceipt = sequence;
  }
}

/** Whether an endpoint of a run takes events of this type. */
export function takes(types: readonly string[], { type }: Pick<EventPlan, "type">): boolean {
  return types.some((pattern) => pattern === "*" || (pattern === "order.*" && type.startsWith("order.")));
}
