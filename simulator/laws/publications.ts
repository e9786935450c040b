import { businessRow, PASSED_ON_FROM } from "../world/handler.js";
import type { LogRecord } from "../world/run-log.js";
import type { EventPlan, PublishHow } from "../script/script.js";
import { bodyTextOf } from "../world/wire-event.js";

/** An event of a run, as its publisher knows it. */
export interface PublishedEvent {
  readonly plan: EventPlan;
  readonly how: PublishHow;
  readonly call: number;
  /** The place in the log at which it was begun, and at which its publisher knew that it is committed. */
  readonly begunAt: number;
  /** The same in milliseconds of the run. */
  readonly begunMs: number;
  knownAt: number;
  result: "ok" | "fail" | "unknown";
}

/** What the publishers of a run wrote down. */
export class Publications {
  readonly events: Map<number, PublishedEvent> = new Map();
  readonly #byCall = new Map<number, PublishedEvent[]>();
  readonly #bodies = new Map<number, string | undefined>();

  observe(record: LogRecord, index: number): void {
    if (record.kind === "publish") {
      const { call, how } = record;
      for (const plan of record.events) {
        const event = {
          plan,
          how,
          call,
          begunAt: index,
          begunMs: record.at,
          knownAt: Infinity,
          result: "unknown" as const,
        };
        this.events.set(plan.number, event);
        this.#byCall.set(call, [...(this.#byCall.get(call) ?? []), event]);
      }
    } else if (record.kind === "published") {
      for (const event of this.#byCall.get(record.call) ?? []) {
        event.result = record.result;
        event.knownAt = index;
      }
    }
  }

  /** From when to when an event may be sent, in milliseconds of the run, each at its most lenient. */
  timesOf(number: number): { readonly deliverAt?: number; readonly expiresAt?: number } {
    const { begunMs = 0, plan } = this.events.get(number) ?? {};
    const { deliverAfterMs, expiresAfterMs } = plan ?? {};
    return {
      ...(deliverAfterMs !== undefined && { deliverAt: begunMs + deliverAfterMs - 1 }),
      ...(expiresAfterMs !== undefined && { expiresAt: begunMs + expiresAfterMs + 1 }),
    };
  }

  /** The bytes of an event, as its publisher made them; undefined while nobody has begun to publish it. */
  bodyOf(number: number): string | undefined {
    const known = this.#bodies.get(number) ?? this.#makeBody(number);
    this.#bodies.set(number, known);
    return known;
  }

  #makeBody(number: number): string | undefined {
    if (number < PASSED_ON_FROM) {
      const plan = this.events.get(number)?.plan;
      return plan && bodyTextOf({ type: plan.type, number, key: plan.key, handler: plan.handler });
    }
    const cause = this.events.get(number - PASSED_ON_FROM)?.plan;
    if (cause?.handler !== "passes_on") return undefined;
    return bodyTextOf({ type: "passed.on", number, key: cause.key, handler: "works" });
  }

  /** Whether an event is committed, by the host's own rows; undefined where nobody can know. */
  isCommitted({ plan, how, result }: PublishedEvent, rows: ReadonlyMap<string, number>): boolean | undefined {
    if (how === "commit") return rows.has(businessRow(plan.number));
    if (how === "rollback" || result === "fail") return false;
    return result === "ok" ? true : undefined;
  }
}
